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
/// end; `operations` lets a cancellation find them by their tickets. An operation holds no other one: a
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
    /// nil where nothing is kept; then each source is fetched for itself.
    package let cache: CacheStore?
    let board: Mutex<Board>
    private let currentSettings: Mutex<BatchSettings>
    private let operations = Mutex<[Admission.Ticket: Operation]>([:])
    let downloads = OperationQueue()
    let localLooks = OperationQueue()
    let filters = FilterLanes()
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
    private let running = DispatchGroup()
    /// Who wants to know when a batch is let go of, and when anything has moved.
    private let listeners = Mutex<Listeners>(Listeners())

    private struct Listeners: Sendable {
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
        statusKeeper.setInterval(settings.statusInterval)
    }

    private func setWidths(_ settings: BatchSettings) {
        downloads.maxConcurrentOperationCount = settings.mostDownloads
        localLooks.maxConcurrentOperationCount = settings.mostDownloads
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
            ("downloads", downloads.operationCount + localLooks.operationCount + waiting),
            ("filters", filters),
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
            finishingUntil: time.now + UInt64(clamping: min(seconds, Self.finishing) * 1e9)
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
    /// - Parameter recorded: called with each command that takes effect, when a restart would remember it.
    func advance(
        recorded: @escaping @Sendable (ControlRecord) -> Void = { _ in },
        _ change: (inout Board) -> [Effect]
    ) {
        settle(admits: true, recorded: recorded, change)
        progressed()
        listeners.withLock { $0 }.room()
    }

    /// Changes the board, and does what follows.
    ///
    /// - Parameter admits: whether places that are free now are given out; what ends or comes does so, not what begins.
    func settle(
        admits: Bool = false, recorded: @escaping @Sendable (ControlRecord) -> Void = { _ in },
        _ change: (inout Board) -> [Effect]
    ) {
        let effects = board.withLock { board in
            board.admission.isStorageWorking = storage.mayWork
            let wanted = change(&board)
            return board.settle(
                wanted, admits: admits && gate.mayStart && storage.mayWork)
        }
        for effect in effects { perform(effect, recorded) }
    }

    package func progressed() { listeners.withLock { $0 }.progress() }

    func statusChanged(_ key: BatchKey) { statusKeeper.changed(key, self) }

    private func perform(
        _ effect: Effect, _ recorded: @escaping @Sendable (ControlRecord) -> Void
    ) {
        switch effect {
        case .begun(let beginning):
            log.begun(beginning)
        case .enqueue, .cancel:
            // The admission has settled it.
            break
        case .enqueueLater(let work, _, _, let retry):
            enqueueLater(work, retry)
        case .start(let start):
            self.start(start)
        case .stop(let ticket):
            operations.withLock { $0.removeValue(forKey: ticket) }?.cancel()
        case .storageUndecided:
            storage.probeInconclusive()
        case .record(let key, let folders, let index, let status, let step):
            record(key, folders, index, status, step)
        case .endAgain(let key, let index, let image):
            endAgain(key, index, image)
        case .dropHandOver(let folders, let image):
            // Where this fails the file stays until the batch's end.
            try? folders.active().remove(BatchFile.pixels(image))
            FaultPoint.handOverRemoved.pass()
        case .recordCommand(let folders, let command):
            log.obeyed(id: folders.id, command)
            record(command, of: folders, recorded)
        case .amendStatus(let folders, let control, let commands, let continued):
            preparation.async { [self] in amendStatus(folders, control, commands, continued) }
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
                forgetAttempt(.filter(key, image: index))
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

    /// Makes an operation, and puts it into its queue.
    private func start(_ start: Admission.Start) {
        let ticket = start.ticket
        switch ticket.work {
        case .download(let key, let source):
            guard let text = start.text else { return }
            let queue = start.isLocal ? localLooks : downloads
            queue.addOperation(
                prepared(downloadOperation(ticket, key, source, text), for: start))
        case .filter(let key, let image):
            guard let lane = start.lane else { return }
            let operation = BlockOperation { [self] in filter(ticket, key, image) }
            filters.add(prepared(operation, for: start), to: lane)
        }
    }

    private func prepared(_ operation: Operation, for start: Admission.Start) -> Operation {
        operation.name = start.request.work.name
        operation.queuePriority = start.request.priority.queuePriority
        operation.qualityOfService = start.request.quality.qualityOfService
        operations.withLock { $0[start.ticket] = operation }
        return operation
    }

    /// An operation's thread has come: whether it may do its work. Not where the queues were suspended in between or the
    /// spool takes no writes.
    ///
    /// - Parameter key: of a download, what it is kept by; nil where nothing is.
    func begin(_ ticket: Admission.Ticket, key: CacheKey? = nil) -> Admission.Beginning {
        guard gate.mayStart else { return .back }
        var beginning = Admission.Beginning.unwanted
        settle { board in
            let effects: [Effect]
            (beginning, effects) = board.begin(ticket, key: key)
            return effects
        }
        switch beginning {
        case .unwanted: operations.withLock { $0[ticket] = nil }
        case .back: break
        case .goes:
            running.enter()
            runningOperations.add(1, ordering: .relaxed)
        }
        return beginning
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
        _ ticket: Admission.Ticket, isShared: Bool = false, _ change: (inout Board) -> [Effect]
    ) {
        operations.withLock { $0[ticket] = nil }
        if case .download = ticket.work { FaultPoint.downloadEnded.pass() }
        advance { $0.left(ticket, isShared: isShared, change) }
        runningOperations.subtract(1, ordering: .relaxed)
        running.leave()
    }

    /// What was not allowed to begin goes back to the board.
    func deferred(_ ticket: Admission.Ticket, _ change: (inout Board) -> [Effect]) {
        operations.withLock { $0[ticket] = nil }
        advance { $0.left(ticket, isShared: false, change) }
    }
}
