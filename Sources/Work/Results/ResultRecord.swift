import DarkroomFetch
import DarkroomPicture

/// What the store of results knows of an output: what the status says of it. The digest proves the body.
package struct ResultRecord: CachedRecord {
    package static var contents: CacheContents { .results }

    let format: String
    let width: Int
    let height: Int
    let channels: Int
    let depth: Int
    let bytes: Int
    let sha256: String
    let chosen: ChosenQuality?
    let warnings: [String]
    let metadata: [String: String]
    /// The libraries of the codec programs that took part (`CodecLibraries`).
    let libraries: [String: String]?
    /// What tells these programs and their libraries from others of the same versions. Which took part is known only
    /// afterwards, so this is compared, and not a part of the key.
    let identities: [String: String]?

    init(_ report: PictureReport) {
        format = report.format.rawValue
        width = report.width
        height = report.height
        channels = report.channels
        depth = report.depth
        bytes = report.bytes
        sha256 = report.sha256
        chosen = report.chosen
        warnings = report.warnings
        metadata = report.metadata
        libraries = report.libraries
        identities = report.identities
    }

    /// Whether the codec programs that took part are those of now. This starts them.
    var isOfPresentLibraries: Bool {
        libraries?.keys.allSatisfy { name in
            identities?[name].map { CodecLibraries.identity(name) == $0 } ?? false
        } ?? true
    }

    package var isPlausible: Bool { bytes > 0 && report != nil }

    /// nil if it is not one of a picture.
    var report: PictureReport? {
        guard let format = OutputFormat(rawValue: format), width > 0, height > 0,
            (1...4).contains(channels), (1...16).contains(depth)
        else { return nil }
        return PictureReport(
            format: format, width: width, height: height, channels: channels, depth: depth,
            bytes: bytes, sha256: sha256, chosen: chosen, warnings: warnings, metadata: metadata,
            libraries: libraries)
    }
}
