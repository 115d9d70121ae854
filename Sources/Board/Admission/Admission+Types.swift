import DarkroomCore
import DarkroomFetch

/// What goes into an admission, and what comes out of it.
extension Admission {
    /// A requested piece of work, with the facts that decide when it begins.
    struct Wish: Sendable, Equatable {
        let request: WorkRequest
        /// The user who submitted its manifest.
        let owner: FairShare.Owner
        /// For a download.
        var source: SourceReference?
        /// nil for a local file.
        var host: ByteString?
        /// Identical for downloads of the same content; nil if nothing is cached.
        var cacheKey: CacheKey?
        /// For a filter: whether it has been granted memory for which others wait.
        var isGranted = false
        /// The piece of work that an attempt to write belongs to.
        let piece: StorageBacklog.Piece

        var work: Work { request.work }
    }

    /// One entry of a piece of work.
    package struct Ticket: Hashable, Sendable {
        package let work: Work
        let number: Int
    }

    /// An operation that must be created and put into its queue.
    package struct Start: Equatable, Sendable {
        package let request: WorkRequest
        package let ticket: Ticket
        /// For a download.
        package let source: SourceReference?
        /// For a download: whether its source is a local file.
        package let isLocal: Bool
        /// For a filter: the number of its queue.
        package let queue: Int?
    }

    /// The consequences of an event.
    package struct Outcome: Equatable, Sendable {
        var starts: [Start] = []
        /// Downloads that wait outside the queue from now on.
        var waiting: [Work] = []
        /// Work that must enter again.
        var again: [WorkRequest] = []
        /// Downloads that have failed because the download they waited for has failed.
        var failed: [Work] = []
        /// Whether the piece of work that was to try the disk is delayed.
        var isUndecided = false
    }

    /// What an operation does when its thread begins.
    package enum Beginning: Equatable, Sendable {
        /// Nothing: nobody needs it any more.
        case unwanted
        /// Nothing: it must leave, and may enter again.
        case back
        /// Its work. For a download, with its role for the cache.
        case goes(RequestCoalescer.Turn)
    }
}
