import CDarkroomPixels
import TestPictures
import Testing

/// Undoing row filters, held against what the specification of PNG says (chapter 9.2), with each instruction set. What
/// the rows of a group have in common decides how they are processed.
@Suite(.serialized) struct UnfilterTests {
    /// The filters of consecutive rows, repeatedly.
    enum Filters: CaseIterable {
        case all, withoutPaeth, onlyAverage, onlyPaeth, onePaeth

        subscript(row: Int) -> UInt8 {
            switch self {
            case .all: UInt8(row * 7 % 5)
            case .withoutPaeth: UInt8(row * 3 % 4)
            case .onlyAverage: 3
            case .onlyPaeth: 4
            case .onePaeth: row == 9 ? 4 : 3
            }
        }
    }

    static func undone(
        _ filtered: [UInt8], rowBytes: Int, pixelBytes: Int, above first: [UInt8]
    ) -> [UInt8] {
        var above = first
        var result: [UInt8] = []
        for start in stride(from: 0, to: filtered.count, by: rowBytes + 1) {
            var row: [UInt8] = []
            for index in 0..<rowBytes {
                let hasLeft = index >= pixelBytes
                let prediction = PNGPrediction.value(
                    type: filtered[start], left: hasLeft ? row[index - pixelBytes] : 0,
                    above: above[index], corner: hasLeft ? above[index - pixelBytes] : 0)
                row.append(filtered[start + 1 + index] &+ prediction)
            }
            result += row
            above = row
        }
        return result
    }

    @Test(arguments: [1, 2, 3, 4, 6, 8], Filters.allCases)
    func bothPathsUndoAsTheSpecificationSays(pixelBytes: Int, filters: Filters) {
        defer { darkroom_cpu_limit(DARKROOM_CPU_AVX512) }
        for (pixels, rows) in [(1, 1), (2, 9), (7, 8), (16, 17), (33, 16), (61, 13)] {
            let rowBytes = pixels * pixelBytes
            var random = SplitMix64(seed: UInt64(pixels))
            // Extremes, between which predictions overflow, are frequent.
            let noise = (0..<(rowBytes + 1) * rows + rowBytes).map { _ in
                let bits = random.next()
                return bits % 3 == 0
                    ? [0, 255, 127, 128][Int(bits >> 8 & 3)] : UInt8(truncatingIfNeeded: bits >> 16)
            }
            let above = Array(noise.suffix(rowBytes))
            var filtered = Array(noise.dropLast(rowBytes))
            for row in 0..<rows { filtered[row * (rowBytes + 1)] = filters[row] }
            let expected = Self.undone(
                filtered, rowBytes: rowBytes, pixelBytes: pixelBytes, above: above)
            for level in [DARKROOM_CPU_SCALAR, DARKROOM_CPU_AVX2] {
                darkroom_cpu_limit(level)
                var out = [UInt8](repeating: 7, count: expected.count)
                let done = darkroom_unfilter(
                    filtered, rows, rowBytes, Int32(pixelBytes), 0, above, &out)
                #expect(done == rows)
                #expect(out == expected, "\(pixels) × \(rows), level \(level)")
            }
        }
    }
}
