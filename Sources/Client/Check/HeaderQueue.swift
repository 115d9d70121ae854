import DarkroomCore
import DarkroomFetch
import Dispatch
import Synchronization

/// Reads the headers of many sources, several at once, and passes on the findings in the order of the sources.
struct HeaderQueue {
    /// How many headers are read at once.
    static let width = 8
    /// How far the reading may be ahead of a source that does not answer. This limits the memory.
    private static let lead = 16 * width

    let reader: HeaderReader

    private final class Arrivals: Sendable {
        private let findings = Mutex<[Int: SourceFinding]>([:])
        private let signal = DispatchSemaphore(value: 0)

        func add(_ finding: SourceFinding, _ place: Int) {
            findings.withLock { $0[place] = finding }
            signal.signal()
        }

        func wait() { signal.wait() }

        func poll() -> Bool { signal.wait(timeout: .now()) == .success }

        func take(_ place: Int) -> SourceFinding? {
            findings.withLock { $0.removeValue(forKey: place) }
        }
    }

    /// Passes on the findings of the sources 0, 1, …, `count - 1`.
    ///
    /// - Parameters:
    ///   - source: the source with this number; nil if it is not to be read.
    ///   - pass: called on this thread; the finding is nil if the source was not read.
    func read(
        _ count: Int, source: (Int) -> SourcePage?, pass: (Int, SourceFinding?) throws -> Void
    ) rethrows {
        let arrivals = Arrivals()
        var begun: [Bool] = []
        var (first, running) = (0, 0)
        // `begun` says of each source from `first` on whether it is read.
        var next = 0
        while first < count {
            while arrivals.poll() { running -= 1 }
            while next < count, running < Self.width, next - first < Self.lead {
                if let source = source(next) {
                    running += 1
                    let place = next
                    reader.read(source.source, page: source.page) { arrivals.add($0, place) }
                    begun.append(true)
                } else {
                    begun.append(false)
                }
                next += 1
            }
            let finding = arrivals.take(first)
            // If none has begun, those that have just been taken are about to free their places.
            if finding == nil, begun.first != false {
                arrivals.wait()
                running -= 1
                continue
            }
            begun.removeFirst()
            try pass(first, finding)
            first += 1
        }
    }
}
