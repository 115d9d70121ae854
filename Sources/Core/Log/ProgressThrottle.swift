/// Limits the records of each batch in work, so that a large batch is not logged image by image.
///
/// A value without clocks, like `RecordThrottle`.
package struct ProgressThrottle: Sendable {
    /// The number of failed images of one batch that are logged individually.
    package static let failures = 20
    /// The time between two progress records of a batch, in nanoseconds. A batch that takes less time has none.
    static let interval: UInt64 = 60_000_000_000
    /// The maximum number of remembered batches. There are never more in work, but the end of a batch may not be
    /// reported.
    static let capacity = 65_536

    private struct Progress {
        var failures = 0
        var notBefore: UInt64
        /// The number of images that had ended at the last progress record.
        var ended = 0
    }

    package enum Failure: Sendable, Equatable {
        case tell
        /// The failure is logged, with a remark that further ones are only counted.
        case tellLast
        case count
    }

    private var batches: [FileName: Progress] = [:]

    package mutating func begun(_ batch: String, at now: UInt64) {
        if batches.count >= Self.capacity { batches = [:] }
        batches[FileName(batch), default: Progress(notBefore: 0)].notBefore = now + Self.interval
    }

    package mutating func failed(_ batch: String, at now: UInt64) -> Failure {
        let name = FileName(batch)
        if batches[name] == nil { begun(batch, at: now) }
        let count = (batches[name]?.failures ?? 0) + 1
        batches[name]?.failures = count
        return count < Self.failures ? .tell : count == Self.failures ? .tellLast : .count
    }

    /// Whether a progress record is due, when `ended` of the batch's images have ended.
    package mutating func progressed(_ batch: String, ended: Int, at now: UInt64) -> Bool {
        guard var progress = batches[FileName(batch)], progress.notBefore <= now,
            progress.ended != ended
        else { return false }
        progress.notBefore = now + Self.interval
        progress.ended = ended
        batches[FileName(batch)] = progress
        return true
    }

    package mutating func ended(_ batch: String) { batches[FileName(batch)] = nil }

    var count: Int { batches.count }
}
