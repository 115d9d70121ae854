import DequeModule
import Dispatch
import Synchronization

/// Writes that the spool has refused to one station, until the `StorageGuard` has them repeated.
///
/// They are repeated on the station's queue, one after the other, up to the first that is refused again. That one goes
/// behind the others, so that a large write does not keep small ones from a disk with little space. A write is either
/// kept here or being carried out, so it is not carried out twice at a time.
final class RefusedWrites: Sendable {
    enum Result: Sendable {
        case succeeded
        /// The write has reported this to the guard. It is kept.
        case refused
        /// It has ended without showing whether the spool accepts writes. For example, it is not needed any more.
        case undecided
    }

    typealias Write = @Sendable () -> Result

    private let queue: DispatchQueue
    private let storage: StorageGuard
    private let kept = Mutex<Deque<Write>>([])

    /// - Parameter queue: where the station writes; serial.
    init(queue: DispatchQueue, storage: StorageGuard) {
        self.queue = queue
        self.storage = storage
    }

    /// Carries out a write, and keeps it if it is refused. Call this on the queue.
    func attempt(_ write: @escaping Write) {
        if write() == .refused { keep(write) }
    }

    /// Keeps a write for the time when the spool accepts writes.
    func keep(_ write: @escaping Write) {
        kept.withLock { $0.append(write) }
        // It may accept them since the refusal.
        storageChanged()
    }

    private func take() -> Write? { kept.withLock { $0.popFirst() } }

    /// Repeats all kept writes, up to the first that is refused again. The spool may accept no writes any more when the
    /// queue comes to this.
    private func repeatAll() {
        while storage.mayWork, let write = take() {
            let result = write()
            if result == .refused { return keep(write) }
            if result == .succeeded { storage.writeSucceeded() }
        }
    }

    /// Repeats kept writes, up to the first that shows whether the spool accepts writes.
    private func repeatOne() {
        while let write = take() {
            switch write() {
            case .succeeded: return storage.writeSucceeded()
            case .refused: return keep(write)
            case .undecided: break
            }
        }
        storage.probeInconclusive()
    }
}

extension RefusedWrites: StorageClient {
    func tryStorage() -> Bool {
        guard kept.withLock({ !$0.isEmpty }) else { return false }
        queue.async { [self] in repeatOne() }
        return true
    }

    func storageChanged() {
        guard storage.mayWork, kept.withLock({ !$0.isEmpty }) else { return }
        queue.async { [self] in repeatAll() }
    }
}
