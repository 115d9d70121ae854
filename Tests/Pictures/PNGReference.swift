import DarkroomPicture

/// Pixels as the pipeline hands them on, in plain arrays.
package struct ReferencePicture: Sendable, Equatable {
    package var layout: PixelLayout
    /// Samples interleaved, row by row, from 0 to 2^depth − 1.
    package var samples: [UInt16]

    package init(layout: PixelLayout, samples: [UInt16]) {
        self.layout = layout
        self.samples = samples
    }

    /// The bytes of all rows as a stage lends them.
    package var bytes: [UInt8] {
        layout.depth == 8
            ? samples.map { UInt8($0) } : samples.withUnsafeBytes { Array($0) }
    }

    /// From such bytes.
    package init(layout: PixelLayout, bytes: [UInt8]) {
        self.layout = layout
        samples =
            layout.depth == 8
            ? bytes.map { UInt16($0) }
            : bytes.withUnsafeBytes { bytes in
                stride(from: 0, to: bytes.count, by: 2).map {
                    bytes.loadUnaligned(fromByteOffset: $0, as: UInt16.self)
                }
            }
    }
}

extension PNGMaker {
    /// What a reader must make of the file: palettes looked up, low depths scaled to 8 bits,
    /// transparency turned into alpha.
    package var reference: ReferencePicture {
        let outDepth = depth == 16 ? 16 : 8
        let full = UInt16(truncatingIfNeeded: 1 << outDepth - 1)
        let channels = outputChannels
        var result: [UInt16] = []
        result.reserveCapacity(width * height * channels)
        for pixel in 0..<width * height {
            let start = pixel * colourType.channels
            let raw = Array(samples[start..<start + colourType.channels])
            if colourType == .palette {
                let index = Int(raw[0])
                result += palette[index].map { UInt16($0) }
                if let transparency {
                    result.append(index < transparency.count ? UInt16(transparency[index]) : 255)
                }
            } else {
                result += raw.map { scaled($0, full: full) }
                if let key { result.append(raw == key ? 0 : full) }
            }
        }
        return ReferencePicture(
            layout: PixelLayout(width: width, height: height, channels: channels, depth: outDepth),
            samples: result)
    }

    private var outputChannels: Int {
        let colour = colourType == .palette ? 3 : colourType.channels
        return transparency == nil ? colour : colour + 1
    }

    /// The colour that tRNS makes transparent, of which only the lowest `depth` bits count.
    private var key: [UInt16]? {
        guard let transparency, colourType == .gray || colourType == .rgb else { return nil }
        let mask = UInt16(truncatingIfNeeded: 1 << depth - 1)
        return stride(from: 0, to: transparency.count, by: 2).map {
            (UInt16(transparency[$0]) << 8 | UInt16(transparency[$0 + 1])) & mask
        }
    }

    /// Linear scaling to full range: 1, 2 and 4 bits to 8; 8 and 16 as they are.
    private func scaled(_ sample: UInt16, full: UInt16) -> UInt16 {
        depth < 8 ? sample * (full / (1 << depth - 1)) : sample
    }
}
