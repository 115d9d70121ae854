import Dispatch
import Synchronization

/// Checks that the serial queues make progress: each gets an empty block at intervals, which runs when the queue has
/// finished its present work.
package final class DispatchQueueWatch: Sendable {
    private final class Probe: Sendable {
        let name: String
        let queue: DispatchQueue
        /// When it was asked, in nanoseconds; 0 if it has answered.
        let askedAt = Atomic<UInt64>(0)

        init(_ name: String, _ queue: DispatchQueue) {
            self.name = name
            self.queue = queue
        }
    }

    private let probes = Mutex<[Probe]>([])

    package init() {}

    /// Watches a queue. `name` is its name in messages.
    package func add(_ queue: DispatchQueue, _ name: String) {
        probes.withLock { $0.append(Probe(name, queue)) }
    }

    /// Asks the queues that have answered before.
    package func ask(now: UInt64) {
        for probe in probes.withLock({ $0 }) where probe.askedAt.load(ordering: .acquiring) == 0 {
            probe.askedAt.store(max(now, 1), ordering: .releasing)
            probe.queue.async { probe.askedAt.store(0, ordering: .releasing) }
        }
    }

    /// The queues that have not answered yet.
    package func still(now: UInt64) -> [StillWork] {
        probes.withLock { $0 }.compactMap { probe in
            let asked = probe.askedAt.load(ordering: .acquiring)
            guard asked > 0 else { return nil }
            return StillWork(
                work: WatchedWork(probe.name), patience: .files,
                seconds: Double(now - min(asked, now)) / 1e9)
        }
    }
}
