/// How an image's result is written: a manifest's `output`.
package struct OutputOptions: Sendable, Equatable {
    package var format: PictureFormat
    /// Of a JPEG: 1 to 100, by the scale of the Independent JPEG Group.
    package var quality: Int
    /// Of a JPEG: whether it is built up in scans, from coarse to fine.
    package var progressive: Bool
    /// Of a PNG.
    package var compression: PNGWriter.Compression
    /// Whether the source's Exif is kept.
    package var keepsExif: Bool

    package init(
        format: PictureFormat = .png, quality: Int = 85, progressive: Bool = false,
        compression: PNGWriter.Compression = .balanced, keepsExif: Bool = false
    ) {
        self.format = format
        self.quality = quality
        self.progressive = progressive
        self.compression = compression
        self.keepsExif = keepsExif
    }

    package static let qualities = 1...100
}

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
