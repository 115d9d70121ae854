import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Dispatch
import Glibc

/// Work of the intake that is due at a time.
extension Intake {
    /// Files are examined this long after the calculated time, in nanoseconds, because clocks have a resolution.
    private static let moment: UInt64 = 1_000_000

    /// What is done at a time.
    enum Task {
        /// The next group is taken.
        case drain
        /// Files are looked at that may be complete.
        case files
        case controlFiles
        /// What cannot be read or moved is examined again. No event reports the end of the cause: the permissions of a
        /// folder may have changed, or another process may have closed its files.
        case recheck
        /// The folder is scanned although events report everything, because events are hints.
        case rescan
        /// The folder is looked at because there are no events.
        case poll
        /// The inbox is looked at, because no event reports a removal.
        case removal
        /// The number of refused files is told that were not told one by one.
        case sum
    }

    func plan(_ task: Task, at moment: UInt64) {
        guard agenda.plan(task, at: moment) else { return }
        time.call(at: moment, on: queue) { [weak self] in
            guard let self, !isStopped, agenda.take(task, at: moment) else { return }
            perform(task)
        }
    }

    func plan(_ task: Task, in seconds: Double) {
        plan(task, at: time.now.saturatingAdd(UInt64(clamping: seconds * 1e9)))
    }

    private func perform(_ task: Task) {
        switch task {
        case .drain: drain()
        case .files: lookAtFiles()
        case .controlFiles: if controlFiles.wake() { scan() } else { drain() }
        case .recheck: scan()
        case .rescan:
            scan()
            planRescan()
        case .poll: poll()
        case .removal: lookForRemovals()
        case .sum: tellRest()
        }
    }

    func planRescan() {
        if settings.rescanInterval > 0 { plan(.rescan, in: settings.rescanInterval) }
    }

    func recheckLater() { plan(.recheck, in: 10) }

    // MARK: Incomplete files

    func hasSettled(_ name: FileName, _ seconds: Double) -> Bool {
        // A file that cannot be examined now continues to settle, and is examined again.
        guard files.stage(of: name) == .settling, let inbox else { return false }
        do {
            guard let last = try FolderJob.lastChange(of: name, in: inbox) else { return false }
            return files.hasSettled(
                name, last, settle: UInt64(clamping: seconds * 1e9), now: time.now)
        } catch {
            _ = note(.unreadable(error), name)
            return false
        }
    }

    /// Plans the look at the first file that may be complete then. Files that wait for their turn are examined anyway.
    func planLook(_ settle: Double) {
        let settle = UInt64(clamping: settle * 1e9)
        if let due = files.nextLook(settle: settle, unless: isQueued) {
            plan(.files, at: max(due, time.now).saturatingAdd(Self.moment))
        }
    }

    private func lookAtFiles() {
        // The events of writes may be pending, which tell linked files from others.
        if let events = watch?.read(), !events.isEmpty {
            for event in events { files.note(event, now: time.now) }
            queue.async { [weak self] in self?.handle(events) }
        }
        let settle = UInt64(clamping: settings.examination.settle * 1e9)
        for name in files.toBeLookedAt(settle: settle, now: time.now) {
            // Of a control file only the name counts, so it may be empty.
            let hasContent = ControlFile(name) != nil || (look(at: name)?.st_size ?? 0) > 0
            files.move(name, .waited(hasContent: hasContent), now: time.now)
            if !files.isOpen(name) { arrived(name, isWhole: false) }
        }
        drain()
    }
}
