import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

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
        var copy: FileName?
        var hasEnded = false
        /// The folder has refused this image, and not all.
        var trouble: Outage?
    }

    /// Recipes may name a folder by another way than manifests (`DeliveryFolder`), so one may be refused and the other not.
    private struct Place: Hashable {
        let folder: ByteString
        let isOfRecipe: Bool
    }

    private let stations: Stations<Place, DeliveryStation>

    init(committer: Committer, log: EventLog, time: TimeSource) {
        stations = Stations(StationShared(committer: committer, log: log, time: time))
    }

    func add(_ job: Job) {
        let delivery = job.job.delivery
        let place = Place(folder: ByteString(delivery.folder), isOfRecipe: delivery.isOfRecipe)
        stations.station(place) { DeliveryStation(delivery.folder, $0) }.add(job)
    }

    func stop() { stations.stop() }
    func tryAgain() { stations.tryAgain() }

    /// Why images of a batch wait to be delivered; nil if none does.
    func waiting(of key: BatchKey) -> Status.Waiting? {
        let reasons = stations.shared.reasons(of: key)
        guard let reason = reasons.min(by: { $0.key < $1.key })?.value else { return nil }
        let others =
            reasons.count > 1
            ? " and \(Words.count(reasons.count - 1, "other image")) wait" : " waits"
        return Status.Waiting(
            .delivery, message: "\(reason.subject)\(others) to be delivered: \(reason.message)",
            since: reason.since)
    }
}

extension Deliveries.Job {
    var output: DeliveryFolder.Output? {
        job.image.status.output.map {
            DeliveryFolder.Output(folders, index: job.index, $0, job.delivery.existing, copy: copy)
        }
    }

    var record: JournalRecord { .delivering(index: job.index, job.image) }

    func syncFiles() throws(FileError) {
        try folders.sync(BatchFile.results(job.index, isPublished: true, handsOver: job.handsOver))
    }
}
