import Dispatch
import Foundation
import Synchronization

/// The queues of the filters, one for each place, of one operation at a time each.
///
/// Each has a thread of its own as soon as it needs one. Operations of a single queue would share Dispatch's pool, which
/// has one thread for each core: where slow filters, or helpers of a picture (`Cores.lend`), have these, nothing else
/// begins, whatever place it was given.
final class FilterLanes: Sendable {
    private struct State: Sendable {
        var lanes: [FilterLane] = []
        var isSuspended = false
    }

    private let state = Mutex(State())

    func add(_ operation: Operation, to lane: Int) {
        let queue = state.withLock { state in
            while state.lanes.count <= lane {
                let new = FilterLane(number: state.lanes.count)
                new.isSuspended = state.isSuspended
                state.lanes.append(new)
            }
            return state.lanes[lane]
        }
        queue.addOperation(operation)
    }

    /// What runs goes on to its end.
    func setSuspended(_ isSuspended: Bool) {
        state.withLock { state in
            state.isSuspended = isSuspended
            for lane in state.lanes { lane.isSuspended = isSuspended }
        }
    }
}

/// Sendable, because nothing of it changes but what the superclass guards.
private final class FilterLane: OperationQueue, @unchecked Sendable {
    /// The superclass does not own it. Only for a serial queue does Dispatch make a thread where all others are busy.
    private let serial: DispatchQueue

    init(number: Int) {
        // The quality of service, from which that of the downloads differs, decides the thread's niceness.
        serial = DispatchQueue(label: "darkroom.filters.\(number)", qos: .default)
        super.init()
        name = serial.label
        maxConcurrentOperationCount = 1
        underlyingQueue = serial
    }
}
