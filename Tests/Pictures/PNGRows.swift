extension PNGMaker {
    /// A pass of Adam7: where it begins and how far its pixels are apart.
    private struct Pass {
        let x: Int
        let y: Int
        let stepX: Int
        let stepY: Int
    }

    private static let whole = [Pass(x: 0, y: 0, stepX: 1, stepY: 1)]

    private static let adam7 = [
        Pass(x: 0, y: 0, stepX: 8, stepY: 8), Pass(x: 4, y: 0, stepX: 8, stepY: 8),
        Pass(x: 0, y: 4, stepX: 4, stepY: 8), Pass(x: 2, y: 0, stepX: 4, stepY: 4),
        Pass(x: 0, y: 2, stepX: 2, stepY: 4), Pass(x: 1, y: 0, stepX: 2, stepY: 2),
        Pass(x: 0, y: 1, stepX: 1, stepY: 2),
    ]

    /// The rows as they go into the compressor, each led by its filter's number; those of an
    /// interlaced picture pass by pass.
    package func filteredRows() -> [UInt8] {
        var result: [UInt8] = []
        for pass in interlaced ? Self.adam7 : Self.whole where pass.x < width && pass.y < height {
            var above: [UInt8] = []
            for (index, y) in stride(from: pass.y, to: height, by: pass.stepY).enumerated() {
                let row = packedRow(y: y, pass: pass)
                if index == 0 { above = [UInt8](repeating: 0, count: row.count) }
                let type = rowFilter.type(row: index)
                result.append(type)
                appendFiltered(row, above: above, type: type, to: &result)
                above = row
            }
        }
        return result
    }

    /// The samples of a row that belong to a pass, packed into bytes, the first in the upper bits.
    private func packedRow(y: Int, pass: Pass) -> [UInt8] {
        let channels = colourType.channels
        var row: [UInt8] = []
        var pending = 0
        var pendingBits = 0
        for x in stride(from: pass.x, to: width, by: pass.stepX) {
            let start = (y * width + x) * channels
            for sample in start..<start + channels {
                pending = pending << depth | Int(samples[sample])
                pendingBits += depth
                while pendingBits >= 8 {
                    pendingBits -= 8
                    row.append(UInt8(truncatingIfNeeded: pending >> pendingBits))
                }
                pending &= 1 << pendingBits - 1
            }
        }
        if pendingBits > 0 { row.append(UInt8(pending << (8 - pendingBits))) }
        return row
    }

    /// PNG specification, section 9.
    private func appendFiltered(
        _ row: [UInt8], above: [UInt8], type: UInt8, to result: inout [UInt8]
    ) {
        let step = max(1, colourType.channels * depth / 8)
        for index in row.indices {
            let left = index >= step ? row[index - step] : 0
            let corner = index >= step ? above[index - step] : 0
            result.append(
                row[index]
                    &- PNGPrediction.value(
                        type: type, left: left, above: above[index], corner: corner))
        }
    }
}

/// What PNG's row filters subtract.
package enum PNGPrediction {
    package static func value(type: UInt8, left: UInt8, above: UInt8, corner: UInt8) -> UInt8 {
        switch type {
        case 1: left
        case 2: above
        case 3: UInt8((Int(left) + Int(above)) / 2)
        case 4: paeth(Int(left), Int(above), Int(corner))
        default: 0
        }
    }

    private static func paeth(_ left: Int, _ above: Int, _ corner: Int) -> UInt8 {
        let estimate = left + above - corner
        let distances = (abs(estimate - left), abs(estimate - above), abs(estimate - corner))
        if distances.0 <= distances.1, distances.0 <= distances.2 { return UInt8(left) }
        return UInt8(distances.1 <= distances.2 ? above : corner)
    }
}
