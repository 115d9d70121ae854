import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool
import Dispatch
import Foundation
import Synchronization

/// Turns the board's requests into operations on the downloads queue and the filters' queues, and reports the results
/// to the board.
///
/// The ownership: the board, under its lock, owns the state. The queues own their operations until they end.
/// `operations` lets a cancellation find them by their tickets. No operation depends on another one: a download's end
/// makes the board request the filter, so each operation can run when it is created.
package final class Scheduler: Sendable {
    let spool: Spool
    package let gate = Gate()
    /// The work of operations in threads. Transfers have their own time limits.
    let heartbeat = Heartbeat()
    /// All other work with a queue.
    package let queueWatch = DispatchQueueWatch()
    private let runningOperations = Atomic(0)
    let log: EventLog
    let engine: TransferEngine
    /// Whether the spool accepts writes.
    package let storage: StorageGuard
    /// nil without a cache. Then each source is fetched separately.
    package let cache: CacheStore?
    let board: Mutex<Board>
    private let currentSettings: Mutex<BatchSettings>
    private let operations = Mutex<[Admission.Ticket: Operation]>([:])
    let downloads = OperationQueue()
    let localLooks = OperationQueue()
    let filters = FilterQueues()
    let publisher: Publisher
    let statusKeeper: StatusKeeper
    let time: TimeSource
    /// Checked by everything that reads manifests.
    let stopped = CancellationFlag()
    /// The queue on which waiting batches are read and their statuses are changed, one at a time.
    let preparation = DispatchQueue(label: "darkroom.preparation", qos: .userInitiated)
    /// The queue on which ended transfers are processed.
    let fetched = DispatchQueue(label: "darkroom.fetched", qos: .userInitiated)
    /// The queue for the times of next attempts and the ends of hosts' pauses.
    let alarms = DispatchQueue(label: "darkroom.alarms", qos: .userInitiated)
    private let running = DispatchGroup()
    /// Called when a batch has left, and after any progress.
    private let listeners = Mutex<Listeners>(Listeners())

    private struct Listeners: Sendable {
        var room: @Sendable () -> Void = {}
        var progress: @Sendable () -> Void = {}
    }

    /// - Parameters:
    ///   - board: a board without batches.
    ///   - cache: nil for no cache.
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
        // A queue's quality of service decides its threads' niceness only if it is set before its first use. The values
        // differ, so that waiting for the network never takes the filters' threads.
        downloads.qualityOfService = .utility
        localLooks.name = "darkroom.local"
        localLooks.qualityOfService = .utility
        setWidths(settings)
        queueWatch.add(publisher.queue, "the publisher")
        queueWatch.add(statusKeeper.queue, "the writer of status files")
        queueWatch.add(preparation, "the reader of waiting batches")
        queueWatch.add(fetched, "the processing of ended downloads")
        storage.add(publisher)
        storage.add(statusKeeper)
        storage.add(self)
    }

    var settings: BatchSettings { currentSettings.withLock { $0 } }

    /// Applies new settings: the widths of the queues at once, the rest with the next operation.
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
            board.retryPolicy = settings.retryPolicy
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

    /// The reason why another batch of this owner may not wait here; nil if it may.
    ///
    /// - Parameter coming: the number of batches that will arrive in addition.
    package func crowd(of owner: UInt32?, coming: Int = 0) -> WaitingBatches.Crowd? {
        let limit = settings.maximumWaiting
        return board.withLock {
            $0.waitingBatches.crowd(of: owner, limit: limit, coming: coming)
        }
    }

    /// Whether another claimed batch of this owner may wait here.
    package func hasRoom(for owner: UInt32?) -> Bool { crowd(of: owner) == nil }

    /// The number of running operations.
    package var runningCount: Int { runningOperations.load(ordering: .relaxed) }

    /// The work in progress, and the time since the last step of each.
    package func still(now: UInt64) -> [StillWork] {
        heartbeat.still(now: now) + queueWatch.still(now: now)
    }

    /// Images that have ended and are not in the outbox yet.
    package var publishingCount: Int { publisher.pendingCount }

    /// Hosts that have asked for a pause.
    package var pausedHostCount: Int {
        board.withLock { $0.admission.downloads.pausedCount(now: time.now) }
    }

    /// Downloads whose hosts accept no further one at the moment.
    package var waitingForHostCount: Int {
        board.withLock { $0.admission.downloads.waitingForHostCount }
    }

    /// The number of operations in the queues, including running ones, and of images that wait to be published.
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

    /// Lets no new work begin. Running work continues to its end.
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

    /// Lets no new work begin until the end.
    package func close() {
        downloads.isSuspended = true
        localLooks.isSuspended = true
        filters.setSuspended(true)
        gate.stop()
        stopped.set()
        storage.stop()
    }

    /// How long a stop finishes batches that have ended, in seconds. There may be thousands of them. Batches that are
    /// not finished get their answers after the next start.
    private static let finishing = 3.0

    /// Waits for running work for at most `seconds`, and then ends it at its next step. Transfers that no server has
    /// begun to answer end at once. Returns when all results have been written.
    ///
    /// - Parameter expired: called if the time was not sufficient, before any work is interrupted.
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
            // A transfer may have been about to begin when the queue was closed.
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

    /// Ends running work at its next step. It is repeated after the next start.
    package func abort() {
        gate.abort()
        for operation in operations.withLock({ Array($0.values) }) where operation.isExecuting {
            operation.cancel()
        }
    }

    // MARK: Effects

    /// Changes the board, gives out the free places, and carries out the board's requests.
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

    /// Changes the board, and carries out its requests.
    ///
    /// - Parameter admits: whether free places are given out. Ends and arrivals give them out, beginnings do not.
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
            // The admission has handled it.
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
            // If this fails, the file stays until the batch's end.
            try? folders.active().remove(BatchFile.pixels(image))
            FaultPoint.handOverRemoved.pass()
        case .recordCommand(let folders, let command):
            log.obeyed(id: folders.id, command)
            record(command, of: folders, recorded)
        case .amendStatus(let folders, let control, let commands, let continued):
            preparation.async { [self] in amendStatus(folders, control, commands, continued) }
        case .park(let key):
            // After its pending entries in the journal, because it will be read from there.
            guard let folders = board.withLock({ $0.batches[key]?.folders }) else { break }
            publisher.afterwards(of: FileName(folders.id)) { [self] in
                statusKeeper.park(key, self)
            }
        case .dropScratch(let key, let folders):
            // If it has been released since, its preparation follows this or has finished, and it is in work.
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
            // After its pending entries in the journal, for example a cancellation.
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

    /// Ends an image that was filtered again, in its turn among those that are recorded. It does not end within the
    /// call that requests it, because a chain of images may end with it.
    private func endAgain(_ key: BatchKey, _ index: Int, _ image: ImageStatus) {
        running.enter()
        publisher.queue.async { [self] in
            endedWell(.filter(key, image: index))
            advance { $0.imageEnded(key, index, image) }
            running.leave()
        }
    }

    // MARK: Operations

    /// Creates an operation, and puts it into its queue.
    private func start(_ start: Admission.Start) {
        let ticket = start.ticket
        switch ticket.work {
        case .download(let key, let source):
            guard let text = start.text else { return }
            let queue = start.isLocal ? localLooks : downloads
            queue.addOperation(
                prepared(downloadOperation(ticket, key, source, text), for: start))
        case .filter(let key, let image):
            guard let queue = start.queue else { return }
            let operation = BlockOperation { [self] in filter(ticket, key, image) }
            filters.add(prepared(operation, for: start), to: queue)
        }
    }

    private func prepared(_ operation: Operation, for start: Admission.Start) -> Operation {
        operation.name = start.request.work.name
        operation.queuePriority = start.request.priority.queuePriority
        operation.qualityOfService = start.request.quality.qualityOfService
        operations.withLock { $0[start.ticket] = operation }
        return operation
    }

    /// An operation's thread has begun. It may not do its work if the queues have been paused since, or if the spool
    /// accepts no writes.
    ///
    /// - Parameter key: for a download: its key in the cache; nil if nothing is cached.
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

    /// Begins a download; nil if nobody needs it any more.
    func downloadBegan(_ key: BatchKey, _ source: Int, isTransfer: Bool) -> DownloadJob? {
        let job = board.withLock { $0.downloadBegan(key, source, isTransfer: isTransfer) }
        if job != nil { statusKeeper.changed(key, self) }
        FaultPoint.downloadBegan.pass()
        return job
    }

    /// Work that began has ended. The board learns this before the daemon can conclude that nothing runs.
    ///
    /// - Parameter isShared: for a download: whether others can copy its content from the cache.
    func ended(
        _ ticket: Admission.Ticket, isShared: Bool = false, _ change: (inout Board) -> [Effect]
    ) {
        operations.withLock { $0[ticket] = nil }
        if case .download = ticket.work { FaultPoint.downloadEnded.pass() }
        advance { $0.left(ticket, isShared: isShared, change) }
        runningOperations.subtract(1, ordering: .relaxed)
        running.leave()
    }

    /// Returns work that was not allowed to begin to the board.
    func deferred(_ ticket: Admission.Ticket, _ change: (inout Board) -> [Effect]) {
        operations.withLock { $0[ticket] = nil }
        advance { $0.left(ticket, isShared: false, change) }
    }
}
