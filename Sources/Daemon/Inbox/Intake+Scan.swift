import DarkroomBatch
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Dispatch
import Glibc

/// What lies in the inbox: the folder is looked through, and each name gets its place in the table of `Intake`.
extension Intake {
    /// Looks at everything that is there, as after a resumption.
    package func rescan() {
        queue.async { [self] in scan() }
    }

    /// Looks at everything that is there, the oldest first.
    func scan() {
        guard !isStopped, let inbox else { return }
        mustScan = false
        do {
            let names = try inbox.names()
            let present = Set(names)
            refused = refused.filter { present.contains($0.key) }
            countMissed(names)
            reporter.scanned(present)
            var found: [(FileName, FileIdentity, owner: UInt32)] = []
            for name in names where !isQueued(name) {
                if let reason = Examination.reasonToIgnore(name) {
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
        } catch  where error.fault != nil {
            scheduler.storage.writeRefused(error)
        } catch {
            log.storageFailed(error)
        }
        drain()
    }

    /// Counts the manifests among `names`, just listed, that no event has told of. Not in the first scan, nor
    /// where names were left in the folder for want of room or of space on the disk: those are found again.
    private func countMissed(_ names: [FileName]) {
        defer {
            arrivals.forgetLeft()
            large.forgetLeft()
        }
        guard let watch, !isBlocked, !arrivals.hasLeft, !large.hasLeft, reporter.lastScan != nil
        else { return }
        // What was in the folder when it was listed has its event in the descriptor by now.
        let events = watch.read()
        let told = Set(events.compactMap(\.name))
        let missed = names.count { name in
            ManifestFormat(fileName: name.text) != nil && !isQueued(name)
                && !settling.contains(name) && refused[name] == nil && !told.contains(name)
                && !reporter.begun.contains(name) && Examination.reasonToIgnore(name) == nil
        }
        log.metrics.scanFound.add(missed)
        if !events.isEmpty { queue.async { [weak self] in self?.handle(events) } }
    }

    /// Whether a file waits for its turn, or has it.
    func isQueued(_ name: FileName) -> Bool {
        arrivals.contains(name) || large.contains(name) || name == largeInHand
    }

    /// Whether a file is open to its writer, so that its closing will be told. One that nobody has changed for half
    /// a minute is looked at by a scan all the same: its writer may keep it open for good.
    func isBeingWritten(_ name: FileName, _ identity: FileIdentity) -> Bool {
        watch != nil && reporter.begun.contains(name) && identity.age < 30
    }

    /// nil where there is no such file, or where it cannot be looked at, which is told.
    func look(at name: FileName) -> stat? {
        do {
            return try inbox?.information(of: name)
        } catch {
            _ = note(.unreadable(error), name)
            return nil
        }
    }

    func arrived(_ name: FileName, isWhole: Bool) {
        // One that cannot be looked at has its turn too, in which that is told.
        arrived(name, isWhole: isWhole, owner: look(at: name)?.st_uid)
    }

    func arrived(_ name: FileName, isWhole: Bool, owner: UInt32?) {
        if let file = ControlFile(name) {
            controlFiles.add(file, owner: owner, isUrgent: scheduler.knows(file.ids))
        } else if large.contains(name) {
            _ = large.add(name, isWhole: isWhole, owner: owner)
        } else if name != largeInHand, !arrivals.add(name, isWhole: isWhole, owner: owner) {
            mustScan = true
        }
    }
}
