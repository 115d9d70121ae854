import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomPicture

/// The attempts for a source.
struct DownloadAttempts {
    /// The number of attempts that have ended. Attempts that the disk or a stop ended do not count.
    var count = 0
    /// The part of the images' status about it; nil if there is no transfer.
    var note: ImageStatus.Download?
    /// The content of the source's scratch file, with which a transfer can be resumed.
    var partial: PartialBody?
    /// What the server has said of the content (`RemoteIdentity`), or which local file it was (`SourceIdentity`); nil if
    /// that is not known.
    var identity: String?
    /// What its content looks like; nil if that is not known.
    var kind: InputFormat?
}

/// The report of a successful download.
package struct DownloadNote: Sendable, Equatable {
    /// The length of the content; nil if it is not known.
    package var bytes: Int?
    /// The role of the cache: `hit`, `revalidated` or `stored`; nil for none.
    package var cache: String?
    /// What the server has said of the content (`RemoteIdentity`), or which local file it was (`SourceIdentity`); nil if
    /// nobody wants to know it, or if it is not known.
    package var identity: String?
    /// What the content looks like; nil if nobody has looked.
    package var kind: InputFormat?

    package init(
        bytes: Int? = nil, cache: String? = nil, identity: String? = nil, kind: InputFormat? = nil
    ) {
        self.bytes = bytes
        self.cache = cache
        self.identity = identity
        self.kind = kind
    }
}

/// The result of a download.
package enum DownloadResult: Sendable {
    case ready(DownloadNote)
    /// - Parameters:
    ///   - retryAfter: the wait that the server requests, in seconds.
    ///   - partial: the part of the body with which the transfer can be resumed.
    ///   - identity: tells later whether the source is another one (`DownloadNote.identity`).
    case failed(
        Failure, retryAfter: Double? = nil, partial: PartialBody? = nil, identity: String? = nil)
}

/// A download that will be retried, for the timer and for the journal.
package struct Retry: Sendable {
    /// Identifies this wait.
    package let number: Int
    /// In seconds.
    package let delay: Double
    /// How many of the permitted attempts have ended.
    package let attempts: Int
    package let mostAttempts: Int
    package let failure: Failure
    package let batch: String
    /// The first of the images that wait for it.
    package let image: String
    /// As in the manifest.
    package let source: ByteString
}
