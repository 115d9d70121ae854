/// The kinds of pictures that codec programs read.
///
/// `all` is the only table of them. A new kind is a row here, and a program.
struct CodecFormat: Sendable {
    let kind: InputFormat
    /// In lists: `WebP`.
    let name: String
    let mediaType: String
    let endings: [String]
    let program: CodecProgram
    /// Whether a file may have several pages.
    var hasPages = false
    /// See `PictureDecoder.nearest`.
    var nearest: [OutputFormat] = []

    static let all: [CodecFormat] = [
        CodecFormat(
            kind: .webp, name: "WebP", mediaType: "image/webp", endings: [".webp"],
            program: webp),
        CodecFormat(
            kind: .avif, name: "AVIF", mediaType: "image/avif", endings: [".avif"],
            program: heif),
        CodecFormat(
            kind: .heic, name: "HEIC", mediaType: "image/heic",
            endings: [".heic", ".heif", ".hif"],
            program: heif, nearest: [.avif, .jpeg]),
        CodecFormat(
            kind: .tiff, name: "TIFF", mediaType: "image/tiff", endings: [".tif", ".tiff"],
            program: tiff, hasPages: true),
        CodecFormat(
            kind: .gif, name: "GIF", mediaType: "image/gif", endings: [".gif"],
            program: gif, nearest: [.png, .webp]),
        CodecFormat(
            kind: .bmp, name: "BMP", mediaType: "image/bmp", endings: [".bmp", ".dib"],
            program: bmp, nearest: [.png]),
        CodecFormat(
            kind: .jpegXL, name: "JPEG XL", mediaType: "image/jxl", endings: [".jxl"],
            program: jxl),
    ]

    /// Its row in the table of decoders.
    var decoder: PictureDecoder {
        PictureDecoder(
            kind: kind, name: name, mediaType: mediaType, endings: endings,
            heldWord: nil, program: program, hasPages: hasPages, nearest: nearest,
            open: { input throws(PictureError) in try CodecReader(input, self) },
            needs: { layout, _ in CodecReader.needs(layout) },
            mostNeeds: { limits in
                CodecReader.needs(
                    PixelLayout(width: limits.side, height: 1, channels: 4, depth: 16))
            })
    }

    static let webp = CodecProgram("webp")
    static let heif = CodecProgram("heif")
    static let tiff = CodecProgram("tiff")
    static let gif = CodecProgram("gif")
    static let bmp = CodecProgram("bmp")
    static let jxl = CodecProgram("jxl")
}
