/// The options for writing an image's result: a manifest's `output`.
package struct OutputOptions: Sendable, Equatable {
    package var format: OutputFormat
    /// For JPEG: 1 to 100, on the scale of the Independent JPEG Group.
    package var quality: Int
    /// For JPEG: whether it has several scans, from coarse to fine.
    package var progressive: Bool
    /// For PNG.
    package var compression: PNGWriter.Compression
    /// Whether the source's Exif is kept.
    package var keepsExif: Bool

    package init(
        format: OutputFormat = .png, quality: Int = 85, progressive: Bool = false,
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
