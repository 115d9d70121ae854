import CDarkroomSystemd
import DarkroomCore
import Synchronization

/// Tells the service manager what the daemon is doing (sd_notify). Without one it does nothing.
package final class Notifier: Sendable {
    private let lastStatus = Mutex("")

    package init() {}

    package func ready() { send("READY=1") }

    /// Begins a reload; `ready()` ends it.
    package func reloading() {
        send("RELOADING=1\nMONOTONIC_USEC=\(Clock.nanoseconds / 1000)")
    }

    /// Tells of a step of the start, and asks for as much time again as a start may take: a spool may be large and its disk
    /// slow.
    package func starting(_ step: String) {
        status("Starting: \(step)")
        extendTimeout(seconds: 90)
    }

    package func stopping() { send("STOPPING=1") }

    /// Asks for more time than the unit's own to stop or start.
    package func extendTimeout(seconds: Double) {
        send("EXTEND_TIMEOUT_USEC=\(Int(clamping: seconds * 1e6))")
    }

    package func watchdog() { send("WATCHDOG=1") }

    /// What `systemctl status` shows; sent only when it changes.
    package func status(_ text: String) {
        let isNew = lastStatus.withLock { last in
            defer { last = text }
            return last != text
        }
        if isNew { send("STATUS=\(text)") }
    }

    /// Seconds within which the service manager wants to hear of us, or nil where it does not. A time without end in its
    /// variable is a year, for timers count nanoseconds.
    package static var watchdogInterval: Double? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return min(Double(microseconds) / 1e6, 365 * 86400)
    }

    private func send(_ state: String) { _ = sd_notify(0, state) }
}
