import DarkroomBoard
import DarkroomCore
import Synchronization

/// The flags by which the operations of a batch learn that it was cancelled.
final class Cancellations: Sendable {
    private let flags = Mutex<[BatchKey: CancellationFlag]>([:])

    /// The flag of a batch, the same one until the batch leaves the board.
    func flag(of key: BatchKey) -> CancellationFlag {
        flags.withLock { flags in
            if let flag = flags[key] { return flag }
            let flag = CancellationFlag()
            flags[key] = flag
            return flag
        }
    }

    /// The batch has left the board. Its operations, if there are any, keep their flag.
    func drop(_ key: BatchKey) { flags.withLock { $0[key] = nil } }
}
