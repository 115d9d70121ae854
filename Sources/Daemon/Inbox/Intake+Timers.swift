import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Dispatch
import Glibc

/// Work of the intake that is due at a time.
extension Intake {
    /// Files are examined this long after the calculated time, in nanoseconds, because clocks have a resolution.
    private static let moment: UInt64 = 1_000_000

    /// Calls a function at a time, unless the intake has been stopped by then.
    func schedule(at moment: UInt64, _ body: @escaping @Sendable (Intake) -> Void) {
        time.call(at: moment, on: queue) { [weak self] in
            guard let self, !isStopped else { return }
            body(self)
        }
    }

    /// The same, after some seconds.
    func schedule(in seconds: Double, _ body: @escaping @Sendable (Intake) -> Void) {
        schedule(at: time.now.saturatingAdd(UInt64(clamping: seconds * 1e9)), body)
    }

    /// Scans at intervals although events report everything, because events are hints.
    func rescanLater() {
        let seconds = settings.rescanInterval
        guard seconds > 0 else { return }
        schedule(in: seconds) { intake in
            intake.scan()
            intake.rescanLater()
        }
    }

    /// Examines again later what cannot be read or moved. No event reports the end of the cause: the permissions of a
    /// folder may have changed, or another process may have closed its files.
    func recheckLater() {
        guard !recheckIsSet else { return }
        recheckIsSet = true
        schedule(in: 10) { intake in
            intake.recheckIsSet = false
            intake.scan()
        }
    }

    func hasSettled(_ name: FileName, _ seconds: Double) -> Bool {
        // A file that cannot be examined now continues to settle, and is examined again.
        guard settling.contains(name), let inbox else { return false }
        do {
            guard let last = try FolderJob.lastChange(of: name, in: inbox) else { return false }
            return settling.hasSettled(name, last, for: seconds, now: time.now)
        } catch {
            _ = note(.unreadable(error), name)
            return false
        }
    }

    /// Sets timers for the settling files, when the first of them may have settled, and for files that may have been
    /// linked.
    func setTimer(_ settle: Double) {
        // Files that wait for their turn are examined then.
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

    /// Finds the files that were linked into the inbox. No process closes them.
    private func findLinked() {
        // The event of a write may be pending.
        if let watch {
            let events = watch.read()
            for event in events { reporter.note(event) }
            if !events.isEmpty { queue.async { [weak self] in self?.handle(events) } }
        }
        // Of a control file only the name counts, so it may be empty.
        let linked = reporter.begun.takeLinked(now: time.now) {
            ControlFile($0) != nil || (look(at: $0)?.st_size ?? 0) > 0
        }
        for name in linked { arrived(name, isWhole: false) }
    }
}
