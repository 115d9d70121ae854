import Foundation
import Glibc

/// Times for people and for measuring.
package enum Clock {
    /// Nanoseconds of the monotonic clock, for intervals.
    package static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Now in UTC, as RFC 3339 with milliseconds: `2026-11-21T08:00:00.123Z`.
    package static var timestamp: String {
        Date.now.formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
