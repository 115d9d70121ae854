/// How often and how long a receiver is called.
package struct NotificationPolicy: Sendable, Equatable {
    /// The calls for one end; 0 for no limit.
    package var tries = 10
    /// The seconds for one call.
    package var timeout = 60.0
    /// The pause after the first failed call, in seconds; each further one is twice as long.
    package var retryDelay = 1.0
    /// After a signal, the seconds in which a running call may end by itself.
    package var stopTime = 30.0

    package init() {}

    /// The longest pause between two calls for one end, in seconds, unless the first one is longer.
    package static let longestPause = 300.0
    /// The longest pause that a receiver may ask for, in seconds.
    static let longestRetryAfter = 3600.0

    /// The seconds until the next call.
    package func pause(afterTries tries: Int, retryAfter: Double?) -> Double {
        let pause = retryDelay * Double(1 << max(0, min(tries - 1, 32)))
        return max(
            min(pause, max(Self.longestPause, retryDelay)),
            min(retryAfter ?? 0, Self.longestRetryAfter))
    }

    package func isOver(afterTries tries: Int) -> Bool { self.tries > 0 && tries >= self.tries }
}
