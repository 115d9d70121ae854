import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import DarkroomWork
import Dispatch
import Glibc

/// The names in the inbox. Each gets its place in the table of `Intake`.
extension Intake {
    /// Examines the whole folder, for example after a resumption.
    package func rescan() { queue.async { [self] in scan() } }

    /// Examines the whole folder, the oldest file first.
    func scan() {
        guard !isStopped, let inbox else { return }
        mustScan = false
        do {
            let names = try inbox.names()
            let present = Set(names)
            refused.keep { name, _ in present.contains(name) }
            countMissed(names)
            files.keep(present)
            reporter.lastScan = Clock.timestamp
            var found: [(FileName, FileIdentity, owner: UInt32)] = []
            for name in names where !isQueued(name) {
                // The names of folders need no extension.
                let reason = Examination.reasonToIgnore(name)
                if let reason, try !isFolder(name, in: inbox, named: reason) {
                    refuse(name, reason)
                } else if let information = try inbox.information(of: name) {
                    let identity = FileIdentity(information)
                    if !isBeingWritten(name, identity) {
                        found.append((name, identity, information.st_uid))
                    }
                }
            }
            found.sort { $0.1.isOlder(than: $1.1, $0.0.bytes, $1.0.bytes) }
            for (name, _, owner) in found { arrived(name, isWhole: false, owner: owner) }
        } catch  where error.storageFailure != nil {
            scheduler.storage.writeRefused(error)
        } catch {
            log.storageFailed(error)
        }
        drain()
    }

    /// Whether it is a folder that may be taken, although the name would be ignored for this reason if it were a file's.
    private func isFolder(
        _ name: FileName, in inbox: Directory, named reason: SkipReason
    ) throws(FileError) -> Bool {
        guard reason.isTold else { return false }
        return try inbox.information(of: name)?.isFolder == true
    }

    /// Counts the manifests among `names`, a new listing, that no event has reported. It does not count in the first
    /// scan, nor if names were left in the folder because there was no room or no space on the disk: a scan finds those
    /// again.
    private func countMissed(_ names: [FileName]) {
        defer {
            arrivals.forgetLeft()
            large.forgetLeft()
        }
        guard let watch, !isBlocked, !arrivals.hasLeft, !large.hasLeft, reporter.lastScan != nil
        else { return }
        // If a file was in the folder when it was listed, its event can be read now.
        let events = watch.read()
        unhandled += events
        let told = Set(unhandled.compactMap(\.name))
        let missed = names.count { name in
            ManifestFormat(fileName: name.text) != nil && !isQueued(name)
                && files.stage(of: name) == nil && refused[name] == nil && !told.contains(name)
                && Examination.reasonToIgnore(name) == nil
        }
        log.metrics.scanFound.add(missed)
        if !events.isEmpty { queue.async { [weak self] in self?.handleUnhandled() } }
    }

    /// Handles what scans have read. If two scans follow each other at once, the first call has the events of both.
    private func handleUnhandled() {
        let events = exchange(&unhandled, with: [])
        if !events.isEmpty { handle(events) }
    }

    func arrived(_ name: FileName, isWhole: Bool) {
        // A file that cannot be examined gets its turn too. The error is reported then.
        arrived(name, isWhole: isWhole, owner: look(at: name)?.st_uid)
    }

    func arrived(_ name: FileName, isWhole: Bool, owner: UInt32?) {
        FaultPoint.manifestArrived.pass()
        if let file = ControlFile(name) {
            controlFiles.add(file, owner: owner, isUrgent: scheduler.knows(file.ids))
        } else if large.contains(name) {
            _ = large.add(name, isWhole: isWhole, owner: owner)
        } else if name == largeInHand {
            largeCameAgain = isWhole || largeCameAgain == true
        } else if !arrivals.add(name, isWhole: isWhole, owner: owner) {
            mustScan = true
        }
    }

    /// Whether a file waits for its turn, or is being processed.
    func isQueued(_ name: FileName) -> Bool {
        arrivals.contains(name) || large.contains(name) || name == largeInHand
    }

    /// Whether a writer has the file open, so that an event will report its closing. If the file has not changed for
    /// half a minute, a scan examines it nevertheless: its writer may never close it.
    func isBeingWritten(_ name: FileName, _ identity: FileIdentity) -> Bool {
        watch != nil && files.isOpen(name) && identity.age < 30
    }

    /// nil if there is no such file, or if it cannot be examined, which is reported.
    func look(at name: FileName) -> stat? {
        do {
            return try inbox?.information(of: name)
        } catch {
            _ = note(.unreadable(error), name)
            return nil
        }
    }
}
