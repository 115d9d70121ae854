import Synchronization

/// Whether operations may begin.
///
/// A suspended OperationQueue still starts what it has handed to Dispatch before, so each operation asks
/// here as its first act, and goes back to the board when it may not begin.
package final class Gate: Sendable {
    private let suspended = Atomic(false)
    private let stopping = Atomic(false)
    private let aborting = Atomic(false)

    package init() {}

    package var mayStart: Bool { !isSuspended && !isStopping && !isAborting }

    /// SIGUSR1 came, and no SIGUSR2 since.
    package var isSuspended: Bool { suspended.load(ordering: .acquiring) }

    package func setSuspended(_ value: Bool) { suspended.store(value, ordering: .releasing) }

    /// The daemon is on its way out; what runs may finish.
    package var isStopping: Bool { stopping.load(ordering: .acquiring) }

    package func stop() { stopping.store(true, ordering: .releasing) }

    /// The time for stopping is over: what runs ends at its next step and is done again after the next
    /// start.
    package var isAborting: Bool { aborting.load(ordering: .acquiring) }

    package func abort() { aborting.store(true, ordering: .releasing) }
}
