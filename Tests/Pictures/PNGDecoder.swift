import DarkroomPicture

/// A PNG decoder of the tests' own for what the daemon writes: 8 and 16 bits, and palettes, not
/// interlaced. It shares no code with libpng or zlib and lets nothing pass that is out of order.
package enum PNGDecoder {
    package enum Problem: Error {
        case notInOrder, unexpectedKind, wrongLength
    }

    /// The pixels of `file`, with samples from 0 to 2^depth − 1.
    package static func decode(_ file: [UInt8]) throws -> ReferencePicture {
        guard let chunks = PNGChunk.all(in: file), let header = chunks.first,
            header.type == "IHDR", header.data.count == 13
        else { throw Problem.notInOrder }
        let stream = chunks.filter { $0.type == "IDAT" }.flatMap(\.data)
        var rows = try Inflater.zlib(stream)
        if header.data[9] == 3 { return try colours(of: chunks, header.data, &rows) }
        let layout = try layout(of: header.data)
        guard rows.count == (layout.bytesPerRow + 1) * layout.height else {
            throw Problem.wrongLength
        }
        let bytes = unfilter(&rows, layout)
        let samples: [UInt16] =
            layout.depth == 8
            ? bytes.map { UInt16($0) }
            : stride(from: 0, to: bytes.count, by: 2).map {
                UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
            }
        return ReferencePicture(layout: layout, samples: samples)
    }

    /// The pixels of a picture with a palette.
    private static func colours(
        of chunks: [PNGChunk], _ header: [UInt8], _ rows: inout [UInt8]
    ) throws -> ReferencePicture {
        let bits = Int(header[8])
        guard [1, 2, 4, 8].contains(bits), header[10...12].allSatisfy({ $0 == 0 }),
            let palette = chunks.first(where: { $0.type == "PLTE" })?.data,
            palette.count % 3 == 0, (1...1 << bits).contains(palette.count / 3)
        else { throw Problem.unexpectedKind }
        let alphas = chunks.first { $0.type == "tRNS" }?.data
        guard alphas?.count ?? 0 <= palette.count / 3 else { throw Problem.unexpectedKind }
        let (width, height) = (Int(header.bigEndian(at: 0)), Int(header.bigEndian(at: 4)))
        let packed = PixelLayout(
            width: (width * bits + 7) / 8, height: height, channels: 1, depth: 8)
        guard rows.count == (packed.width + 1) * height else { throw Problem.wrongLength }
        let bytes = unfilter(&rows, packed)
        var samples: [UInt16] = []
        for row in 0..<height {
            for column in 0..<width {
                let bit = column * bits
                let byte = Int(bytes[row * packed.width + bit / 8])
                let index = byte >> (8 - bits - bit % 8) & (1 << bits - 1)
                guard index < palette.count / 3 else { throw Problem.unexpectedKind }
                samples += palette[(3 * index)..<(3 * index + 3)].map { UInt16($0) }
                if let alphas { samples.append(index < alphas.count ? UInt16(alphas[index]) : 255) }
            }
        }
        let layout = PixelLayout(
            width: width, height: height, channels: alphas == nil ? 3 : 4, depth: 8)
        return ReferencePicture(layout: layout, samples: samples)
    }

    private static func layout(of header: [UInt8]) throws -> PixelLayout {
        let channels: [UInt8: Int] = [0: 1, 4: 2, 2: 3, 6: 4]
        guard let count = channels[header[9]], header[8] == 8 || header[8] == 16,
            header[10...12].allSatisfy({ $0 == 0 })
        else { throw Problem.unexpectedKind }
        return PixelLayout(
            width: Int(header.bigEndian(at: 0)), height: Int(header.bigEndian(at: 4)),
            channels: count, depth: Int(header[8]))
    }

    /// Undoes the row filters in place; returns the rows without their filters' numbers.
    private static func unfilter(_ rows: inout [UInt8], _ layout: PixelLayout) -> [UInt8] {
        let step = layout.bytesPerPixel
        let stride = layout.bytesPerRow + 1
        var result: [UInt8] = []
        result.reserveCapacity(layout.bytesPerRow * layout.height)
        rows.withUnsafeMutableBufferPointer { rows in
            for row in 0..<layout.height {
                let start = row * stride + 1
                let type = rows[start - 1]
                for index in start..<start + layout.bytesPerRow {
                    let hasLeft = index - step >= start
                    rows[index] &+= PNGPrediction.value(
                        type: type, left: hasLeft ? rows[index - step] : 0,
                        above: row > 0 ? rows[index - stride] : 0,
                        corner: hasLeft && row > 0 ? rows[index - step - stride] : 0)
                }
                result += rows[start..<start + layout.bytesPerRow]
            }
        }
        return result
    }
}
