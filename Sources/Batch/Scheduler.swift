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
/// end; `operations` lets a cancellation find them by their work. An operation holds no other one: a
/// download's end makes the board ask for the filter, so no operation depends on another and none is
/// looked at before it can run.
package final class Scheduler: Sendable {
    let spool: Spool
    package let gate = Gate()
    /// Of what operations do in a thread; transfers have limits of their own.
    let heartbeat = Heartbeat()
    /// Of everything else that has a queue.
    package let queueWatch = QueueWatch()
    private let runningOperations = Atomic(0)
    let log: EventLog
    let engine: TransferEngine
    /// Whether the spool takes writes.
    package let storage: StorageGuard
    let waits = Mutex(StorageWaits())
    /// nil where nothing is kept; then each source is fetched for itself.
    package let cache: CacheStore?
    let flights = Mutex(Flights())
    /// Which downloads may be in the queue.
    package let hosts: Mutex<DownloadTurns>
    /// The same of files of this machine, which are looked at in a queue of their own: no server may keep them waiting.
    let localTurns: Mutex<DownloadTurns>
    /// Which filters may be in the queues.
    let turns: Mutex<FilterTurns>
    let board: Mutex<Board>
    private let currentSettings: Mutex<BatchSettings>
    private let operations = Mutex<[Work: Operation]>([:])
    private let downloads = OperationQueue()
    private let localLooks = OperationQueue()
    private let filters = FilterLanes()
    let publisher: Publisher
    let statusKeeper: StatusKeeper
    /// Asked by whatever reads manifests.
    let stopped = CancellationFlag()
    /// Where batches that wait are read, and their statuses changed: one at a time.
    let preparation = DispatchQueue(label: "darkroom.preparation", qos: .userInitiated)
    /// Where transfers that have ended are dealt with.
    let fetched = DispatchQueue(label: "darkroom.fetched", qos: .userInitiated)
    /// Where next tries and the ends of hosts' pauses come due.
    let alarms = DispatchQueue(label: "darkroom.alarms", qos: .userInitiated)
    private let running = DispatchGroup()
    /// Who wants to know when a batch is let go of, and when anything has moved.
    private let listeners = Mutex<Listeners>(Listeners())

    private struct Listeners: Sendable {
        var room: @Sendable () -> Void = {}
        var progress: @Sendable () -> Void = {}
    }

    package init(
        spool: Spool, settings: BatchSettings, engine: TransferEngine, log: EventLog,
        cache: CacheStore? = nil
    ) {
        self.spool = spool
        self.cache = cache
        self.log = log
        self.engine = engine
        board = Mutex(Board(settings))
        hosts = Mutex(DownloadTurns(limits: settings.downloadLimits))
        localTurns = Mutex(DownloadTurns(limits: settings.downloadLimits))
        turns = Mutex(FilterTurns(places: settings.filterPlaces))
        currentSettings = Mutex(settings)
        storage = StorageGuard(log: log)
        publisher = Publisher(durably: settings.isDurable, storage: storage, log: log)
        statusKeeper = StatusKeeper(
            interval: settings.statusInterval, durably: settings.isDurable,
            storage: storage, log: log)
        downloads.name = "darkroom.downloads"
        // A queue's quality of service decides its threads' niceness only if it is set before its first
        // use. They differ, so that waiting for the network never takes the filters' threads away.
        downloads.qualityOfService = .utility
        localLooks.name = "darkroom.local"
        localLooks.qualityOfService = .utility
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
        takeTurns()
        statusKeeper.setInterval(settings.statusInterval)
    }

    private func setWidths(_ settings: BatchSettings) {
        downloads.maxConcurrentOperationCount = settings.downloadConcurrency
        localLooks.maxConcurrentOperationCount = settings.downloadConcurrency
        board.withLock { board in
            board.saturation = settings.saturation
            board.window = settings.window
            board.backOff = settings.backOff
        }
        turns.withLock { $0.places = settings.filterPlaces }
        setDownloadLimits(settings.downloadLimits)
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
    package var pausedHostCount: Int { hosts.withLock { $0.pausedCount(now: Clock.nanoseconds) } }

    /// How many operations the queues hold, those that run included, and images that wait to be published.
    package var queueLengths: [(name: String, length: Int)] {
        [
            (
                "downloads",
                downloads.operationCount + hosts.withLock(\.waitingForPlaceCount)
                    + localLooks.operationCount + localTurns.withLock(\.waitingForPlaceCount)
            ),
            ("filters", turns.withLock(\.count)),
            ("publisher", publisher.pendingCount),
        ]
    }

    package var summary: Board.Summary { board.withLock { $0.summary } }

    // MARK: Suspension and stop

    /// Lets nothing new begin; what runs goes on to its end.
    package func suspend() {
        gate.setSuspended(true)
        downloads.isSuspended = true
        localLooks.isSuspended = true
        filters.setSuspended(true)
        suspensionChanged()
    }

    package func resume() {
        gate.setSuspended(false)
        guard !gate.isStopping else { return }
        suspensionChanged()
        storage.tryAgain()
        downloads.isSuspended = false
        localLooks.isSuspended = false
        filters.setSuspended(false)
        advance { _ in [] }
    }

    /// Lets nothing new begin until the end.
    package func close() {
        downloads.isSuspended = true
        localLooks.isSuspended = true
        filters.setSuspended(true)
        gate.stop()
        stopped.set()
        storage.stop()
    }

    /// How long a stop finishes batches that have ended, in seconds. There may be thousands, and their answers come after
    /// the next start too.
    private static let finishing = 3.0

    /// Waits for what runs, up to `seconds`, and then has it end at its next step; transfers that no server has begun to
    /// answer end at once. Returns when all that has ended is written down.
    ///
    /// - Parameter expired: called where that time was not enough, before anything is broken off.
    package func stop(
        within seconds: Double, progress: () -> Void, expired: () -> Void = {}
    ) {
        let deadline = DispatchTime.now() + seconds
        publisher.leaveKept()
        statusKeeper.close(
            finishingUntil: Clock.nanoseconds + UInt64(clamping: min(seconds, Self.finishing) * 1e9)
        )
        engine.cancelUnanswered()
        while running.wait(timeout: min(deadline, .now() + 1)) == .timedOut {
            progress()
            // One that was about to begin when the queue was closed.
            engine.cancelUnanswered()
            if DispatchTime.now() >= deadline {
                if !gate.isAborting { expired() }
                abort()
                break
            }
        }
        _ = running.wait(timeout: .now() + 5)
        publisher.drain()
        leaveStatuses()
    }

    /// Ends what runs at its next step; it is done again after the next start.
    package func abort() {
        gate.abort()
        for operation in operations.withLock({ Array($0.values) }) where operation.isExecuting {
            operation.cancel()
        }
    }

    // MARK: Effects

    /// Moves the board on, gives out the places that are free then, and does what the board wants done.
    ///
    /// - Parameter recorded: called for each act of a control file, when a restart would remember it.
    func advance(
        recorded: @escaping @Sendable (Steering) -> Void = { _ in },
        _ change: (inout Board) -> [Effect]
    ) {
        var effects = board.withLock { board in
            change(&board) + admit(&board)
        }
        while !effects.isEmpty {
            var hasRoom = false
            for effect in effects where !perform(effect, recorded) { hasRoom = true }
            effects = hasRoom ? board.withLock { admit(&$0) } : []
        }
        progressed()
        listeners.withLock { $0 }.room()
    }

    /// Gives out the places that are free, where anything may begin.
    private func admit(_ board: inout Board) -> [Effect] {
        gate.mayStart && storage.mayWork ? board.admit() : []
    }

    package func progressed() { listeners.withLock { $0 }.progress() }

    func statusChanged(_ key: BatchKey) { statusKeeper.changed(key, self) }

    /// False where what it is about waits outside the queues, so that others may have its place.
    private func perform(
        _ effect: Effect, _ recorded: @escaping @Sendable (Steering) -> Void
    ) -> Bool {
        switch effect {
        case .begun(let beginning):
            log.begun(beginning)
        case .enqueue(let work, let priority, let quality):
            return enqueue(work, priority, quality)
        case .enqueueLater(let work, _, _, let retry):
            enqueueLater(work, retry)
        case .cancel(let work):
            // One that has not begun is never heard of again, so it is let go of here.
            operations.withLock { $0.removeValue(forKey: work) }?.cancel()
            waits.withLock { $0.remove(work) }
            leavePlace(work, waiting: true)
            turns.withLock { $0.remove(work) }
            takeTurns()
            leaveFlight(work)
            endedUndecided(work)
        case .record(let key, let folders, let index, let status, let step):
            record(key, folders, index, status, step)
        case .endAgain(let key, let index, let image):
            endAgain(key, index, image)
        case .dropHandOver(let folders, let image):
            // Where this fails the file stays until the batch's end.
            try? folders.active().remove(BatchFile.pixels(image))
            FaultPoint.handOverRemoved.pass()
        case .recordSteering(let folders, let steering):
            log.steered(id: folders.id, steering)
            record(steering, of: folders, recorded)
        case .amendStatus(let folders, let isHeld, let steering, let continued):
            preparation.async { [self] in amendStatus(folders, isHeld, steering, continued) }
        case .park(let key):
            // After what is still to be journaled of it, for it will be read from there.
            guard let folders = board.withLock({ $0.batches[key]?.folders }) else { break }
            publisher.afterwards(of: FileName(folders.id)) { [self] in
                statusKeeper.park(key, self)
            }
        case .dropScratch(let key, let folders):
            // Where it was released meanwhile, its preparation comes behind this or has been, and it is in work.
            preparation.async { [self] in
                guard board.withLock({ $0.isParked(key) }) else { return }
                Recovery.dropScratch(of: folders)
            }
        case .prepare(let key, let folders):
            prepareLater(key, folders)
        case .statusChanged(let key):
            statusChanged(key)
        case .finish(let key):
            guard let folders = board.withLock({ $0.batches[key]?.folders }) else { break }
            // After what is still to be journaled of it, a cancellation say.
            publisher.afterwards(of: FileName(folders.id)) { [self] in
                statusKeeper.finish(key, self)
            }
        }
        return true
    }

    private func record(
        _ key: BatchKey, _ folders: BatchFolders, _ index: Int, _ status: ImageStatus,
        _ step: Step
    ) {
        running.enter()
        let begin = Clock.nanoseconds
        let handsOver =
            status.state == .filtered && board.withLock { $0.isHandedOver(key, index) }
        let item = Publisher.Item(
            folders: folders, index: index, status: status, handsOver: handsOver
        ) { [self] recorded in
            log.metrics.ended(.publishing, since: begin)
            log.ended(batch: folders.id, recorded, at: step)
            endedWell(.filter(key, image: index))
            advance { $0.imageEnded(key, index, recorded) }
            running.leave()
        } unrecorded: { [self] reason in
            if case .again = reason {
                forgetTry(.filter(key, image: index))
                advance { $0.filterDeferred(key, index) }
            }
            running.leave()
        }
        publisher.publish(item)
    }

    /// Ends an image that was filtered again, in its turn among those that are recorded: not within the call that
    /// asks for it, for a chain of images may end one with the other.
    private func endAgain(_ key: BatchKey, _ index: Int, _ image: ImageStatus) {
        running.enter()
        publisher.queue.async { [self] in
            endedWell(.filter(key, image: index))
            advance { $0.imageEnded(key, index, image) }
            running.leave()
        }
    }

    // MARK: Operations

    /// Puts an operation for the work into its queue. False where it waits outside the queues, for its turn, for its host
    /// or for another download of the same URL.
    @discardableResult
    func enqueue(
        _ work: Work, _ priority: Priority, _ quality: QualityOfServiceName
    ) -> Bool {
        let item = StorageWaits.Item(work: work, priority: priority, quality: quality)
        guard enterFlight(item) else { return false }
        guard storageAllows(work) else {
            waitForStorage(work, priority, quality)
            return true
        }
        guard takePlace(item) else { return false }
        if case .filter(let key, let image) = work {
            takeTurn(item, key, image)
        } else {
            start(item)
        }
        return true
    }

    private func takeTurn(_ item: FilterTurns.Item, _ key: BatchKey, _ image: Int) {
        let (isGranted, owner) = board.withLock {
            ($0.memory.holds($0.ticket(key, image)), $0.owner(of: key))
        }
        let atOnce = isGranted || !storage.mayWork
        turns.withLock { $0.add(item, owner: owner, atOnce: atOnce) }.forEach(start)
    }

    /// Has filters begin where there are places for them.
    private func takeTurns() { turns.withLock { $0.take() }.forEach(start) }

    /// Puts a download into its queue that nothing keeps from it.
    func start(_ item: StorageWaits.Item) {
        guard case .download(let key, let source) = item.work else { return }
        guard let text = board.withLock({ $0.sourceText(key, source) }) else {
            leaveFlight(item.work)
            return leavePlace(item.work)
        }
        let queue = DownloadTurns.host(of: text) == nil ? localLooks : downloads
        queue.addOperation(prepared(downloadOperation(key, source, text), for: item))
    }

    /// Puts a filter into its queue.
    private func start(_ turn: FilterTurns.Turn) {
        guard case .filter(let key, let image) = turn.item.work else { return }
        let operation = BlockOperation { [self] in filter(key, image) }
        filters.add(prepared(operation, for: turn.item), to: turn.lane)
    }

    private func prepared(_ operation: Operation, for item: StorageWaits.Item) -> Operation {
        operation.name = item.work.name
        operation.queuePriority = item.priority.queuePriority
        operation.qualityOfService = item.quality.qualityOfService
        operations.withLock { $0[item.work] = operation }
        return operation
    }

    /// Something begins to run; false where it must not, for the queues were suspended in between or the spool
    /// takes no writes.
    func mayBegin(_ work: Work) -> Bool {
        guard gate.mayStart, storageAllows(work) else { return false }
        running.enter()
        runningOperations.add(1, ordering: .relaxed)
        return true
    }

    /// Begins a download; nil where it is not wanted any more.
    func downloadBegan(_ key: BatchKey, _ source: Int, isTransfer: Bool) -> DownloadJob? {
        let job = board.withLock { $0.downloadBegan(key, source, isTransfer: isTransfer) }
        if job != nil { statusKeeper.changed(key, self) }
        FaultPoint.downloadBegan.pass()
        return job
    }

    /// What began has ended; the board hears of it before the daemon may think that nothing runs.
    ///
    /// - Parameter isShared: of a download, whether others can copy from the cache what it has fetched.
    func ended(
        _ work: Work, isShared: Bool = false, _ change: (inout Board) -> [Effect]
    ) {
        operations.withLock { $0[work] = nil }
        if case .download = work { FaultPoint.downloadEnded.pass() }
        leave(work, isShared: isShared, change)
        runningOperations.subtract(1, ordering: .relaxed)
        running.leave()
    }

    /// What was not allowed to begin goes back to the board.
    func deferred(_ work: Work, _ change: (inout Board) -> [Effect]) {
        operations.withLock { $0[work] = nil }
        leave(work, isShared: false, change)
    }

    private func leave(
        _ work: Work, isShared: Bool, _ change: (inout Board) -> [Effect]
    ) {
        leavePlace(work)
        // Before the board hears of it, for it may want the same work done again at once.
        turns.withLock { $0.leave(work) }
        advanceFlight(work, isShared: isShared, change)
        // After it, for who comes next may need the memory that the board gives back.
        takeTurns()
    }
}
