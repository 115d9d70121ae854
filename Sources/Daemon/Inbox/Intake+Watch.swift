import DarkroomCore
import DarkroomSpool
import Glibc
import SystemPackage

/// The open inbox, and what inotify tells of it.
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
            poll(every: interval)
        }
    }

    func poll(every seconds: Double) {
        schedule(in: seconds) { intake in
            guard intake.watch == nil else { return }
            // No event tells of it: begins to poll anew, or to watch.
            if intake.isReplaced { return intake.reopen() }
            intake.scan()
            intake.poll(every: seconds)
        }
    }

    /// Whether the inbox is another folder than the one that is open, or none.
    private var isReplaced: Bool {
        guard let inbox else { return true }
        do {
            guard let there = try spool.root.information(of: "inbox") else { return true }
            let here = try inbox.information()
            return there.st_dev != here.st_dev || there.st_ino != here.st_ino
        } catch {
            // What cannot be examined now can be at the next look.
            return false
        }
    }

    func handle(_ events: [InboxEvent]) {
        guard !isStopped else { return }
        for event in events {
            reporter.note(event)
            switch event {
            case .moved(let name): arrived(name, isWhole: true)
            case .written: break
            case .made(let name) where willBeClosed(name):
                reporter.begun.appeared(name, now: time.now)
            case .closed(let name), .changed(let name), .made(let name):
                arrived(name, isWhole: false)
            case .overflow:
                log.eventsLost(inbox?.path ?? "inbox")
                mustScan = true
            case .stationLost(let name):
                // What is open leads into a folder that nobody sees any more. A new start makes another.
                return onLoss(
                    FileError(
                        "use: it was removed or renamed", spool.root.path(of: name),
                        .noSuchFileOrDirectory))
            case .lost:
                reopen()
                return
            }
        }
        // A large file is written in many pieces, which by themselves are nothing to look at.
        if events.allSatisfy(\.isOfAWriter) { return }
        if mustScan { scan() } else { drain() }
    }

    /// Whether a name that has just been made is that of a file being written, whose closing will be told; or seems so.
    private func willBeClosed(_ name: FileName) -> Bool {
        // One that cannot be looked at now is found by its closing or by a scan.
        look(at: name).map(Examination.willBeClosed) ?? true
    }

    /// Puts the inbox back after it was removed, renamed or unmounted.
    func reopen() {
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
