import CDarkroomCodecWire

/// The rows of a picture as a codec program says them, checked.
struct CodecRows {
    let width: Int
    let height: Int
    /// With alpha.
    let channels: Int
    let depth: Int
    let isCMYK: Bool
    /// Whether the sides can be divided by 2, 4 or 8.
    let reduces: Bool

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
        reduces = header.reduces == 1 && !isCMYK
    }

    var bytesPerRow: Int { width * channels * depth / 8 }

    /// The layout of the pipeline's rows: RGB instead of CMYK.
    var layout: PixelLayout {
        PixelLayout(
            width: width, height: height, channels: isCMYK ? channels - 1 : channels, depth: depth)
    }
}
