import Dispatch
import Synchronization

/// Checks that the serial queues make progress: each gets an empty block at intervals, which runs when the queue has
/// finished its present work.
package final class DispatchQueueWatch: Sendable {
    private struct Probe {
        let name: String
        let queue: DispatchQueue
        /// When it was asked, in nanoseconds; nil if it has answered.
        var askedAt: UInt64?
    }

    private let probes = Mutex<[Probe]>([])

    package init() {}

    /// Watches a queue. `name` is its name in messages.
    package func add(_ queue: DispatchQueue, _ name: String) {
        probes.withLock { $0.append(Probe(name: name, queue: queue)) }
    }

    /// Asks the queues that have answered before.
    package func ask(now: UInt64) {
        let asked = probes.withLock { probes in
            probes.indices.filter { probes[$0].askedAt == nil }.map { index in
                probes[index].askedAt = now
                return (index, probes[index].queue)
            }
        }
        for (index, queue) in asked {
            queue.async { [self] in probes.withLock { $0[index].askedAt = nil } }
        }
    }

    /// The queues that have not answered yet.
    package func still(now: UInt64) -> [StillWork] {
        probes.withLock { $0 }.compactMap { probe in
            probe.askedAt.map { asked in
                StillWork(
                    work: WatchedWork(probe.name), patience: .files,
                    seconds: Double(now - min(asked, now)) / 1e9)
            }
        }
    }
}
