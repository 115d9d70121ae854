/// The kinds of pictures that codec programs read.
///
/// `all` is the only table of them. A new kind is a row here, and a program.
enum CodecFormat {
    static let all: [PictureDecoder] = [
        decoder(.webp, "WebP", "image/webp", [".webp"], webp),
        decoder(.avif, "AVIF", "image/avif", [".avif"], heif),
        decoder(
            .heic, "HEIC", "image/heic", [".heic", ".heif", ".hif"], heif, nearest: [.avif, .jpeg]),
        decoder(.tiff, "TIFF", "image/tiff", [".tif", ".tiff"], tiff, hasPages: true),
        decoder(.gif, "GIF", "image/gif", [".gif"], gif, nearest: [.png, .webp]),
        decoder(.bmp, "BMP", "image/bmp", [".bmp", ".dib"], bmp, nearest: [.png]),
        decoder(.jpegXL, "JPEG XL", "image/jxl", [".jxl"], jxl),
    ]

    private static func decoder(
        _ kind: InputFormat, _ name: String, _ mediaType: String, _ endings: [String],
        _ program: CodecProgram, hasPages: Bool = false, nearest: [OutputFormat] = []
    ) -> PictureDecoder {
        PictureDecoder(
            kind: kind, name: name, mediaType: mediaType, endings: endings,
            heldWord: nil, program: program, hasPages: hasPages, nearest: nearest,
            open: { input throws(PictureError) in try CodecReader(input, kind, by: program) },
            needs: { layout, _ in CodecReader.needs(layout) })
    }

    static let webp = CodecProgram("webp")
    static let heif = CodecProgram("heif")
    static let tiff = CodecProgram("tiff")
    static let gif = CodecProgram("gif")
    static let bmp = CodecProgram("bmp")
    static let jxl = CodecProgram("jxl")
}
