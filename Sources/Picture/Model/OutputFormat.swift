/// The formats of results. New versions may have more of them.
@nonexhaustive public enum OutputFormat: String, Codable, Sendable, CaseIterable {
    /// 8 or 16 bits per sample, gray or RGB, with or without alpha.
    case png
    /// 8 bits per sample, gray or RGB.
    case jpeg

    /// Whether a file contains the exact filtered pixels, with alpha and depth, so that other images can be made from
    /// it. For other formats the pixels are handed over in addition, see `HandOverFile`.
    package var isLossless: Bool {
        switch self {
        case .png: true
        case .jpeg: false
        }
    }

    /// Whether a file has an alpha channel. If not, pictures are laid over white.
    package var hasAlpha: Bool {
        switch self {
        case .png: true
        case .jpeg: false
        }
    }

    /// The maximum number of bits per sample.
    package var mostDepth: Int {
        switch self {
        case .png: 16
        case .jpeg: 8
        }
    }

    /// The endings of such files' names, in lower case. The first one is added to names without an ending.
    package var endings: [String] {
        switch self {
        case .png: [".png"]
        case .jpeg: [".jpg", ".jpeg"]
        }
    }
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
