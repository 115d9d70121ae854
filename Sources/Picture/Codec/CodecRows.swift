import CDarkroomCodecWire

/// The rows of a picture as a codec program says them, checked.
struct CodecRows {
    let width: Int
    let height: Int
    /// With alpha.
    let channels: Int
    let depth: Int
    let isCMYK: Bool

    /// nil if the header makes no sense.
    init?(_ header: darkroom_codec_header) {
        let colours = [DARKROOM_CODEC_GRAY, DARKROOM_CODEC_RGB, DARKROOM_CODEC_CMYK]
        guard colours.contains(where: { $0.rawValue == header.colour }),
            (header.colour...header.colour + 1).contains(header.channels),
            header.depth == 8 || header.depth == 16, (1...16).contains(header.source_depth),
            (1...UInt32(Int32.max)).contains(header.width),
            (1...UInt32(Int32.max)).contains(header.height), header.orientation <= 8
        else { return nil }
        width = Int(header.width)
        height = Int(header.height)
        channels = Int(header.channels)
        depth = Int(header.depth)
        isCMYK = header.colour == DARKROOM_CODEC_CMYK.rawValue
    }

    var bytesPerRow: Int { width * channels * depth / 8 }

    /// The layout of the pipeline's rows: RGB instead of CMYK.
    var layout: PixelLayout {
        PixelLayout(
            width: width, height: height, channels: isCMYK ? channels - 1 : channels, depth: depth)
    }
}

/// Converts rows of CMYK to RGB, without a profile: a colour's light passes its ink and black, so red is
/// (1 − cyan) · (1 − black), rounded to the next level. Alpha stays.
final class Inks {
    let bytesPerRow: Int
    private let rows: CodecRows
    private let buffer: FilterBuffer<UInt8>

    init(_ rows: CodecRows) throws(PictureError) {
        self.rows = rows
        bytesPerRow = rows.bytesPerRow
        // A slot has at most this many rows.
        let most = Int(DARKROOM_CODEC_BAND) / rows.bytesPerRow + 1
        buffer = try FilterBuffer(count: min(most, rows.height) * rows.layout.bytesPerRow)
    }

    /// - Returns: the converted rows, until the next call.
    func converted(_ stored: UnsafeMutableRawBufferPointer, rows count: Int)
        -> UnsafeMutableRawPointer?
    {
        guard count * rows.layout.bytesPerRow <= buffer.count else { return nil }
        let target = UnsafeMutableRawPointer(buffer.start)
        if rows.depth == 8 {
            convert(stored.bindMemory(to: UInt8.self), target, count, as: UInt8.self)
        } else {
            convert(stored.bindMemory(to: UInt16.self), target, count, as: UInt16.self)
        }
        return target
    }

    private func convert<Sample: FixedWidthInteger & UnsignedInteger>(
        _ stored: UnsafeMutableBufferPointer<Sample>, _ target: UnsafeMutableRawPointer,
        _ count: Int, as: Sample.Type
    ) {
        let most = UInt64(Sample.max)
        let target = target.assumingMemoryBound(to: Sample.self)
        let (from, to) = (rows.channels, rows.layout.channels)
        for pixel in 0..<count * rows.width {
            let black = most - UInt64(stored[pixel * from + 3])
            for colour in 0..<3 {
                let light = most - UInt64(stored[pixel * from + colour])
                target[pixel * to + colour] = Sample((light * black + most / 2) / most)
            }
            if to == 4 { target[pixel * to + 3] = stored[pixel * from + 4] }
        }
    }
}
