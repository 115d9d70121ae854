/// Tells which records of one kind and level are sent one by one, and sums up the others.
///
/// A thousand manifests dropped at once would otherwise write several thousand records, and ten thousand would
/// run into the journal's limit of a service, beyond which it throws records away. So of each kind the first 200
/// are told, and 10 a second for as long as they come; what is more is collected, and told in one record that
/// has the ID of each batch as a field of its own. A query for one batch finds it that way too.
///
/// A value without clocks: moments are given, in nanoseconds of the monotonic clock.
struct Burst: Sendable {
    /// Records told one by one after a silence.
    static let size = 200.0
    static let perSecond = 10.0
    /// So many batches are told of in one record; the journal takes at most 1024 fields.
    static let batchesAtOnce = 256
    /// How long what was collected waits to be told, in nanoseconds.
    static let interval: UInt64 = 10_000_000_000
    /// Reasons told apart in a summary, the rest being counted together.
    private static let reasonsAtOnce = 200

    /// What was not told one by one.
    struct Rest: Sendable, Equatable {
        var records = 0
        /// Each once, in the order of their first records.
        var batches: [String] = []
        /// How many there are of each code or state.
        var reasons: [String: Int] = [:]
        /// The sum of what the records counted.
        var images = 0
        var failed = 0
        /// When the first of them came.
        var since: UInt64 = 0
        fileprivate var known: Set<FileName> = []
    }

    /// A record that came.
    struct Arrival: Sendable {
        var batch: String?
        var reason: String?
        var images = 0
        var failed = 0
    }

    enum Verdict: Sendable, Equatable {
        case tell
        case collected
        /// It is the first that was collected; the sum is to be told after `interval`.
        case collectedFirst
        /// There is as much as one record holds: the sum is to be told now.
        case full
    }

    private var allowance = Self.size
    private var last: UInt64 = 0
    private var rest = Rest()

    mutating func take(_ arrival: Arrival, at now: UInt64) -> Verdict {
        let seconds = now > last ? Double(now - last) / 1e9 : 0
        allowance = last == 0 ? Self.size : min(Self.size, allowance + seconds * Self.perSecond)
        last = now
        // What comes while something is kept back does not overtake it.
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

    /// Gives what has been collected, and forgets it; nil where that is nothing.
    mutating func takeRest() -> Rest? {
        defer { rest = Rest() }
        return rest.records > 0 ? rest : nil
    }
}

/// What has been told of each batch in work, so that a large one is not told of image by image.
///
/// A value without clocks, as above.
package struct ProgressThrottle: Sendable {
    /// Failed images of one batch told one by one.
    package static let failures = 20
    /// Between two words on a batch's progress, in nanoseconds; a batch that takes less has none.
    static let interval: UInt64 = 60_000_000_000
    /// Batches remembered. There are no more in work, but for those that nobody has told the end of.
    static let capacity = 65_536

    private struct Story {
        var failures = 0
        var notBefore: UInt64
        /// Images that had ended at the last word.
        var ended = 0
    }

    package enum Failure: Sendable, Equatable {
        case tell
        /// And then that further ones are only counted.
        case tellLast
        case count
    }

    private var stories: [FileName: Story] = [:]

    package mutating func begun(_ batch: String, at now: UInt64) {
        if stories.count >= Self.capacity { stories = [:] }
        stories[FileName(batch), default: Story(notBefore: 0)].notBefore = now + Self.interval
    }

    package mutating func failed(_ batch: String, at now: UInt64) -> Failure {
        let name = FileName(batch)
        if stories[name] == nil { begun(batch, at: now) }
        let count = (stories[name]?.failures ?? 0) + 1
        stories[name]?.failures = count
        return count < Self.failures ? .tell : count == Self.failures ? .tellLast : .count
    }

    /// Whether a word on the progress is due, `ended` of the batch's images having ended.
    package mutating func progressed(_ batch: String, ended: Int, at now: UInt64) -> Bool {
        guard var story = stories[FileName(batch)], story.notBefore <= now, story.ended != ended
        else { return false }
        story.notBefore = now + Self.interval
        story.ended = ended
        stories[FileName(batch)] = story
        return true
    }

    package mutating func ended(_ batch: String) { stories[FileName(batch)] = nil }

    /// How many batches are remembered.
    var count: Int { stories.count }
}
