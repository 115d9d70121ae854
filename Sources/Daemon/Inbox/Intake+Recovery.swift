import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import DarkroomWork
import Dispatch
import Synchronization
import SystemPackage

/// Batches that a previous daemon has left in `active`. They come before everything in the inbox.
extension Intake {
    /// Reports entries of `active` that are not batches, and removes those that Darkroom made.
    func tellOfOrphans() throws(FileError) {
        let active = try ActiveFolder(of: spool)
        for name in active.unfinished {
            try spool.ended.remove(name)
            FaultPoint.recoveryRetryRemoved.pass()
            log.orphan(name.text, removed: "it was incomplete when darkroomd ended")
        }
        for id in active.empty { log.orphan(id, removed: "it contains no manifest") }
        for (name, what) in active.foreign { log.orphan(name.text, left: what) }
    }

    /// Batches of a previous daemon that have not been read yet, and their number at the start; nil if all have been
    /// read.
    package var recovery: (left: Int, total: Int)? {
        let left = unread.load(ordering: .relaxed)
        return left > 0 ? (left, found.load(ordering: .relaxed)) : nil
    }

    /// Recovers one batch after the other, so that other events, such as a control file, do not wait for all of them.
    func recover(_ ids: ArraySlice<String>, _ recovery: Recovery) {
        guard let id = ids.first, !isStopped else {
            scan()
            return planRescan()
        }
        recover(id, recovery)
        unread.subtract(1, ordering: .relaxed)
        scheduler.progressed()
        queue.async { [weak self] in self?.recover(ids.dropFirst(), recovery) }
    }

    /// Recovers what a previous daemon, or a failed claim, has left in `active`.
    func recover(_ id: String, _ recovery: Recovery) {
        guard !isBlocked else { return refusals.unrecovered.append(id) }
        do {
            switch try recovery.recover(id) {
            case .empty, .finished(nil): break
            case .finished(let name?): log.givenBack(id: id, name)
            case .putBack(let name): examineAgain(name)
            case .rejected(let status, let givenBack):
                log.rejected(status)
                if let givenBack { log.givenBack(id: id, givenBack) }
            case .removed(let status): log.batchRemoved(status)
            case .unfinished(let prepared):
                log.resumed(prepared)
                log.suspected(prepared)
                scheduler.accept(prepared, commandsOf: self)
            }
        } catch  where error.errno == .canceled {
            // The daemon stops. The next start recovers it.
        } catch  where error.storageFailure != nil {
            scheduler.storage.writeRefused(error, batch: id)
            refusals.unrecovered.append(id)
        } catch {
            // It stays in place for the next start. The others continue.
            log.storageFailed(error, batch: id)
            scheduler.notResumed(id, because: error)
        }
    }

    /// Has something examined that is back in the inbox. That tells why it is not taken.
    private func examineAgain(_ name: FileName) {
        arrived(name, isWhole: true)
        queue.async { [weak self] in self?.drain() }
    }

    /// Recovers manifests that could be claimed, but neither read nor moved back into the inbox.
    func putInOrder(_ ids: [String]) {
        guard !ids.isEmpty else { return }
        queue.async { [weak self] in
            guard let self, !isStopped else { return }
            let recovery = makeRecovery()
            for id in ids { recover(id, recovery) }
        }
    }

    func makeRecovery() -> Recovery {
        let settings = settings
        return Recovery(
            spool: spool, examination: settings.examination.asking(stopped),
            durably: settings.isDurable)
    }
}
