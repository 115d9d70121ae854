import DarkroomCore
import DarkroomFetch

/// The data for a download operation.
struct DownloadJob: Sendable {
    let id: String
    /// The number of the scratch file for the content.
    let slot: Int
    let text: ByteString
    /// The first of the images that wait for it, for the journal.
    let image: String
    /// The number of this attempt; nil for a local file.
    let attempt: Int?
    /// The content of the scratch file from an earlier attempt.
    let partial: PartialBody?
    /// Whether the manifest was submitted in a folder, with pictures.
    var isFolder = false
}
