import DarkroomCore
import DarkroomSpool

/// When a download that has failed is retried, if ever.
///
/// The wait before attempt n + 1 is random, between 0 and `delay`·2^(n − 1) or `longestDelay`, whichever is less
/// (exponential back-off with full jitter), so that many downloads that failed together do not come back
/// together. A server's `Retry-After` comes on top, for it says how long to wait at least.
package struct BackOff: Sendable, Equatable {
    /// Attempts after the first one.
    package var retries = 4
    /// In seconds, like what follows.
    package var delay = 1.0
    package var longestDelay = 60.0
    /// A server that asks for more than this is not waited for.
    package var longestRetryAfter = 600.0

    package init(
        retries: Int = 4, delay: Double = 1.0, longestDelay: Double = 60.0,
        longestRetryAfter: Double = 600.0
    ) {
        self.retries = retries
        self.delay = delay
        self.longestDelay = longestDelay
        self.longestRetryAfter = longestRetryAfter
    }

    package enum Verdict: Equatable {
        /// In so many seconds.
        case again(after: Double)
        /// Never: with this failure, which says why nothing more is tried.
        case final(Failure)
    }

    /// - Parameters:
    ///   - retryAfter: what the server asked for, in seconds.
    ///   - attempts: those that have ended, this one included.
    ///   - jitter: a random number from 0 to 1.
    package func verdict(
        on failure: Failure, retryAfter: Double?, attempts: Int, jitter: Double
    ) -> Verdict {
        guard failure.isTransient, retries > 0 else { return .final(failure) }
        var last = failure
        guard attempts <= retries else {
            last.message += "; tried \(attempts) times"
            return .final(last)
        }
        guard mayWait(retryAfter) else {
            last.message +=
                "; the server asks for a pause of \(Self.text(retryAfter ?? 0)), more than the "
                + "\(Quantity.text(seconds: longestRetryAfter)) of downloads.retryAfterMax"
            return .final(last)
        }
        // The power is bounded, for it would be infinite long before the attempts end.
        var bound = delay
        for _ in 1..<max(attempts, 1) where bound < longestDelay { bound *= 2 }
        return .again(after: max(retryAfter ?? 0, 0) + min(bound, longestDelay) * jitter)
    }

    /// Whether a server that asks for so many seconds gets them.
    package func mayWait(_ retryAfter: Double?) -> Bool { (retryAfter ?? 0) <= longestRetryAfter }

    /// Seconds for people: `1.3 s`, `42 s`.
    package static func text(_ seconds: Double) -> String {
        if seconds >= 10 { return "\(Int(clamping: seconds.rounded())) s" }
        return "\((seconds * 10).rounded() / 10) s"
    }
}
