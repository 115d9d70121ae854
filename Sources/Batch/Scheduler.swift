import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool
import Dispatch
import Foundation
import Synchronization

/// Turns the board's wishes into operations on the downloads queue and the filters' queues, and reports back to it.
///
/// Who owns what: the board, under its lock, owns the state; the queues own their operations until they
/// end, and let a cancellation find them by their tickets. An operation holds no other one: a
/// download's end makes the board ask for the filter, so no operation depends on another and none is
/// looked at before it can run.
package final class Scheduler: Sendable {
    let spool: Spool
    package let gate = Gate()
    /// Of what operations do in a thread; transfers have limits of their own.
    let heartbeat = Heartbeat()
    /// Of everything else that has a queue.
    package let queueWatch = QueueWatch()
    let runningOperations = Atomic(0)
    let log: EventLog
    let engine: TransferEngine
    /// Whether the spool takes writes.
    package let storage: StorageGuard
    /// nil where nothing is kept; then each source is fetched for itself.
    package let cache: CacheStore?
    let board: Mutex<Board>
    private let currentSettings: Mutex<BatchSettings>
    let queues = WorkQueues()
    let publisher: Publisher
    let statusKeeper: StatusKeeper
    let time: TimeSource
    /// Asked by whatever reads manifests.
    let stopped = CancellationFlag()
    /// Where batches that wait are read, and their statuses changed: one at a time.
    let preparation = DispatchQueue(label: "darkroom.preparation", qos: .userInitiated)
    /// Where transfers that have ended are dealt with.
    let fetched = DispatchQueue(label: "darkroom.fetched", qos: .userInitiated)
    /// Where next attempts and the ends of hosts' pauses come due.
    let alarms = DispatchQueue(label: "darkroom.alarms", qos: .userInitiated)
    let running = DispatchGroup()
    /// Who wants to know when a batch is let go of, and when anything has moved.
    let listeners = Mutex<Listeners>(Listeners())

    struct Listeners: Sendable {
        var room: @Sendable () -> Void = {}
        var progress: @Sendable () -> Void = {}
    }

    /// - Parameters:
    ///   - board: without any batch.
    ///   - cache: nil for none.
    package init(
        spool: Spool, settings: BatchSettings, board: sending Board, engine: TransferEngine,
        cache: CacheStore?, storage: StorageGuard, publisher: Publisher,
        statusKeeper: StatusKeeper, log: EventLog, time: TimeSource = .system
    ) {
        self.spool = spool
        self.cache = cache
        self.log = log
        self.engine = engine
        self.time = time
        self.storage = storage
        self.publisher = publisher
        self.statusKeeper = statusKeeper
        self.board = Mutex(board)
        currentSettings = Mutex(settings)
        setWidths(settings)
        queueWatch.add(publisher.queue, "the publisher")
        queueWatch.add(statusKeeper.queue, "the writer of status files")
        queueWatch.add(preparation, "the reader of waiting batches")
        queueWatch.add(fetched, "what follows downloads")
        storage.add(publisher)
        storage.add(statusKeeper)
        storage.add(self)
    }

    var settings: BatchSettings { currentSettings.withLock { $0 } }

    /// Takes over reloaded settings: the queues' widths at once, the rest with the next operation.
    package func update(_ settings: BatchSettings) {
        currentSettings.withLock { $0 = settings }
        cache?.setLimit(settings.cacheBytes)
        setWidths(settings)
        advance { $0.setMemory(limit: settings.memory, places: settings.filterPlaces) }
        statusKeeper.setInterval(settings.statusInterval)
    }

    private func setWidths(_ settings: BatchSettings) {
        queues.setWidth(downloads: settings.mostDownloads)
        let keyOfSource = cacheKeys(settings)
        advance { board in
            board.saturation = settings.saturation
            board.window = settings.window
            board.backOff = settings.backOff
            board.cacheKey = keyOfSource
            let outcome = board.admission.setLimits(
                downloads: settings.downloadLimits, filters: settings.filterPlaces)
            return board.follow(outcome)
        }
    }

    // MARK: Batches

    package func onRoom(_ body: @escaping @Sendable () -> Void) {
        listeners.withLock { $0.room = body }
    }

    package func onProgress(_ body: @escaping @Sendable () -> Void) {
        listeners.withLock { $0.progress = body }
    }

    /// Whether another claimed batch may wait here.
    package var hasRoom: Bool {
        let limit = settings.maximumWaiting
        return board.withLock { $0.waitingBatches.waitingCount < limit }
    }

    /// What keeps another batch of this owner from waiting here; nil for nothing.
    ///
    /// - Parameter coming: batches that are about to come besides.
    package func crowd(of owner: UInt32?, coming: Int = 0) -> WaitingBatches.Crowd? {
        let limit = settings.maximumWaiting
        return board.withLock {
            $0.waitingBatches.crowd(of: owner, limit: limit, coming: coming)
        }
    }

    /// Whether another claimed batch of this owner may wait here.
    package func hasRoom(for owner: UInt32?) -> Bool { crowd(of: owner) == nil }

    /// How many operations run now.
    package var runningCount: Int { runningOperations.load(ordering: .relaxed) }

    /// What runs, and for how long it has taken no step.
    package func still(now: UInt64) -> [StillWork] {
        heartbeat.still(now: now) + queueWatch.still(now: now)
    }

    /// Images that have ended and are not in the outbox yet.
    package var publishingCount: Int { publisher.pendingCount }

    /// Hosts that have asked to be left alone.
    package var pausedHostCount: Int {
        board.withLock { $0.admission.downloads.pausedCount(now: time.now) }
    }

    /// Downloads whose hosts take no more at the moment.
    package var waitingForHostCount: Int {
        board.withLock { $0.admission.downloads.waitingForHostCount }
    }

    /// How many operations the queues hold, those that run included, and images that wait to be published.
    package var queueLengths: [(name: String, length: Int)] {
        let (waiting, filters) = board.withLock {
            ($0.admission.waitingForPlaceCount, $0.admission.filters.count)
        }
        return [
            ("downloads", queues.downloadCount + waiting),
            ("filters", filters),
            ("publisher", publisher.pendingCount),
        ]
    }

    package var summary: Board.Summary { board.withLock { $0.summary } }
}
