import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Dispatch
import Synchronization
import SystemPackage

/// Moves the originals of hot folders into other folders (`OriginalsFolder` has the table of the steps), those of each
/// hot folder on a queue of their own: a network file system may not answer.
final class OriginalMoves: Sendable {
    /// A batch whose images have all ended.
    struct Job: Sendable {
        let key: BatchKey
        let folders: BatchFolders
        let cancellation: CancellationFlag
        let status: @Sendable () -> Status?
        /// The present rules of the configuration.
        let rules: @Sendable () -> Rules
        /// Called once, unless the daemon stops before.
        let ended: @Sendable ([ByteString: OriginalOutcome]) -> Void
        /// The reason why it waits has changed.
        let changed: @Sendable () -> Void
    }

    /// What the configuration says.
    struct Rules: Sendable {
        let folders: [HotFolder]
        let taken: [(path: String, what: String)]
        let isDurable: Bool

        init(_ settings: BatchSettings) {
            folders = settings.folders
            taken = settings.delivery.taken
            isDurable = settings.isDurable
        }
    }

    /// What the stations share.
    final class Shared: Sendable {
        let committer: Committer
        let log: EventLog
        let time: TimeSource
        let stopped = CancellationFlag()
        private let waiting = Mutex<[BatchKey: Status.Waiting]>([:])

        init(committer: Committer, log: EventLog, time: TimeSource) {
            self.committer = committer
            self.log = log
            self.time = time
        }

        /// Notes why a batch waits; nil if it does not wait any more.
        ///
        /// - Returns: whether this is new.
        func note(_ reason: Status.Waiting?, for key: BatchKey) -> Bool {
            waiting.withLock { waiting in
                guard waiting[key] != reason else { return false }
                waiting[key] = reason
                return true
            }
        }

        func reason(of key: BatchKey) -> Status.Waiting? { waiting.withLock { $0[key] } }
    }

    private let spool: Spool
    private let shared: Shared
    /// By the names of the folders of the spool that belong to the hot folders.
    private let stations = Mutex<[FileName: OriginalStation]>([:])
    /// The records of batches are looked for on it.
    private let queue = DispatchQueue(label: "darkroom.originals", qos: .utility)

    init(spool: Spool, committer: Committer, log: EventLog, time: TimeSource) {
        self.spool = spool
        shared = Shared(committer: committer, log: log, time: time)
    }

    func add(_ job: Job) {
        queue.async { [self] in
            guard !shared.stopped.isSet else { return }
            do throws(FileError) {
                guard let (batch, key) = try job.folders.placedBatch() else {
                    return job.ended([:])
                }
                let promises = try job.folders.originalPromises()
                stations.withLock { stations in
                    let station = stations[key] ?? OriginalStation(key, shared)
                    stations[key] = station
                    return station
                }.add(job, batch, promises)
            } catch {
                // The record cannot be read, so nothing is known of the originals. They stay.
                shared.log.storageFailed(error, batch: job.folders.id)
                job.ended([:])
            }
        }
    }

    /// Begins nothing any more. What is being done is like after a kill, which every step survives.
    func stop() {
        shared.stopped.set()
        for station in stations.withLock({ Array($0.values) }) { station.leave() }
    }

    /// A batch was cancelled, or somebody says that a folder may be back.
    func tryAgain() {
        for station in stations.withLock({ Array($0.values) }) { station.tryAgain() }
    }

    /// Why a batch waits for its originals; nil if it does not.
    func waiting(of key: BatchKey) -> Status.Waiting? { shared.reason(of: key) }
}
