import DarkroomCore

/// Whether and when a failed download is retried.
///
/// The wait before attempt n + 1 is random, between 0 and `delay`·2^(n − 1) or `longestDelay`, whichever is less
/// (exponential back-off with full jitter), so that many downloads that failed together are not repeated together. A
/// server's `Retry-After` is added, because it is the shortest permitted wait.
package struct DownloadRetryPolicy: Sendable, Equatable {
    /// Attempts after the first one.
    package var retries = 4
    /// In seconds, like the next ones.
    package var delay = 1.0
    package var longestDelay = 60.0
    /// If a server asks for a longer wait, the download fails.
    package var longestRetryAfter = 600.0

    /// The default of the configuration.
    package static let standard = DownloadRetryPolicy()

    package enum Verdict: Equatable {
        /// It is retried after these seconds.
        case again(after: Double)
        /// It is not retried. The failure contains the reason for this.
        case final(Failure)
    }

    /// - Parameters:
    ///   - retryAfter: the wait that the server requests, in seconds.
    ///   - attempts: the number of attempts that have ended, including this one.
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
        // The exponent is limited. Otherwise the value would become infinite long before the last attempt.
        var bound = delay
        for _ in 1..<max(attempts, 1) where bound < longestDelay { bound *= 2 }
        return .again(after: max(retryAfter ?? 0, 0) + min(bound, longestDelay) * jitter)
    }

    /// Whether the download waits for a server that requests this time, in seconds.
    package func mayWait(_ retryAfter: Double?) -> Bool { (retryAfter ?? 0) <= longestRetryAfter }

    /// Seconds as a text for users: `1.3 s`, `42 s`.
    package static func text(_ seconds: Double) -> String {
        if seconds >= 10 { return "\(Int(clamping: seconds.rounded())) s" }
        return "\((seconds * 10).rounded() / 10) s"
    }
}
