import Foundation
import Glibc

package enum HumanText {
    /// A time in one word, rounded down, in the units of the settings: `45s`, `12min`, `3h`, `9d`.
    package static func age(_ seconds: Double) -> String {
        let whole = seconds.isFinite ? max(0, seconds) : 0
        switch whole {
        case ..<60: return "\(Int(whole))s"
        case ..<3600: return "\(Int(whole / 60))min"
        case ..<172_800: return "\(Int(whole / 3600))h"
        default: return "\(Int(clamping: whole / 86400))d"
        }
    }

    /// A time that is estimated, so not more exact than it can be: `5 s`, `40 s`, `3 min`, `2 h 10 min`.
    package static func estimate(_ seconds: Double) -> String {
        let seconds = min(max(0, seconds.isFinite ? seconds : 0), 1e9)
        if seconds < 10 { return "\(Int(seconds.rounded(.up))) s" }
        if seconds < 57.5 { return "\(Int((seconds / 5).rounded()) * 5) s" }
        if seconds < 3570 { return "\(Int((seconds / 60).rounded())) min" }
        let minutes = Int((seconds / 600).rounded()) * 10
        if minutes >= 2880 { return "\(minutes / 1440) days" }
        return minutes % 60 == 0 ? "\(minutes / 60) h" : "\(minutes / 60) h \(minutes % 60) min"
    }

    /// `512 bytes`, `1.2 KiB`, `34 MiB`.
    package static func bytes(_ count: Double) -> String {
        let names = Units.binary
        var amount = count.isFinite ? max(0, count) : 0
        var unit = 0
        // 1023.96 KiB would be shown as 1024 KiB.
        while amount >= (unit == 0 ? 1024 : 1023.5), unit < names.count - 1 {
            amount /= 1024
            unit += 1
        }
        if unit == 0 { return amount == 1 ? "1 byte" : "\(Int(amount)) bytes" }
        return "\(digits(amount)) \(names[unit])"
    }

    /// A number of images in a second: `0.04`, `3.2`, `120`.
    package static func rate(_ value: Double) -> String {
        let value = value.isFinite ? max(0, value) : 0
        if value > 0, value < 0.995 { return "\((value * 100).rounded() / 100)" }
        return digits(value)
    }

    /// One decimal below ten, none above.
    private static func digits(_ value: Double) -> String {
        let tenths = (value * 10).rounded() / 10
        return tenths < 10 ? "\(tenths)" : "\(Int(clamping: value.rounded()))"
    }

    /// A time of the spool's files in the user's time zone: `2026-11-21 09:00:00`. The text itself if it is not a time.
    package static func time(_ timestamp: String, in zone: TimeZone) -> String {
        guard let date = Clock.date(timestamp) else { return timestamp.visible }
        let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: zone)
        return date.formatted(style.year().month().day().time(includingFractionalSeconds: false))
    }

    /// The name of a user; the number if the system does not know it.
    package static func user(_ uid: UInt32?) -> String {
        guard let uid else { return "-" }
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16 << 10) { buffer in
            guard let room = buffer.baseAddress,
                getpwuid_r(uid, &entry, room, buffer.count, &found) == 0,
                found != nil, let name = entry.pw_name
            else { return "\(uid)" }
            return String(cString: name).visible
        }
    }

    /// The name of the user that runs a process.
    package static func owner(ofProcess process: Int32) -> String? {
        stat(path: "/proc/\(process)").map { user($0.st_uid) }
    }
}
