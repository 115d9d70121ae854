/// The formats of results. New versions may have further ones.
@nonexhaustive public enum PictureFormat: String, Codable, Sendable, CaseIterable {
    /// 8 or 16 bits a sample, gray or RGB, with or without alpha.
    case png
    /// 8 bits a sample, gray or RGB.
    case jpeg

    /// Whether a file of it holds the filtered pixels as they are, with alpha and depth, so that other images can
    /// be made of it. Of any other the pixels are handed over besides, see `HandOver`.
    package var isLossless: Bool {
        switch self {
        case .png: true
        case .jpeg: false
        }
    }

    /// Whether a file of it has an alpha channel. Where it has none, pictures are laid over white.
    package var hasAlpha: Bool {
        switch self {
        case .png: true
        case .jpeg: false
        }
    }

    /// The most bits of a sample.
    package var mostDepth: Int {
        switch self {
        case .png: 16
        case .jpeg: 8
        }
    }

    /// What the names of such files end in, in lower case; the first is given to those that have none.
    package var endings: [String] {
        switch self {
        case .png: [".png"]
        case .jpeg: [".jpg", ".jpeg"]
        }
    }
}
