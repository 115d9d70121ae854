import Glibc
import Synchronization

/// What the daemon counts since its start, for Prometheus.
///
/// Counting adds to an atomic number, without a lock. Only failures, each with a code, and the inbox, which changes at
/// most twice a second, have locks. `MetricsText` writes all values.
package final class Metrics: Sendable {
    /// The stages of an image whose times are reported.
    package enum Stage: String, CaseIterable {
        /// From the start of its batch to its own start, for each image that has begun. In whole milliseconds.
        case waiting
        /// The transfer of a source, or the check of a local one.
        case downloading
        case filtering
        /// From the end of an image until it is journaled and, if it has an output, visible in the outbox.
        case publishing
    }

    /// Valid manifests taken from the inbox, and unfinished ones found at the start.
    package let accepted = Counter()
    package let resumed = Counter()
    package let downloadedBytes = Counter()
    package let retries = Counter()
    package let writtenBytes = Counter()
    package let overflows = Counter()
    package let scanFound = Counter()
    package let storageFailures = Counter()
    package let expiredEntries = Counter()
    package let expiredBytes = Counter()
    /// Lookups in the cache: used without a request, confirmed by the server, or missing.
    package let cacheHits = Counter()
    package let cacheRevalidations = Counter()
    package let cacheMisses = Counter()
    package let cacheStored = Counter()
    package let cacheStoredBytes = Counter()
    package let cacheEvictions = Counter()
    /// Images that the store of results had, and had not.
    package let resultHits = Counter()
    package let resultMisses = Counter()
    /// Bytes of outputs that were copied from it.
    package let resultsSavedBytes = Counter()
    package let resultsStored = Counter()
    package let resultsStoredBytes = Counter()
    package let resultEvictions = Counter()
    /// Manifests that have ended, by state.
    package let manifests = LabelledCounts()
    /// Images that have ended, by state.
    package let images = LabelledCounts()
    package let imagesWithWarnings = Counter()
    private let stages = Stage.allCases.map { _ in Histogram() }
    /// Failed images, by error code.
    package let failures = LabelledCounts()
    /// Failed download attempts, by error code, whether or not they are retried.
    package let downloadFailures = LabelledCounts()
    private let inbox = Mutex<InboxSummary>(InboxSummary())
    private let uploads = Mutex<UploadsSummary>(UploadsSummary())

    /// The content of the last inbox report.
    package struct InboxSummary: Sendable {
        package var isClaiming = true
        package var counts: [String: Int] = [:]
    }

    /// The files that were left in `tmp/`.
    package struct UploadsSummary: Sendable {
        package var count = 0
        package var bytes = 0
    }

    package init() {}

    // MARK: Counting

    /// Call this when a stage ends that began at `begin`, by the monotonic clock.
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

package final class Counter: Sendable {
    private let number = Atomic(0)

    package init() {}

    /// It stays at the largest number, because it also counts sizes of files.
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

/// Counts the durations of a stage by upper bounds, and sums them up.
package final class Histogram: Sendable {
    /// The upper bounds of the buckets, in seconds and as text: a small picture takes less than a millisecond, a slow
    /// transfer takes minutes.
    package static let bounds: [(seconds: Double, text: String)] = [
        (0.001, "0.001"), (0.003, "0.003"), (0.01, "0.01"), (0.03, "0.03"), (0.1, "0.1"),
        (0.3, "0.3"), (1, "1"), (3, "3"), (10, "10"), (30, "30"), (100, "100"), (300, "300"),
        (1000, "1000"),
    ]

    /// One for each bound, and one for larger values.
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

    /// For each bound, the number of durations that are at most as long; and the number of all.
    package var cumulative: [Int] {
        var total = 0
        return buckets.map { bucket in
            total += bucket.value
            return total
        }
    }
}

/// A count for each of a few labels that are not known beforehand.
package final class LabelledCounts: Sendable {
    /// The maximum number of labels. There are some fifty error codes, and a mistake must not fill the memory.
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
