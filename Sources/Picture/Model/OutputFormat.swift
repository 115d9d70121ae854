/// The formats of results. New versions may have more of them.
@nonexhaustive public enum OutputFormat: String, Codable, Sendable, CaseIterable {
    /// 8 or 16 bits per sample, gray or RGB, with or without alpha.
    case png
    /// 8 bits per sample, gray or RGB.
    case jpeg
}

extension OutputFormat {
    /// The kind of pictures that this word means, if none are written of it; nil for any other word.
    package static func unwritten(_ word: String) -> String? {
        switch word.lowercased() {
        case "webp": "WebP"
        case "gif": "GIF"
        case "tif", "tiff": "TIFF"
        case "bmp": "BMP"
        case "avif": "AVIF"
        case "heic", "heif": "HEIC"
        case "jxl": "JPEG XL"
        case "jp2": "JPEG 2000"
        case "svg": "SVG"
        case "pdf": "PDF"
        default: nil
        }
    }
}
