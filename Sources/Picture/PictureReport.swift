/// A report about a written picture.
public struct PictureReport: Sendable, Equatable {
    /// The format of the file.
    public internal(set) var format: OutputFormat
    /// In pixels.
    public internal(set) var width: Int
    /// In pixels.
    public internal(set) var height: Int
    /// 1: gray; 2: gray and alpha; 3: RGB; 4: RGB and alpha.
    public internal(set) var channels: Int
    /// Bits per sample: 8 or 16, or those of an AVIF.
    public internal(set) var depth: Int
    /// The size of the file.
    public internal(set) var bytes: Int
    /// The digest of the file, in hexadecimal.
    public internal(set) var sha256: String
    /// The quality, if it was chosen by trials.
    package internal(set) var chosen: ChosenQuality?
    /// Remarks about the source and overlays that are not errors.
    public internal(set) var warnings: [String]
    /// What happened to the source's chunks or segments that are not pixels, by their names: `kept`, `converted` or
    /// `dropped`. Lost alpha, depth and orientation are listed too.
    public internal(set) var metadata: [String: String]
    /// The libraries of the codec programs that have taken part (`CodecLibraries`); nil for none.
    package internal(set) var libraries: [String: String]?
    /// What tells these programs and their libraries from others of the same versions; nil for none, and in a report that
    /// was kept.
    package internal(set) var identities: [String: String]?

    /// A report that was kept.
    package init(
        format: OutputFormat, width: Int, height: Int, channels: Int, depth: Int, bytes: Int,
        sha256: String, chosen: ChosenQuality? = nil, warnings: [String],
        metadata: [String: String], libraries: [String: String]?
    ) {
        self.format = format
        self.width = width
        self.height = height
        self.channels = channels
        self.depth = depth
        self.bytes = bytes
        self.sha256 = sha256
        self.chosen = chosen
        self.warnings = warnings
        self.metadata = metadata
        self.libraries = libraries
    }
}
