import DarkroomCore
import DequeModule
import Dispatch
import Synchronization

/// Writes that the spool has refused to one station, until the `StorageGuard` has them repeated.
///
/// They are repeated on the station's queue, one after the other, up to the first that is refused again. That one goes
/// behind those of other batches, so that a large write does not keep small ones from a disk with little space. A write
/// is either kept here or being carried out, so it is not carried out twice at a time.
final class RefusedWrites: Sendable {
    enum Result: Sendable {
        case succeeded
        /// The write has reported this to the guard. It is kept.
        case refused
        /// Like `refused`; the rest is kept instead.
        case refusedPartly(Write)
        /// It has ended without showing whether the spool accepts writes. For example, it is not needed any more.
        case undecided
    }

    struct Write: Sendable {
        /// The writes of a batch are repeated in their order; nil for one that belongs to no order.
        var batch: FileName?
        /// Called instead if nothing is kept any more.
        var leave: @Sendable () -> Void = {}
        let carryOut: @Sendable () -> Result
    }

    private struct State: Sendable {
        var writes: Deque<Write> = []
        /// Functions that are called when nothing of the batch is kept any more.
        var afterwards: [(batch: FileName, body: @Sendable () -> Void)] = []
        var isLeaving = false

        func holds(_ batch: FileName) -> Bool { writes.contains { $0.batch == batch } }
    }

    private let queue: DispatchQueue
    private let storage: StorageGuard
    private let state = Mutex(State())

    /// - Parameter queue: where the station writes; serial.
    init(queue: DispatchQueue, storage: StorageGuard) {
        self.queue = queue
        self.storage = storage
    }

    /// Carries out a write, and keeps it if it is refused. Call this on the queue.
    func attempt(_ body: @escaping @Sendable () -> Result) {
        let write = Write(carryOut: body)
        if let rest = write.refusedRest(of: write.carryOut()) { keep(rest) }
    }

    func keep(_ write: Write) { keep(write, isRefusedAgain: false) }

    private func keep(_ write: Write, isRefusedAgain: Bool) {
        let isLeaving = state.withLock { state in
            if state.isLeaving { return true }
            let next = isRefusedAgain ? state.writes.firstIndex { write.isBefore($0) } : nil
            state.writes.insert(write, at: next ?? state.writes.endIndex)
            return false
        }
        if isLeaving { return write.leave() }
        // It may accept them since the refusal.
        storageChanged()
    }

    func holds(_ batch: FileName) -> Bool { state.withLock { $0.holds(batch) } }

    /// Calls a function when no write of this batch is kept any more. Call this on the queue.
    func afterwards(of batch: FileName, _ body: @escaping @Sendable () -> Void) {
        let isKept = state.withLock { state in
            guard state.holds(batch) else { return false }
            state.afterwards.append((batch, body))
            return true
        }
        if !isKept { body() }
    }

    /// Gives up the kept writes, and keeps none from now on. Call this on the queue.
    func leave() {
        let writes = state.withLock { state in
            state.isLeaving = true
            defer { (state.writes, state.afterwards) = ([], []) }
            return state.writes
        }
        for write in writes { write.leave() }
    }

    private func take() -> Write? { state.withLock { $0.writes.popFirst() } }

    /// Repeats kept writes, up to the first that is refused again. The spool may accept no writes any more when the
    /// queue comes to this.
    ///
    /// - Parameter isAttempt: whether also the first that succeeds is the last: it shows that the spool accepts writes.
    private func repeatKept(isAttempt: Bool) {
        defer { callDue() }
        while isAttempt || storage.mayWork, let write = take() {
            let result = write.carryOut()
            if let rest = write.refusedRest(of: result) { return keep(rest, isRefusedAgain: true) }
            guard case .succeeded = result else { continue }
            storage.writeSucceeded()
            if isAttempt { return }
        }
        if isAttempt { storage.probeInconclusive() }
    }

    private func callDue() {
        let bodies = state.withLock { state in
            let due = state.afterwards.filter { !state.holds($0.batch) }
            state.afterwards = state.afterwards.filter { state.holds($0.batch) }
            return due.map(\.body)
        }
        for body in bodies { body() }
    }
}

extension RefusedWrites.Write {
    /// What is kept after this result; nil for nothing.
    fileprivate func refusedRest(of result: RefusedWrites.Result) -> Self? {
        switch result {
        case .succeeded, .undecided: nil
        case .refused: self
        case .refusedPartly(let rest): rest
        }
    }

    /// Whether it must be repeated before another one.
    fileprivate func isBefore(_ other: Self) -> Bool { batch != nil && batch == other.batch }
}

extension RefusedWrites: StorageClient {
    func tryStorage() -> Bool {
        guard state.withLock({ !$0.writes.isEmpty }) else { return false }
        queue.async { [self] in repeatKept(isAttempt: true) }
        return true
    }

    func storageChanged() {
        guard storage.mayWork, state.withLock({ !$0.writes.isEmpty }) else { return }
        queue.async { [self] in repeatKept(isAttempt: false) }
    }
}
