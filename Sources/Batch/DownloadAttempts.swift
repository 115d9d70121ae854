import DarkroomCore
import DarkroomFetch
import DarkroomSpool

/// What a source's download has come to so far.
///
/// A class, for most sources of a large manifest have none at a time, and a source is to take little memory.
/// Belongs to its `Batch`, and is guarded like it.
final class DownloadAttempts {
    /// Those that have ended. One that the disk or a stop broke off does not count.
    var count = 0
    /// What the images' status says of it; nil where nothing is fetched from anywhere.
    var note: ImageStatus.Download?
    /// What lies in the source's scratch file to be gone on with.
    var partial: PartialBody?
}

/// What there is to be told of a download that went well.
package struct DownloadNote: Sendable, Equatable {
    /// The length of what was fetched; nil where nothing was, for a local file.
    package var bytes: Int?
    /// What the cache had to do with it: `hit`, `revalidated` or `stored`; nil for nothing.
    package var cache: String?

    package init(bytes: Int? = nil, cache: String? = nil) {
        self.bytes = bytes
        self.cache = cache
    }
}

/// How a download has ended.
package enum DownloadResult: Sendable {
    case ready(DownloadNote)
    /// With the seconds that the server asks to wait, and what of the body can be gone on with.
    case failed(Failure, retryAfter: Double? = nil, partial: PartialBody? = nil)
}

/// A download that is to be retried, for those who wait until then and tell of it.
package struct Retry: Sendable {
    /// Names this wait among all.
    let number: Int
    /// In seconds.
    let delay: Double
    /// Of the attempts that there may be, how many have ended.
    let attempts: Int
    let mostAttempts: Int
    let failure: Failure
    let batch: String
    /// The first of the images that wait for it.
    let image: String
    /// As the manifest has it.
    let source: ByteString
}
