/// The formats of results.
package enum PictureFormat: String, Codable, Sendable, CaseIterable {
    case png, jpeg

    /// Whether a file of it holds the filtered pixels as they are, with alpha and depth, so that other images can
    /// be made of it. Of any other the pixels are handed over besides, see `HandOver`.
    package var isLossless: Bool {
        switch self {
        case .png: true
        case .jpeg: false
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
