import DarkroomFetch

/// The data for a download operation.
package struct DownloadJob: Sendable {
    package let id: String
    /// The number of the scratch file for the content.
    package let slot: Int
    package let source: SourceReference
    /// The first of the images that wait for it, for the journal.
    package let image: String
    /// The number of this attempt; nil for a local file.
    package let attempt: Int?
    /// The content of the scratch file from an earlier attempt.
    package let partial: PartialBody?
    package var isFolder = false
}
