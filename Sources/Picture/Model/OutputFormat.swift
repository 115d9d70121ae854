/// The formats of results. New versions may have more of them.
///
/// PNG and JPEG are always written. The others need a program of their own, see `PictureError.Code.codecMissing`.
@nonexhaustive public enum OutputFormat: String, Codable, Sendable, CaseIterable {
    /// 8 or 16 bits per sample, gray or RGB, with or without alpha.
    case png
    /// 8 bits per sample, gray or RGB.
    case jpeg
    /// 8 bits per sample, RGB with or without alpha. A side has at most 16,383 pixels.
    case webp
    /// 8, 10 or 12 bits per sample, gray or RGB, RGB with alpha. A side has at most 65,536 pixels.
    case avif
    /// 8 or 16 bits per sample, gray or RGB, with or without alpha. A camera's metadata is not kept.
    case tiff
    /// 8 or 16 bits per sample, gray or RGB, with or without alpha.
    case jpegXL = "jxl"
}

extension OutputFormat {
    /// Other words for formats, which manifests and options may have.
    package static let aliases: [String: OutputFormat] = ["jpg": .jpeg, "tif": .tiff]

    /// The format that a word in lower case means.
    package init?(word: String) {
        guard let format = OutputFormat(rawValue: word) ?? Self.aliases[word] else { return nil }
        self = format
    }

    /// In sentences: `JPEG XL`.
    package var title: String {
        switch self {
        case .webp: "WebP"
        case .jpegXL: "JPEG XL"
        case .png, .jpeg, .avif, .tiff: rawValue.uppercased()
        }
    }

    /// The kind of pictures that this word means, if none are written of it; nil for any other word.
    package static func unwritten(_ word: String) -> String? {
        switch word.lowercased() {
        case "gif": "GIF"
        case "bmp": "BMP"
        case "heic", "heif": "HEIC"
        case "jp2": "JPEG 2000"
        case "svg": "SVG"
        case "pdf": "PDF"
        default: nil
        }
    }
}
