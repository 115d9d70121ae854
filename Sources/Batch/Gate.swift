import DarkroomCore
import DarkroomSpool
import Synchronization

/// Whether operations may begin.
///
/// A suspended OperationQueue still starts what it has handed to Dispatch before, so each operation asks
/// here as its first act, and goes back to the board when it may not begin.
package final class Gate: Sendable {
    private let suspended = Atomic(false)
    private let stopping = Atomic(false)
    private let aborting = Atomic(false)
    private let moments = Mutex(Moments())

    /// Since when, RFC 3339; nil where it is not so.
    private struct Moments: Sendable {
        var suspended: String?
        var stopping: String?
    }

    package init() {}

    package var mayStart: Bool { !isSuspended && !isStopping && !isAborting }

    /// SIGUSR1 came, and no SIGUSR2 since.
    package var isSuspended: Bool { suspended.load(ordering: .acquiring) }

    package func setSuspended(_ value: Bool) {
        moments.withLock { $0.suspended = value ? $0.suspended ?? Clock.timestamp : nil }
        suspended.store(value, ordering: .releasing)
    }

    /// The daemon is on its way out; what runs may finish.
    package var isStopping: Bool { stopping.load(ordering: .acquiring) }

    package func stop() {
        moments.withLock { $0.stopping = $0.stopping ?? Clock.timestamp }
        stopping.store(true, ordering: .releasing)
    }

    /// Why nothing begins, for the statuses of what waits for that; nil where it may.
    var waiting: Status.Waiting? {
        let moments = moments.withLock { $0 }
        if let since = moments.stopping {
            return Status.Waiting(
                .stopped,
                message: "darkroomd was stopped; the work continues after its next start",
                since: since)
        }
        return moments.suspended.map { since in
            Status.Waiting(
                .paused, message: "darkroomd is paused; no work begins until it receives SIGUSR2",
                since: since)
        }
    }

    /// The time for stopping is over: what runs ends at its next step and is done again after the next
    /// start.
    package var isAborting: Bool { aborting.load(ordering: .acquiring) }

    package func abort() { aborting.store(true, ordering: .releasing) }
}
