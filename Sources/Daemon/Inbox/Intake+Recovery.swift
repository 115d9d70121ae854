import DarkroomBatch
import DarkroomCore
import DarkroomSpool
import Dispatch
import Synchronization
import SystemPackage

/// What a former daemon has left in `active`, which comes before all that is in the inbox.
extension Intake {
    /// Says what lies in `active` and is no batch, and removes what is Darkroom's own.
    func tellOfOrphans() throws(FileError) {
        let active = try ActiveFolder(of: spool)
        for name in active.unfinished {
            try spool.active.removeTree(name)
            FaultPoint.recoveryRetryRemoved.pass()
            log.orphan(name.text, removed: "it was being made when darkroomd ended")
        }
        for id in active.empty { log.orphan(id, removed: "there is no manifest in it") }
        for (name, what) in active.foreign { log.orphan(name.text, left: what) }
    }

    /// Batches of a former daemon that are still to be read, and how many there were; nil when all have been.
    package var recovery: (left: Int, total: Int)? {
        let left = unread.load(ordering: .relaxed)
        return left > 0 ? (left, found.load(ordering: .relaxed)) : nil
    }

    /// One after the other, so that what happens meanwhile, a control file say, does not wait for all.
    func recover(_ ids: ArraySlice<String>, _ recovery: Recovery) {
        guard let id = ids.first, !isStopped else {
            scan()
            return rescanLater()
        }
        recover(id, recovery)
        unread.subtract(1, ordering: .relaxed)
        scheduler.progressed()
        queue.async { [weak self] in self?.recover(ids.dropFirst(), recovery) }
    }

    /// Puts in order what a former daemon, or a failed claim, has left in `active`.
    func recover(_ id: String, _ recovery: Recovery) {
        guard !isBlocked else { return refusals.unrecovered.append(id) }
        do {
            switch try recovery.recover(id) {
            case .empty, .finished(nil): break
            case .finished(let name?): log.givenBack(id: id, name)
            case .putBack(let name): refuse(name, Examination.reasonToIgnore(name) ?? .notAFile)
            case .rejected(let status, let givenBack):
                log.rejected(status)
                if let givenBack { log.givenBack(id: id, givenBack) }
            case .removed(let status): log.batchRemoved(status)
            case .unfinished(let prepared):
                log.resumed(prepared)
                log.suspected(prepared)
                accept(prepared)
            }
        } catch  where error.errno == .canceled {
            // The daemon stops, and the next start does it.
        } catch  where error.fault != nil {
            scheduler.storage.writeRefused(error, batch: id)
            refusals.unrecovered.append(id)
        } catch {
            // It stays where it is for the next start, and the others go on.
            log.storageFailed(error, batch: id)
        }
    }

    /// Puts in order what could be claimed but not be read, nor put back into the inbox.
    func putInOrder(_ ids: [String]) {
        guard !ids.isEmpty else { return }
        queue.async { [weak self] in
            guard let self, !isStopped else { return }
            let recovery = recovery(settings)
            for id in ids { recover(id, recovery) }
        }
    }

    func recovery(_ settings: IntakeSettings) -> Recovery {
        Recovery(
            spool: spool, examination: settings.examination.asking(stopped),
            durably: settings.isDurable)
    }
}
