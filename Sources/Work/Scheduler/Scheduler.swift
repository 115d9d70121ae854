import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomSpool
import Dispatch
import Synchronization

/// Turns the board's requests into operations on the downloads queue and the filters' queues, and reports the results
/// to the board.
///
/// The ownership: the board, under its lock, owns the state. The queues own their operations until they end, and let a
/// cancellation find them by their tickets. No operation depends on another one: a download's end makes the board
/// request the filter, so each operation can run when it is created.
package final class Scheduler: Sendable {
    let spool: Spool
    package let gate: Gate
    /// The work of operations in threads. Transfers have their own time limits.
    let heartbeat = Heartbeat()
    /// All other work with a queue.
    package let queueWatch = DispatchQueueWatch()
    let runningOperations = Atomic(0)
    let log: EventLog
    let engine: TransferEngine
    package let storage: StorageGuard
    /// nil without a cache. Then each source is fetched separately.
    package let cache: CacheStore<CacheRecord>?
    /// nil without a store of results. Then each picture is made.
    package let results: ResultStore?
    /// Every step of every image changes it.
    let board: UnfairMutex<Board>
    private let currentSettings: Mutex<BatchSettings>
    let queues = WorkQueues()
    /// The bytes of small local sources that wait for their filters.
    let foundContents: FoundContents
    let committer: Committer
    let deliveries: Deliveries
    let originals: OriginalMoves
    let statusKeeper: StatusKeeper
    let time: TimeSource
    /// Checked by everything that reads manifests.
    let stopped = CancellationFlag()
    /// The queue on which waiting batches are read and their statuses are changed, one at a time.
    let preparation = DispatchQueue(label: "darkroom.preparation", qos: .userInitiated)
    /// The statuses of waiting batches, and the reopenings of finished ones, that the spool has refused.
    let refusedWrites: RefusedWrites
    /// The queue on which ended transfers are processed.
    let fetched = DispatchQueue(label: "darkroom.fetched", qos: .userInitiated)
    /// The queue for the times of next attempts and the ends of hosts' pauses.
    let alarms = DispatchQueue(label: "darkroom.alarms", qos: .userInitiated)
    /// The queue on which the sizes of local sources are found out.
    let sizes = DispatchQueue(label: "darkroom.sizes", qos: .utility)
    let running = DispatchGroup()
    /// Seen by the operations of a batch.
    let cancellations = Cancellations()
    /// Called when a batch has left, and after any progress.
    let listeners = Mutex<Listeners>(Listeners())

    /// Batches of an earlier daemon that could not be continued, for reports.
    let unresumed = Mutex<[QueueReport.Unresumed]>([])

    struct Listeners: Sendable {
        var room: @Sendable () -> Void = {}
        var progress: @Sendable () -> Void = {}
    }

    package init(
        spool: Spool, settings: BatchSettings, engine: TransferEngine,
        cache: CacheStore<CacheRecord>?, results: ResultStore? = nil, storage: StorageGuard,
        log: EventLog, time: TimeSource = .system
    ) {
        self.spool = spool
        gate =
            spool.run == nil
            ? Gate() : Gate(stopped: "darkroom run was stopped; run it again to continue")
        self.cache = cache
        self.results = results
        self.log = log
        self.engine = engine
        self.time = time
        foundContents = FoundContents(time: time)
        self.storage = storage
        statusKeeper = StatusKeeper(
            interval: settings.statusInterval, storage: storage, log: log, time: time)
        committer = Committer(
            durably: settings.isDurable, storage: storage, progress: statusKeeper.progress,
            log: log, time: time)
        deliveries = Deliveries(committer: committer, log: log, time: time)
        originals = OriginalMoves(spool: spool, committer: committer, log: log, time: time)
        board = UnfairMutex(Board(settings.board))
        refusedWrites = RefusedWrites(queue: preparation, storage: storage)
        currentSettings = Mutex(settings)
        setWidths(settings)
        queueWatch.add(committer.queue, "the committer")
        queueWatch.add(statusKeeper.queue, "the writer of status files")
        queueWatch.add(statusKeeper.progress.queue, "the writer of progress files")
        queueWatch.add(preparation, "the reader of waiting batches")
        queueWatch.add(fetched, "the processing of ended downloads")
        storage.add(committer.backlog)
        storage.add(statusKeeper)
        storage.add(self)
    }

    func folders(of id: String) -> BatchFolders { BatchFolders(spool: spool, id: id) }

    var settings: BatchSettings { currentSettings.withLock { $0 } }

    /// Applies new settings: the widths of the queues at once, the rest with the next operation.
    package func update(_ settings: BatchSettings) {
        currentSettings.withLock { $0 = settings }
        cache?.setLimit(settings.cacheBytes)
        results?.setLimit(settings.resultBytes)
        setWidths(settings)
        statusKeeper.setInterval(settings.statusInterval)
    }

    private func setWidths(_ settings: BatchSettings) {
        queues.setWidth(downloads: settings.mostDownloads)
        let keyOfSource = cacheKeys(settings)
        advance { board in
            board.cacheKey = keyOfSource
            board.setLimits(settings.board)
        }
    }

    // MARK: Batches

    /// Takes a batch with its receipt into work, with the commands that arrived before it. They take effect before any
    /// of its images begins.
    ///
    /// - Parameter recorded: called with each command that takes effect, when a restart would remember it.
    /// - Returns: the result of each command.
    @discardableResult
    package func accept(
        _ prepared: PreparedBatch, _ commands: [ControlRecord] = [],
        recorded: @escaping @Sendable (ControlRecord) -> Void = { _ in }
    ) -> [ControlOutcome] {
        var outcomes: [ControlOutcome] = []
        advance(recorded: recorded) { board in
            board.accept(prepared)
            for command in commands {
                outcomes.append(
                    board.obey(
                        prepared.id, command,
                        isPrivileged: spool.isPrivileged(command.uid)))
            }
        }
        return outcomes
    }

    /// Takes a batch into work, together with the commands that wait for it in the inbox.
    package func accept(_ prepared: PreparedBatch, commandsOf inbox: some WaitingCommands) {
        let requests = inbox.takeCommands(for: prepared)
        FaultPoint.batchHandedOver.pass()
        let outcomes = accept(prepared, requests.map(\.record)) { [weak inbox] record in
            for request in requests where request.record == record { inbox?.recorded(request) }
        }
        for (request, outcome) in zip(requests, outcomes) { inbox.settle(request, outcome) }
    }

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

    /// The reason why another batch of this owner may not wait here, see `WaitingBatches.crowd`.
    package func crowd(of owner: UInt32?, coming: Int = 0) -> WaitingBatches.Crowd? {
        let limit = settings.maximumWaiting
        return board.withLock {
            $0.waitingBatches.crowd(of: owner, limit: limit, coming: coming)
        }
    }

    /// Whether another claimed batch of this owner may wait here.
    package func hasRoom(for owner: UInt32?) -> Bool { crowd(of: owner) == nil }

    /// The work that has not moved for long.
    package func still(now: UInt64) -> [StillWork] {
        heartbeat.still(now: now) + queueWatch.still(now: now)
    }
}
