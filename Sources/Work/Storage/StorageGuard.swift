import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Dispatch
import Synchronization
import SystemPackage

/// A part of the daemon that waits while the spool accepts no writes.
package protocol StorageClient: AnyObject, Sendable {
    /// Begins one piece of the waiting work, whose result is reported to the guard by `writeRefused`, `writeSucceeded`
    /// or `probeInconclusive`.
    ///
    /// - Returns: false if none waits.
    func tryStorage() -> Bool
    /// Whether the spool accepts writes has changed, or the reason has.
    func storageChanged()
}

/// The only place that knows whether the spool accepts writes (`StorageBreaker` has the table).
///
/// A part of the daemon that meets a refused write reports it here, keeps its work and waits. At the time of an
/// attempt, one piece of work may begin, from the first client that has any: results that only need to be written come
/// before work that still has to be done, and new manifests come last. When the spool accepts writes again, each client
/// continues with everything that it keeps.
///
/// | client         | keeps                                                                 | in                 |
/// |----------------|-----------------------------------------------------------------------|--------------------|
/// | `Committer`    | ended images, and commands that have taken effect, for the journal;   | `RefusedWrites`    |
/// |                | last statuses                                                         |                    |
/// | `StatusKeeper` | statuses of batches in work, batches to be parked; not tried          | lists              |
/// | `Scheduler`    | commands for the statuses of waiting batches, reopenings              | `RefusedWrites`    |
/// |                | work that has not begun, images for which there was no space          | `StorageBacklog`   |
/// | `Intake`       | claims without receipt, folders to be recovered, control files that   | `IntakeRefusals`   |
/// |                | have taken effect and must be removed                                 |                    |
///
/// A stop leaves all of it to the next start, which finds it in the inbox, in `active` and in the journals.
package final class StorageGuard: Sendable {
    /// The reason why the spool accepts no writes.
    package struct Report: Sendable, Equatable {
        package let code: String
        package let message: String
        /// When it began, RFC 3339.
        package let since: String
        /// The time between two attempts; nil if nothing is tried before an administrator requests it.
        package let secondsBetweenAttempts: Int?

        package var waiting: Status.Waiting {
            Status.Waiting(code: code, message: message, since: since)
        }
    }

    /// The wait before a write is repeated if the reason of its failure concerns one file or batch only, in seconds. An
    /// example is a folder in the outbox that does not permit writing. Such a failure has no `StorageFailure` and is not
    /// reported to the guard: the rest of the spool works, nothing else waits, and no event reports the end of the
    /// reason. So the write is repeated at this interval.
    package static let singleFileRetry = 5.0

    private struct State: Sendable {
        var breaker = StorageBreaker()
        var clients: [WeakClient] = []
        var next = PlannedTick()
        var isStopped = false
    }

    private let queue = DispatchQueue(label: "darkroom.storage", qos: .userInitiated)
    private let state = Mutex(State())
    /// A copy of the breaker's result, for frequent checks.
    private let works = Atomic(true)
    private let log: EventLog
    private let time: TimeSource
    /// Called with a failure that does not pass by itself; nil to wait until somebody has removed its cause.
    private let onObstacle: (@Sendable (Failure) -> Void)?

    /// - Parameter onObstacle: called when a write has failed because the disk is full, because the disk is broken, or
    ///   because of a file or folder of the batch. Nil for a daemon, which repeats the write as long as it runs.
    package init(
        log: EventLog, time: TimeSource = .system,
        onObstacle: (@Sendable (Failure) -> Void)? = nil
    ) {
        self.log = log
        self.time = time
        self.onObstacle = onObstacle
    }

    /// Whether work that writes into the spool may begin.
    package var mayWork: Bool { works.load(ordering: .acquiring) }

    /// The reason why the spool accepts no writes; nil if it accepts them.
    package var report: Report? {
        state.withLock { state in
            guard !state.breaker.mayWork, let trouble = state.breaker.trouble else { return nil }
            let isFailed = state.breaker.phase == .failed
            return Report(
                code: trouble.failure.code, message: trouble.failure.message, since: trouble.since,
                secondsBetweenAttempts: isFailed ? nil : Int(state.breaker.delay / 1_000_000_000))
        }
    }

    /// Adds a client. The first one added is the first to try.
    package func add(_ client: any StorageClient) {
        state.withLock { $0.clients.append(WeakClient(client: client)) }
    }

    // MARK: Reports to the guard

    /// A write into the spool was refused.
    package func writeRefused(_ failure: Failure, batch: String? = nil) {
        // Too many open files or too little memory pass when other work ends.
        if failure.storageFailure == .full || failure.storageFailure == .lasting {
            onObstacle?(failure)
        }
        change(batch) { $0.writeRefused(failure, now: time.now, time: Clock.timestamp) }
    }

    /// One of the spool's own files was refused: whatever the cause, the spool is not in order.
    package func writeRefused(_ error: FileError, batch: String? = nil) {
        var failure = Failure(error)
        if failure.storageFailure == nil {
            failure.storageFailure = error.errno == .ioError ? .lasting : .scarce
        }
        writeRefused(failure, batch: batch)
    }

    /// A write was refused for a reason that concerns only one file or batch. It is repeated at an interval.
    func singleWriteRefused(_ error: FileError) { onObstacle?(Failure(error)) }

    /// The attempt was successful.
    package func writeSucceeded() { alter { $0.writeSucceeded(now: time.now) } }

    /// The attempt has ended before any write.
    package func probeInconclusive() { alter { $0.probeInconclusive(now: time.now) } }

    /// An administrator says that the disk works again.
    func tryAgain() { alter { $0.tryAgain(now: time.now) } }

    /// Tries nothing any more: waiting work is left to the next start.
    func stop() { state.withLock { $0.isStopped = true } }

    // MARK: Consequences

    /// A change that nobody is told of.
    private func alter(_ body: (inout StorageBreaker) -> Void) {
        change { breaker in
            body(&breaker)
            return nil
        }
    }

    private func change(
        _ batch: String? = nil,
        _ body: (inout StorageBreaker) -> StorageBreaker.Notice?
    ) {
        let (notice, trouble, hasChanged, tick) = state.withLock { state in
            let before = (state.breaker.phase, state.breaker.trouble)
            let notice = body(&state.breaker)
            let trouble = state.breaker.trouble
            state.breaker.forgetTrouble()
            works.store(state.breaker.mayWork, ordering: .releasing)
            let hasChanged = before.0 != state.breaker.phase || before.1 != state.breaker.trouble
            return (notice, trouble, hasChanged, Self.requestTick(&state))
        }
        if let notice, let trouble { say(notice, trouble, batch) }
        if hasChanged { queue.async { [self] in tellClients() } }
        if let tick { schedule(tick) }
    }

    private static func requestTick(_ state: inout State) -> PlannedTick.Tick? {
        let time = state.breaker.deadline
        guard !state.isStopped, time != state.next.time else { return nil }
        return state.next.plan(at: time)
    }

    private func schedule(_ tick: PlannedTick.Tick) {
        // At least a millisecond later, so that attempts without a result do not follow each other at full speed.
        time.call(at: max(tick.time, time.now + 1_000_000), on: queue) { [weak self] in
            self?.arrived(tick)
        }
    }

    private func arrived(_ tick: PlannedTick.Tick) {
        guard state.withLock({ !$0.isStopped && $0.next.hasCome(tick) }) else { return }
        change { $0.tick(now: time.now) }
        let isTrying = state.withLock { state in
            if case .trying = state.breaker.phase { true } else { false }
        }
        guard isTrying else { return }
        // There is nothing to try, so the problem is over.
        if !clients.contains(where: { $0.tryStorage() }) { writeSucceeded() }
    }

    private var clients: [any StorageClient] { state.withLock { $0.clients.compactMap(\.client) } }

    private func tellClients() {
        for client in clients { client.storageChanged() }
    }

    private func say(
        _ notice: StorageBreaker.Notice, _ trouble: StorageBreaker.Trouble, _ batch: String?
    ) {
        switch notice {
        case .began: log.storageWaits(trouble.failure, batch: batch)
        case .lasts: log.storageStillWaits(trouble.failure, since: trouble.since)
        case .over: log.storageWorksAgain(trouble.failure, since: trouble.since)
        case .failed: log.storageLost(trouble.failure, batch: batch)
        }
    }
}

/// A weak reference to a client: clients own the guard.
private struct WeakClient: @unchecked Sendable {
    // @unchecked: any thread may read a weak reference, and nothing changes it.
    weak var client: (any StorageClient)?
}
