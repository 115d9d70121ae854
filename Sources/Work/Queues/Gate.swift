import DarkroomAnswer
import DarkroomCore
import Synchronization

/// Whether operations may begin.
///
/// A suspended OperationQueue still starts operations that it has passed to Dispatch before. Therefore each operation
/// checks the gate first. If it may not begin, it returns its work to the board.
package final class Gate: Sendable {
    private let suspended = Atomic(false)
    private let stopping = Atomic(false)
    private let aborting = Atomic(false)
    private let moments = Mutex(Moments())

    /// The times, RFC 3339, at which these states began; nil for a state that does not hold.
    private struct Moments: Sendable {
        var suspended: String?
        var stopping: String?
    }

    private let stopped: String

    /// - Parameter stopped: the reason why nothing begins after `stop`, for people.
    package init(
        stopped: String = "darkroomd was stopped; the work continues after its next start"
    ) {
        self.stopped = stopped
    }

    package var mayStart: Bool { !isSuspended && !isStopping && !isAborting }

    /// Whether SIGUSR1 has arrived, and no SIGUSR2 since.
    package var isSuspended: Bool { suspended.load(ordering: .acquiring) }

    package func setSuspended(_ value: Bool) {
        moments.withLock { $0.suspended = value ? $0.suspended ?? Clock.timestamp : nil }
        suspended.store(value, ordering: .releasing)
    }

    /// Whether the daemon is stopping. Running operations may finish.
    package var isStopping: Bool { stopping.load(ordering: .acquiring) }

    package func stop() {
        moments.withLock { $0.stopping = $0.stopping ?? Clock.timestamp }
        stopping.store(true, ordering: .releasing)
    }

    /// The reason why nothing begins, for the statuses of waiting batches; nil if work may begin.
    var waiting: Status.Waiting? {
        let moments = moments.withLock { $0 }
        if let since = moments.stopping {
            return Status.Waiting(.stopped, message: stopped, since: since)
        }
        return moments.suspended.map { since in
            Status.Waiting(
                .paused, message: "darkroomd is paused; no work begins until darkroom resume",
                since: since)
        }
    }

    /// Whether the time for stopping is over. Running operations end at their next step and are repeated after the next
    /// start.
    package var isAborting: Bool { aborting.load(ordering: .acquiring) }

    package func abort() { aborting.store(true, ordering: .releasing) }
}
