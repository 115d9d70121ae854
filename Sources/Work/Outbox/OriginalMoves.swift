import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Dispatch

/// Moves the originals of hot folders into other folders (`OriginalsFolder` has the table of the steps), those of each
/// hot folder on a queue of their own: a network file system may not answer.
final class OriginalMoves: Sendable {
    /// A batch whose images have all ended.
    struct Job: Sendable {
        let key: BatchKey
        let folders: BatchFolders
        let cancellation: CancellationFlag
        let status: @Sendable () -> Status?
        /// The present ones.
        let settings: @Sendable () -> BatchSettings
        /// Called once, unless the daemon stops before.
        let ended: @Sendable ([ByteString: OriginalOutcome]) -> Void
        /// The reason why it waits has changed.
        let changed: @Sendable () -> Void
    }

    private let spool: Spool
    /// By the names of the folders of the spool that belong to the hot folders.
    private let stations: Stations<FileName, OriginalStation>
    /// The records of batches are looked for on it.
    private let queue = DispatchQueue(label: "darkroom.originals", qos: .utility)

    init(spool: Spool, committer: Committer, log: EventLog, time: TimeSource) {
        self.spool = spool
        stations = Stations(StationShared(committer: committer, log: log, time: time))
    }

    func add(_ job: Job) {
        queue.async { [self] in
            guard !stations.shared.stopped.isSet else { return }
            do throws(FileError) {
                guard let (batch, key) = try job.folders.placedBatch() else {
                    return job.ended([:])
                }
                let promises = try job.folders.originalPromises()
                stations.station(key) { OriginalStation(key, $0) }.add(job, batch, promises)
            } catch {
                // The record cannot be read, so nothing is known of the originals. They stay.
                stations.shared.log.storageFailed(error, batch: job.folders.id)
                job.ended([:])
            }
        }
    }

    func stop() { stations.stop() }
    func tryAgain() { stations.tryAgain() }

    /// Why a batch waits for its originals; nil if it does not.
    func waiting(of key: BatchKey) -> Status.Waiting? {
        stations.shared.reasons(of: key).first.map { _, reason in
            Status.Waiting(
                .originals, message: "\(reason.subject) cannot be moved: \(reason.message)",
                since: reason.since)
        }
    }
}
