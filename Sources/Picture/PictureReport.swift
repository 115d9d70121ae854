/// What has been written of a picture.
public struct PictureReport: Sendable, Equatable {
    /// Of the file.
    public internal(set) var format: PictureFormat
    /// In pixels.
    public internal(set) var width: Int
    /// In pixels.
    public internal(set) var height: Int
    /// 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha.
    public internal(set) var channels: Int
    /// Bits of a sample, 8 or 16.
    public internal(set) var depth: Int
    /// Of the file.
    public internal(set) var bytes: Int
    /// Of the file, hexadecimal.
    public internal(set) var sha256: String
    /// What was remarked on the source, and on what was laid over it, and let pass.
    public internal(set) var warnings: [String]
    /// What became of the source's chunks or segments that are not plain pixels, by their names: `kept`,
    /// `converted` or `dropped`. So are alpha, depth and orientation listed where they are lost.
    public internal(set) var metadata: [String: String]

    /// - Parameter layout: of the rows that were written; the format may not have their alpha and depth.
    init(
        format: PictureFormat, layout: PixelLayout, bytes: Int, sha256: String, warnings: [String],
        metadata: [String: String]
    ) {
        self.format = format
        width = layout.width
        height = layout.height
        channels = format.hasAlpha ? layout.channels : layout.colourChannels
        depth = min(layout.depth, format.mostDepth)
        self.bytes = bytes
        self.sha256 = sha256
        self.warnings = warnings
        self.metadata = metadata
    }
}
