import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Glibc
import SystemPackage

/// The open inbox, and its events.
extension Intake {
    func open() throws(FileError) {
        let folder = try spool.openInbox()
        inbox = folder
        do {
            watch = try InboxWatch(folder: folder, named: "inbox", in: spool.root, queue: queue) {
                [weak self] events in
                self?.handle(events)
            }
            log.watching(folder.path)
        } catch {
            watch = nil
            let interval = settings.pollInterval
            log.polling(folder.path, every: interval, because: error)
            plan(.poll, in: interval)
        }
    }

    /// Looks at the folder, because no event reports a change.
    func poll() {
        guard watch == nil else { return }
        // Nor does an event report this, so it begins again to watch or to poll.
        if isReplaced { return reopen() }
        scan()
        plan(.poll, in: settings.pollInterval)
    }

    /// Whether the inbox is not the folder that is open any more, or does not exist.
    private var isReplaced: Bool {
        guard let inbox else { return true }
        do {
            guard let there = try spool.root.information(of: "inbox") else { return true }
            let here = try inbox.information()
            return there.st_dev != here.st_dev || there.st_ino != here.st_ino
        } catch {
            // A later call may be able to examine it.
            return false
        }
    }

    func handle(_ events: [InboxEvent]) {
        guard !isStopped else { return }
        for event in events {
            files.note(event, now: time.now)
            switch event {
            case .moved(let name): arrived(name, isWhole: true)
            case .written, .gone, .folder: break
            case .made(let name) where willBeClosed(name):
                files.move(name, .made, now: time.now)
            case .closed(let name), .changed(let name), .made(let name):
                arrived(name, isWhole: false)
            case .overflow:
                log.eventsLost(inbox?.path ?? "inbox")
                mustScan = true
            case .stationLost(let name):
                // The open folder is not visible any more. A new start creates another one.
                return onLoss(
                    FileError(
                        .lost, spool.root.path(of: name), .noSuchFileOrDirectory))
            case .lost:
                reopen()
                return
            }
        }
        // A large file is written in many pieces. A write alone does not require an examination.
        if events.allSatisfy(\.isOfAWriter) { return }
        if mustScan { scan() } else { drain() }
    }

    /// Whether a new name is that of a file being written, so that an event will report its closing, or may be one.
    private func willBeClosed(_ name: FileName) -> Bool {
        // If it cannot be examined now, its closing or a scan reports it.
        look(at: name).map(Examination.willBeClosed) ?? true
    }

    /// Opens the inbox again after it was removed, renamed or unmounted.
    private func reopen() {
        log.inboxLost(inbox?.path ?? "inbox")
        watch = nil
        do {
            try open()
            scan()
        } catch {
            onLoss(error)
        }
    }
}
