import Dispatch
import Foundation
import Synchronization

/// The queues of the filters: one for each place. Each runs one operation at a time.
///
/// Each has its own thread as soon as it needs one. The operations of a single queue would share Dispatch's pool, which
/// has one thread for each core. If slow filters or helpers of a picture (`Cores.lend`) used these threads, no other
/// filter could begin, even with a place.
final class FilterQueues: Sendable {
    private struct State: Sendable {
        var queues: [FilterQueue] = []
        var isSuspended = false
    }

    private let state = Mutex(State())

    func add(_ operation: Operation, to queue: Int) {
        let queue = state.withLock { state in
            while state.queues.count <= queue {
                let new = FilterQueue(number: state.queues.count)
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

/// Sendable, because its own variables are constant and the superclass guards the rest.
private final class FilterQueue: OperationQueue, @unchecked Sendable {
    /// The superclass does not retain it. Only for a serial queue does Dispatch create a thread if all others are busy.
    private let serial: DispatchQueue

    init(number: Int) {
        // The quality of service decides the thread's niceness. It differs from that of the downloads.
        serial = DispatchQueue(label: "darkroom.filters.\(number)", qos: .default)
        super.init()
        name = serial.label
        maxConcurrentOperationCount = 1
        underlyingQueue = serial
    }
}
