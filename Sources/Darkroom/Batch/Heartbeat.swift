import Synchronization

/// Shows whether a kind of work moves: how much of it runs, and when any of it last took a step.
///
/// The watchdog is fed from this: filters that hang, or a publisher that waits for a dead disk, take no
/// steps, and then the service manager hears nothing more.
package final class Heartbeat: Sendable {
    private let running = Atomic(0)
    private let lastStep = Atomic<UInt64>(0)

    package init() {}

    package func began() {
        running.add(1, ordering: .relaxed)
        step()
    }

    package func ended() {
        running.subtract(1, ordering: .relaxed)
        step()
    }

    /// A band has been filtered, a file written.
    package func step() { lastStep.store(Clock.nanoseconds, ordering: .relaxed) }

    private var count: Int { running.load(ordering: .relaxed) }

    /// Whether nothing runs, or something has taken a step within the last `seconds`.
    package func isAlive(within seconds: Double) -> Bool {
        guard count > 0 else { return true }
        let last = lastStep.load(ordering: .relaxed)
        return Double(Clock.nanoseconds &- last) < seconds * 1e9
    }
}
