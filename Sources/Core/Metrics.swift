import Glibc
import Synchronization

/// What the daemon counts since its start, for Prometheus.
///
/// Counting costs an addition of an atomic number, without a lock; only failures, which have a code each, and
/// the inbox, which changes twice a second at most, are behind locks. `MetricsText` writes it all down.
package final class Metrics: Sendable {
    /// The stages of an image whose times are told.
    package enum Stage: String, CaseIterable {
        /// From its batch's beginning to its own, of each image that was begun. In whole milliseconds.
        case waiting
        /// The transfer of a source, or the look at a local one.
        case downloading
        case filtering
        /// From an image's end to its being journaled and, if it has an output, visible in the outbox.
        case publishing
    }

    /// Acceptable manifests taken out of the inbox, and unfinished ones taken over from a former daemon.
    package let accepted = Counter()
    package let resumed = Counter()
    package let downloadedBytes = Counter()
    /// Downloads that are tried once more.
    package let retries = Counter()
    package let writtenBytes = Counter()
    package let overflows = Counter()
    package let scanFound = Counter()
    package let storageFailures = Counter()
    package let expiredEntries = Counter()
    package let expiredBytes = Counter()
    /// Sources taken from the cache without asking, those that the server has confirmed, and those that it did not
    /// have.
    package let cacheHits = Counter()
    package let cacheRevalidations = Counter()
    package let cacheMisses = Counter()
    package let cacheStored = Counter()
    package let cacheStoredBytes = Counter()
    package let cacheEvictions = Counter()
    /// Manifests answered for good, by state.
    package let manifests = LabelledCounts()
    /// Images that have ended, by state.
    package let images = LabelledCounts()
    private let stages = Stage.allCases.map { _ in Histogram() }
    /// Failed images, by the error's code.
    package let failures = LabelledCounts()
    /// Attempts to download that have failed, be it the last one or not, by the error's code.
    package let downloadFailures = LabelledCounts()
    private let inbox = Mutex<InboxSummary>(InboxSummary())
    private let uploads = Mutex<UploadsSummary>(UploadsSummary())

    /// What the last report of the inbox said.
    package struct InboxSummary: Sendable {
        package var isClaiming = true
        package var counts: [String: Int] = [:]
    }

    /// What was left in `tmp/`.
    package struct UploadsSummary: Sendable {
        package var count = 0
        package var bytes = 0
    }

    package init() {}

    // MARK: Counting

    /// A stage began at `begin`, by the monotonic clock, and has ended now.
    package func ended(_ stage: Stage, since begin: UInt64) {
        self.stage(stage).add(nanoseconds: Clock.nanoseconds - begin)
    }

    package func setInbox(isClaiming: Bool, counts: [String: Int]) {
        inbox.withLock { $0 = InboxSummary(isClaiming: isClaiming, counts: counts) }
    }

    package func setUploads(count: Int, bytes: Int) {
        uploads.withLock { $0 = UploadsSummary(count: count, bytes: bytes) }
    }

    // MARK: Reading

    package func stage(_ stage: Stage) -> Histogram {
        stages[Stage.allCases.firstIndex(of: stage) ?? 0]
    }

    package var inboxSummary: InboxSummary { inbox.withLock { $0 } }
    package var staleUploads: UploadsSummary { uploads.withLock { $0 } }
}

/// A number that only grows.
package final class Counter: Sendable {
    private let number = Atomic(0)

    /// At the largest number it stays, for sizes of files are among what is counted.
    package func add(_ amount: Int) {
        var value = number.load(ordering: .relaxed)
        while true {
            let (isDone, found) = number.weakCompareExchange(
                expected: value, desired: value.saturatingAdd(amount), ordering: .relaxed)
            if isDone { return }
            value = found
        }
    }

    package var value: Int { number.load(ordering: .relaxed) }
}

/// How many times of a stage were at most so long, and how long all of them together.
package final class Histogram: Sendable {
    /// The upper bounds of the buckets, in seconds and as they are written: small pictures take less than a
    /// millisecond, a slow transfer minutes.
    package static let bounds: [(seconds: Double, text: String)] = [
        (0.001, "0.001"), (0.003, "0.003"), (0.01, "0.01"), (0.03, "0.03"), (0.1, "0.1"),
        (0.3, "0.3"), (1, "1"), (3, "3"), (10, "10"), (30, "30"), (100, "100"), (300, "300"),
        (1000, "1000"),
    ]

    /// One for each bound and one for what is above.
    private let buckets = (0...bounds.count).map { _ in Counter() }
    /// In nanoseconds.
    private let sum = Counter()

    package func add(nanoseconds: UInt64) {
        let seconds = Double(nanoseconds) / 1e9
        let index = Self.bounds.firstIndex { seconds <= $0.seconds } ?? Self.bounds.count
        buckets[index].add(1)
        sum.add(Int(clamping: nanoseconds))
    }

    package var seconds: Double { Double(sum.value) / 1e9 }

    /// How many were at most as long as each bound, and how many there are.
    package var cumulative: [Int] {
        var total = 0
        return buckets.map { bucket in
            total += bucket.value
            return total
        }
    }
}

/// A count for each of a few labels, which are not known beforehand.
package final class LabelledCounts: Sendable {
    /// Labels told apart; there are some fifty codes of errors, and a mistake is not to fill the memory.
    private static let most = 200

    private let counts = Mutex<[String: Int]>([:])

    package func add(_ label: String, _ amount: Int = 1) {
        counts.withLock { counts in
            let isKnown = counts[label] != nil || counts.count < Self.most
            counts[isKnown ? label : "other", default: 0] += amount
        }
    }

    package subscript(label: String) -> Int { counts.withLock { $0[label] ?? 0 } }

    package var all: [String: Int] { counts.withLock { $0 } }
}
