import Foundation
import Glibc

package enum Clock {
    /// Nanoseconds of the monotonic clock, for intervals.
    package static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The time of day, in seconds since 1970.
    package static var wall: Double { seconds(of: CLOCK_REALTIME) }

    /// Seconds since the start of the machine, including suspended time. Nobody can set this clock.
    package static var uptime: Double { seconds(of: CLOCK_BOOTTIME) }

    /// The time of day, in seconds since 1970, unless someone has set it ahead since the first call, that is, since the
    /// daemon's start; such a change is ignored.
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

    package static func date(_ timestamp: String) -> Date? { try? style.parse(timestamp) }

    /// The microseconds between two timestamps; nil if one is missing or invalid, or if the clock was set back in
    /// between.
    package static func microseconds(from start: String?, to end: String?) -> UInt64? {
        guard let start = start.flatMap(date), let end = end.flatMap(date), start <= end
        else { return nil }
        return UInt64(clamping: (end.timeIntervalSince(start) * 1e6).rounded())
    }

    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
