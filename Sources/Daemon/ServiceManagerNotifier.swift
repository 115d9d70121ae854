import CDarkroomSystemd
import DarkroomCore
import Synchronization

/// Tells the service manager what the daemon does (sd_notify). Without a service manager it does nothing.
package final class ServiceManagerNotifier: Sendable {
    private let lastStatus = Mutex("")

    package init() {}

    package func ready() { send("READY=1") }

    /// Begins a reload. `ready()` ends it.
    package func reloading() { send("RELOADING=1\nMONOTONIC_USEC=\(Clock.nanoseconds / 1000)") }

    /// Reports a step of the start and asks for the full start timeout again: a spool may be large and its disk slow.
    package func starting(_ step: String) {
        status("Starting: \(step)")
        extendTimeout(seconds: 90)
    }

    package func stopping() { send("STOPPING=1") }

    /// Asks for more time than the unit allows for a stop or a start.
    package func extendTimeout(seconds: Double) {
        send("EXTEND_TIMEOUT_USEC=\(Int(clamping: seconds * 1e6))")
    }

    package func watchdog() { send("WATCHDOG=1") }

    /// The text that `systemctl status` shows. It is sent only if it has changed.
    package func status(_ text: String) {
        let isNew = lastStatus.withLock { exchange(&$0, with: text) != text }
        if isNew { send("STATUS=\(text)") }
    }

    /// The service manager expects a message within this many seconds; nil if it expects none. An infinite time in its
    /// variable becomes a year, because timers count nanoseconds.
    package static var watchdogInterval: Double? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return min(Double(microseconds) / 1e6, 365 * 86400)
    }

    private func send(_ state: String) { _ = sd_notify(0, state) }
}
