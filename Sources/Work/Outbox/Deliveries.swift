import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import Synchronization
import SystemPackage

/// Places outputs in other folders (`DeliveryFolder` has the table of the steps), each folder on a queue of its own: the
/// server of one may not answer.
final class Deliveries: Sendable {
    /// An image that is to be delivered.
    struct Job: Sendable {
        var job: DeliveryJob
        let folders: BatchFolders
        let cancellation: CancellationFlag
        /// The present rules of the configuration.
        let rules: @Sendable () -> DeliveryRules
        /// Called once, unless the daemon stops before.
        let ended: @Sendable (Result<ImageStatus, Failure>) -> Void
        /// The reason why it waits has changed.
        let changed: @Sendable () -> Void
        /// Whether a restart knows that it is to be delivered.
        var isKept = false
        /// Whether the journal has a promise for it, so that a missing copy may mean that it is placed.
        var isPromised = false
        /// Whether this daemon or a former one may have begun to keep the promise.
        var mayBePlaced = false
        /// The name of its copy, if there may be one.
        var copy: FileName?
        var hasEnded = false
        /// The folder has refused this image, and not all: since when, and its next attempt.
        var trouble: Trouble?

        struct Trouble: Sendable {
            let since: String
            /// In seconds.
            let delay: Double
            let next: UInt64
        }
    }

    struct Reason: Sendable, Equatable {
        let image: String
        let message: String
        let since: String
    }

    /// What the stations share.
    final class Shared: Sendable {
        let committer: Committer
        let log: EventLog
        let time: TimeSource
        let stopped = CancellationFlag()
        /// Why images wait, by their batches.
        private let waiting = Mutex<[BatchKey: [Int: Reason]]>([:])

        init(committer: Committer, log: EventLog, time: TimeSource) {
            self.committer = committer
            self.log = log
            self.time = time
        }

        var durably: Bool { committer.durably }

        /// Notes why an image waits; nil if it does not wait any more.
        ///
        /// - Returns: whether this is new.
        func note(_ reason: Reason?, for job: DeliveryJob) -> Bool {
            waiting.withLock { waiting in
                guard waiting[job.key]?[job.index] != reason else { return false }
                waiting[job.key, default: [:]][job.index] = reason
                if waiting[job.key]?.isEmpty == true { waiting[job.key] = nil }
                return true
            }
        }

        func reasons(of key: BatchKey) -> [Int: Reason] { waiting.withLock { $0[key] ?? [:] } }
    }

    /// Recipes may name a folder by another way than manifests (`DeliveryFolder`), so one may be refused and the other not.
    private struct Place: Hashable {
        let folder: ByteString
        let isOfRecipe: Bool
    }

    private let shared: Shared
    private let stations = Mutex<[Place: DeliveryStation]>([:])

    init(committer: Committer, log: EventLog, time: TimeSource) {
        shared = Shared(committer: committer, log: log, time: time)
    }

    func add(_ job: Job) {
        let delivery = job.job.delivery
        let place = Place(folder: ByteString(delivery.folder), isOfRecipe: delivery.isOfRecipe)
        stations.withLock { stations in
            let station = stations[place] ?? DeliveryStation(delivery.folder, shared)
            stations[place] = station
            return station
        }.add(job)
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

    /// Why images of a batch wait to be delivered; nil if none does.
    func waiting(of key: BatchKey) -> Status.Waiting? {
        let reasons = shared.reasons(of: key)
        guard let reason = reasons.min(by: { $0.key < $1.key })?.value else { return nil }
        let others =
            reasons.count > 1
            ? " and \(Words.count(reasons.count - 1, "other image")) wait" : " waits"
        return Status.Waiting(
            .delivery, message: "\(reason.image)\(others) to be delivered: \(reason.message)",
            since: reason.since)
    }
}

extension Deliveries.Job {
    var output: DeliveryFolder.Output? {
        job.image.status.output.map {
            DeliveryFolder.Output(
                folders, index: job.index, $0, job.delivery.existing, copy: copy)
        }
    }

    var record: JournalRecord { .delivering(index: job.index, job.image) }

    func syncFiles() throws(FileError) {
        let active = folders.spool.active
        let files =
            [BatchFile.output(job.index)] + (job.handsOver ? [BatchFile.pixels(job.index)] : [])
        for name in files.map(folders.pathInActive) {
            try active.open(name).sync(path: active.path(of: name))
        }
    }
}
