/// Decides which records of one kind and level are sent individually, and sums up the others.
///
/// A thousand manifests that arrive at once would otherwise write several thousand records. Ten thousand manifests
/// would reach the journal's rate limit for a service, after which it drops records. So of each kind, the first 200
/// records are sent individually, then 10 per second. The others are collected and sent as one record, which has the ID
/// of each batch in a field of its own. So a query for one batch finds that record too.
///
/// A value without clocks: callers pass moments, in nanoseconds of the monotonic clock.
struct RecordThrottle: Sendable {
    /// The number of records that are sent individually after a pause.
    static let size = 200.0
    static let perSecond = 10.0
    /// The maximum number of batches in one record; the journal allows at most 1024 fields.
    static let batchesAtOnce = 256
    /// How long collected records wait before they are sent, in nanoseconds.
    static let interval: UInt64 = 10_000_000_000
    /// The maximum number of different reasons in a summary; the others are counted together.
    private static let reasonsAtOnce = 200

    /// The records that were not sent individually.
    struct Rest: Sendable, Equatable {
        var records = 0
        /// Each batch once, in the order of their first records.
        var batches: [String] = []
        /// The number of records for each error code or state.
        var reasons: [String: Int] = [:]
        /// The sum of the images that the records count.
        var images = 0
        var failed = 0
        /// When the first of the records arrived.
        var since: UInt64 = 0
        fileprivate var known: Set<FileName> = []
    }

    struct Arrival: Sendable {
        var batch: String?
        var reason: String?
        var images = 0
        var failed = 0
    }

    enum Verdict: Sendable, Equatable {
        case tell
        case collected
        /// It is the first collected record; the summary is due after `interval`.
        case collectedFirst
        /// One record cannot contain more: the summary is due now.
        case full
    }

    private var allowance = Self.size
    private var last: UInt64 = 0
    private var rest = Rest()

    mutating func take(_ arrival: Arrival, at now: UInt64) -> Verdict {
        let seconds = now > last ? Double(now - last) / 1e9 : 0
        allowance = last == 0 ? Self.size : min(Self.size, allowance + seconds * Self.perSecond)
        last = now
        // A new record does not overtake collected ones.
        if rest.records == 0, allowance >= 1 {
            allowance -= 1
            return .tell
        }
        let isFirst = rest.records == 0
        if isFirst { rest.since = now }
        add(arrival)
        if rest.batches.count >= Self.batchesAtOnce { return .full }
        return isFirst ? .collectedFirst : .collected
    }

    private mutating func add(_ arrival: Arrival) {
        rest.records += 1
        rest.images += arrival.images
        rest.failed += arrival.failed
        if let reason = arrival.reason,
            rest.reasons.count < Self.reasonsAtOnce || rest.reasons[reason] != nil
        {
            rest.reasons[reason, default: 0] += 1
        }
        if let batch = arrival.batch, rest.known.insert(FileName(batch)).inserted {
            rest.batches.append(batch)
        }
    }

    /// Returns the collected records and clears them; nil if there are none.
    mutating func takeRest() -> Rest? {
        defer { rest = Rest() }
        return rest.records > 0 ? rest : nil
    }
}
