import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// A batch as it is now, without its images.
///
/// The daemon replaces `progress.json` often while the batch is in work. What it says about the end does not count: the
/// final `status.json` does, which has the number of retries. So nobody takes the end before a retry for the end after
/// it.
package final class BatchView {
    package let id: String
    private let spool: SpoolFolder
    /// The last status, which may be megabytes long and is read again only when it was replaced.
    private var known: (identity: FileIdentity, batch: Batch)?

    package init(_ id: String, in spool: SpoolFolder) {
        self.id = id
        self.spool = spool
    }

    package struct Batch: Sendable, Equatable {
        package var state: BatchState
        package var counts: Status.Counts
        /// The owner of the manifest, and the identity of its file.
        package var uid: UInt32?
        package var identity: String?
        package var retries: Int
        package var commands: [ControlRecord]
        /// The name of the exact manifest in its folder; nil if the copy in the answer is the manifest.
        package var exactManifest: FileName?
        /// Whether pictures came with its manifest, and were removed when it ended. Only a final status tells.
        package var lacksPictures = false

        /// Whether no image of it is in work.
        package var isAtRest: Bool {
            [counts.downloading, counts.downloaded, counts.filtering].allSatisfy { $0 == 0 }
        }

        init(_ progress: BatchProgress) {
            state = progress.state
            counts = progress.counts
            uid = progress.uid
            identity = progress.identity
            retries = progress.retries ?? 0
            commands = progress.commands ?? []
        }

        init(_ status: Status) {
            self.init(BatchProgress(toldBy: status))
            exactManifest = ExactManifests.name(for: status)
        }
    }

    package func folder() throws(ClientError) -> Directory? { try spool.folder(of: id) }

    /// - Parameter fromStatus: whether only the whole status counts. `progress.json` has the last two commands only.
    /// - Returns: nil if there is no such batch.
    package func read(fromStatus: Bool = false) throws(ClientError) -> Batch? {
        guard let folder = try folder(), let stamp = try asClientError(AnswerStamp(in: folder))
        else { return nil }
        if !fromStatus, stamp.hasPresentProgress, let report = try spool.progress(of: id),
            !report.state.isFinal
        {
            return Batch(report)
        }
        if let known, known.identity == stamp.status { return known.batch }
        guard let status = try spool.frame(in: folder) else { return nil }
        var batch = Batch(status)
        batch.lacksPictures = status.lacksPictures(in: folder)
        known = (stamp.status, batch)
        return batch
    }
}
