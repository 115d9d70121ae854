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

    /// The time of day, in seconds since 1970.
    package static var wall: Double { seconds(of: CLOCK_REALTIME) }

    /// Seconds since the machine was started, those in which it was suspended included. Nobody sets this clock.
    package static var uptime: Double { seconds(of: CLOCK_BOOTTIME) }

    /// The time of day, as far as nobody has put it ahead since this was first asked for, which is the daemon's start.
    package static var steady: Double { start.time(wall: wall, uptime: uptime) }

    private static let start = SteadyClock(wall: wall, uptime: uptime)

    private static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Now in UTC, as RFC 3339 with milliseconds: `2026-11-21T08:00:00.123Z`.
    package static var timestamp: String { timestamp(.now) }

    package static func timestamp(_ date: Date) -> String { date.formatted(style) }

    /// The moment that a timestamp of this form means.
    package static func date(_ timestamp: String) -> Date? { try? style.parse(timestamp) }

    /// What lies between two such moments; nil where one is missing or none, or the clock was set back in between.
    package static func microseconds(from start: String?, to end: String?) -> UInt64? {
        guard let start = start.flatMap(date), let end = end.flatMap(date), start <= end
        else { return nil }
        return UInt64(clamping: (end.timeIntervalSince(start) * 1e6).rounded())
    }

    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
