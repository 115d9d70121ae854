import Foundation
import Synchronization

/// The queues of the filters: one for each place. Each runs one operation at a time.
///
/// Each has its own thread as soon as it needs one. The operations of a single queue would share Dispatch's pool, which
/// has one thread for each core. If slow filters or helpers of a picture (`Cores.lend`) used these threads, no other
/// filter could begin, even with a place.
final class FilterQueues: Sendable {
    private struct State: Sendable {
        var queues: [SerialQueue] = []
        var isSuspended = false
    }

    private let state = Mutex(State())

    func add(_ operation: Operation, to queue: Int) {
        let queue = state.withLock { state in
            while state.queues.count <= queue {
                // The quality of service differs from that of the downloads.
                let new = SerialQueue("darkroom.filters.\(state.queues.count)", qos: .default)
                new.isSuspended = state.isSuspended
                state.queues.append(new)
            }
            return state.queues[queue]
        }
        queue.addOperation(operation)
    }

    /// Running operations continue to their ends.
    func setSuspended(_ isSuspended: Bool) {
        state.withLock { state in
            state.isSuspended = isSuspended
            for queue in state.queues { queue.isSuspended = isSuspended }
        }
    }
}
