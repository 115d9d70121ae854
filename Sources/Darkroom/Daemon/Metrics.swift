import Glibc
import Synchronization

/// What the daemon counts since its start, for Prometheus.
///
/// Counting costs an addition of an atomic number, without a lock; only failures, which have a code each, and
/// the inbox, which changes twice a second at most, are behind locks. `MetricsText` writes it all down.
package final class Metrics: Sendable {
    /// The stages of an image whose times are told.
    enum Stage: String, CaseIterable {
        /// From its batch's beginning to its own, of each image that was begun. In whole milliseconds.
        case waiting
        /// The transfer of a source, or the look at a local one.
        case downloading
        case filtering
        /// From an image's end to its being journaled and, if it has an output, visible in the outbox.
        case publishing
    }

    /// Acceptable manifests taken out of the inbox, and unfinished ones taken over from a former daemon.
    let accepted = Counter()
    let resumed = Counter()
    let downloadedBytes = Counter()
    /// Downloads that are tried once more.
    let retries = Counter()
    let writtenBytes = Counter()
    let overflows = Counter()
    let scanFound = Counter()
    let storageFailures = Counter()
    let expiredEntries = Counter()
    let expiredBytes = Counter()
    /// Sources taken from the cache without asking, those that the server has confirmed, and those that it did not
    /// have.
    let cacheHits = Counter()
    let cacheRevalidations = Counter()
    let cacheMisses = Counter()
    let cacheStored = Counter()
    let cacheStoredBytes = Counter()
    let cacheEvictions = Counter()
    private let manifests = BatchState.allCases.map { _ in Counter() }
    private let images = ImageState.allCases.map { _ in Counter() }
    private let stages = Stage.allCases.map { _ in Histogram() }
    private let failures = Mutex<[String: Int]>([:])
    private let downloadFailures = Mutex<[String: Int]>([:])
    private let inbox = Mutex<InboxSummary>(InboxSummary())
    private let uploads = Mutex<StaleUploads>(StaleUploads())

    /// What the last report of the inbox said.
    struct InboxSummary: Sendable {
        var isClaiming = true
        var counts: [String: Int] = [:]
    }

    package init() {}

    /// Codes of failures told apart; there are some fifty, and a mistake is not to fill the memory.
    private static let failureCodes = 200

    // MARK: Counting

    /// A manifest has been answered for good.
    func ended(_ status: Status) {
        manifests[BatchState.allCases.firstIndex(of: status.state) ?? 0].add(1)
        // Those that ended while they waited are told of nowhere else, so all are counted here.
        images(.cancelled).add(status.counts.cancelled)
    }

    /// An image has ended otherwise than by being cancelled before it began.
    func ended(_ image: ImageStatus) {
        if image.attempts > 0 {
            let milliseconds = UInt64(clamping: image.milliseconds.waited)
            stage(.waiting).add(nanoseconds: milliseconds.saturatingMultiply(1_000_000))
        }
        guard image.state != .cancelled else { return }
        images(image.state).add(1)
        if let output = image.output { writtenBytes.add(output.bytes) }
        if let code = image.error?.code { failures.withLock { Self.count(code, &$0) } }
    }

    /// A try to download a source has failed, be it the last one or not.
    func downloadFailed(_ code: String) {
        downloadFailures.withLock { Self.count(code, &$0) }
    }

    private static func count(_ code: String, _ counts: inout [String: Int]) {
        let isKnown = counts[code] != nil || counts.count < failureCodes
        counts[isKnown ? code : "other", default: 0] += 1
    }

    /// A stage began at `begin`, by the monotonic clock, and has ended now.
    func ended(_ stage: Stage, since begin: UInt64) {
        self.stage(stage).add(nanoseconds: Clock.nanoseconds - begin)
    }

    func setInbox(_ report: InboxReport) {
        inbox.withLock { $0 = InboxSummary(isClaiming: report.claiming, counts: report.counts) }
    }

    func setUploads(_ stale: StaleUploads) { uploads.withLock { $0 = stale } }

    // MARK: Reading

    func manifests(_ state: BatchState) -> Counter {
        manifests[BatchState.allCases.firstIndex(of: state) ?? 0]
    }

    func images(_ state: ImageState) -> Counter {
        images[ImageState.allCases.firstIndex(of: state) ?? 0]
    }

    func stage(_ stage: Stage) -> Histogram {
        stages[Stage.allCases.firstIndex(of: stage) ?? 0]
    }

    var failuresByCode: [String: Int] { failures.withLock { $0 } }

    /// Of tries to download.
    var downloadFailuresByCode: [String: Int] { downloadFailures.withLock { $0 } }
    var inboxSummary: InboxSummary { inbox.withLock { $0 } }
    var staleUploads: StaleUploads { uploads.withLock { $0 } }
}

/// A number that only grows.
final class Counter: Sendable {
    private let number = Atomic(0)

    /// At the largest number it stays, for sizes of files are among what is counted.
    func add(_ amount: Int) {
        var value = number.load(ordering: .relaxed)
        while true {
            let (isDone, found) = number.weakCompareExchange(
                expected: value, desired: value.saturatingAdd(amount), ordering: .relaxed)
            if isDone { return }
            value = found
        }
    }

    var value: Int { number.load(ordering: .relaxed) }
}

/// How many times of a stage were at most so long, and how long all of them together.
final class Histogram: Sendable {
    /// The upper bounds of the buckets, in seconds and as they are written: small pictures take less than a
    /// millisecond, a slow transfer minutes.
    static let bounds: [(seconds: Double, text: String)] = [
        (0.001, "0.001"), (0.003, "0.003"), (0.01, "0.01"), (0.03, "0.03"), (0.1, "0.1"),
        (0.3, "0.3"), (1, "1"), (3, "3"), (10, "10"), (30, "30"), (100, "100"), (300, "300"),
        (1000, "1000"),
    ]

    /// One for each bound and one for what is above.
    private let buckets = (0...bounds.count).map { _ in Counter() }
    /// In nanoseconds.
    private let sum = Counter()

    func add(nanoseconds: UInt64) {
        let seconds = Double(nanoseconds) / 1e9
        let index = Self.bounds.firstIndex { seconds <= $0.seconds } ?? Self.bounds.count
        buckets[index].add(1)
        sum.add(Int(clamping: nanoseconds))
    }

    var seconds: Double { Double(sum.value) / 1e9 }

    /// How many were at most as long as each bound, and how many there are.
    var cumulative: [Int] {
        var total = 0
        return buckets.map { bucket in
            total += bucket.value
            return total
        }
    }
}
