import DarkroomCore
import DarkroomSpool
import Dispatch
import Glibc

/// What the intake comes back to when time has passed.
extension Intake {
    /// How long after the moment that a file is looked at for, in nanoseconds: clocks tick.
    private static let moment: UInt64 = 1_000_000

    /// Does something at a moment, unless the intake has been stopped by then.
    func schedule(at moment: UInt64, _ body: @escaping @Sendable (Intake) -> Void) {
        time.call(at: moment, on: queue) { [weak self] in
            guard let self, !isStopped else { return }
            body(self)
        }
    }

    /// The same in so many seconds.
    func schedule(in seconds: Double, _ body: @escaping @Sendable (Intake) -> Void) {
        schedule(at: time.now.saturatingAdd(UInt64(clamping: seconds * 1e9)), body)
    }

    /// Scans now and then although events tell of everything, for events are hints.
    func rescanLater() {
        let seconds = settings.rescanInterval
        guard seconds > 0 else { return }
        schedule(in: seconds) { intake in
            intake.scan()
            intake.rescanLater()
        }
    }

    /// Looks again at what cannot be read or moved. No event tells when that has passed: a folder's
    /// permissions may have been changed, or another process have closed its files.
    func recheckLater() {
        guard !recheckIsSet else { return }
        recheckIsSet = true
        schedule(in: 10) { intake in
            intake.recheckIsSet = false
            intake.scan()
        }
    }

    func hasSettled(_ name: FileName, _ seconds: Double) -> Bool {
        // One that cannot be looked at now goes on settling, and is looked at again.
        guard settling.contains(name), let information = look(at: name) else { return false }
        return settling.hasSettled(
            name, FileIdentity(information), for: seconds, now: time.now)
    }

    /// Comes back to the files that settle, when the first of them may have, and to those that may have been linked.
    func setTimer(_ settle: Double) {
        // Those that wait for their turn are looked at then.
        if !settlingTimerIsSet, let first = settling.first(where: { !isQueued($0) }) {
            settlingTimerIsSet = true
            let settled = first.saturatingAdd(UInt64(clamping: settle * 1e9))
            schedule(at: settled.saturatingAdd(Self.moment)) { intake in
                intake.settlingTimerIsSet = false
                for name in intake.settling.names { intake.arrived(name, isWhole: false) }
                intake.drain()
            }
        }
        if !linkedTimerIsSet, let due = reporter.begun.due {
            linkedTimerIsSet = true
            schedule(at: due.saturatingAdd(Self.moment)) { intake in
                intake.linkedTimerIsSet = false
                intake.findLinked()
                intake.drain()
            }
        }
    }

    /// Finds the files that were linked into the inbox, which nobody closes.
    private func findLinked() {
        // That of a write may be there and not have been delivered.
        if let watch {
            let events = watch.read()
            for event in events { reporter.note(event) }
            if !events.isEmpty { queue.async { [weak self] in self?.handle(events) } }
        }
        // Of a control file the name is all that counts.
        let linked = reporter.begun.takeLinked(now: time.now) {
            ControlFile($0) != nil || (look(at: $0)?.st_size ?? 0) > 0
        }
        for name in linked { arrived(name, isWhole: false) }
    }
}
