/// How an image's result is written: a manifest's `output`.
public struct OutputOptions: Sendable, Equatable {
    public var format: PictureFormat
    /// Of a JPEG: 1 to 100, by the scale of the Independent JPEG Group.
    public var quality: Int
    /// Of a JPEG: whether it is built up in scans, from coarse to fine.
    public var progressive: Bool
    /// Of a PNG.
    public var compression: PNGCompression
    /// Whether the source's Exif is kept.
    public var keepsExif: Bool

    public init(
        format: PictureFormat = .png, quality: Int = 85, progressive: Bool = false,
        compression: PNGCompression = .balanced, keepsExif: Bool = false
    ) {
        self.format = format
        self.quality = quality
        self.progressive = progressive
        self.compression = compression
        self.keepsExif = keepsExif
    }

    public static let qualities = 1...100
}
