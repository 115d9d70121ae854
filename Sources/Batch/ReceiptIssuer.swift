import DarkroomCore
import DarkroomSpool
import SystemPackage

/// Gives claimed manifests their receipts and hands the batches on: the last step of the intake.
package struct ReceiptIssuer {
    let spool: Spool
    let storage: StorageGuard
    let log: EventLog
    let durably: Bool
    /// Asked between manifests, and while a long status is written: who has no receipt gets it after the next start.
    let stop: CancellationFlag
    /// Takes the batch in.
    let accept: (PreparedBatch) -> Void

    package init(
        spool: Spool, storage: StorageGuard, log: EventLog, durably: Bool, stop: CancellationFlag,
        accept: @escaping (PreparedBatch) -> Void
    ) {
        self.spool = spool
        self.storage = storage
        self.log = log
        self.durably = durably
        self.stop = stop
        self.accept = accept
    }

    /// What the spool has refused, to be retried.
    package struct Rest {
        /// They have no receipt.
        package var unanswered: [ClaimedManifest] = []
        /// The IDs of rejected manifests that are answered and whose folder is still in `active`.
        package var uncleared: [String] = []

        package init(unanswered: [ClaimedManifest] = [], uncleared: [String] = []) {
            self.unanswered = unanswered
            self.uncleared = uncleared
        }
    }

    /// - Parameter claimed: manifests whose claims are on the disk.
    package func answer(_ claimed: [ClaimedManifest]) -> Rest {
        var answered: [(ClaimedManifest, Status)] = []
        var rest = Rest()
        for (index, manifest) in claimed.enumerated() {
            do {
                if stop.isSet { break }
                answered.append(try Receipt.issue(for: manifest, durably: durably, stop: stop))
            } catch  where error.errno == .canceled {
                break
            } catch  where error.errno == .noSuchFileOrDirectory && isRemoved(manifest) {
                log.storageFailed(Failure.removed(manifest.folders), batch: manifest.id)
            } catch {
                storage.writeRefused(error, batch: manifest.id)
                rest.unanswered = Array(claimed[index...])
                break
            }
        }
        // Without it a receipt may be lost with the power, and is written again at the next start. So the only
        // copy of a manifest that is rejected is not removed before.
        var isSynced = true
        do {
            if durably, !answered.isEmpty { try spool.outbox.sync() }
            FaultPoint.receiptOutboxSynced.pass()
        } catch {
            isSynced = false
            storage.writeRefused(error)
        }
        for (manifest, status) in answered {
            if case .success(let accepted) = manifest.reading.outcome {
                log.claimed(status, dropped: manifest.dropped)
                if isSynced { drop(manifest) }
                accept(
                    PreparedBatch(folders: manifest.folders, manifest: accepted, status: status))
            } else {
                log.rejected(status)
                if !isSynced || !clear(manifest) { rest.uncleared.append(manifest.id) }
            }
        }
        return rest
    }

    /// Whether someone has taken the manifest out of `active`: there is nothing to answer any more.
    private func isRemoved(_ manifest: ClaimedManifest) -> Bool {
        do {
            let active = try manifest.folders.active()
            if manifest.reading.bytes == nil { return try SubmittedFile(in: active) == nil }
            return try !active.exists(BatchFile.manifest(manifest.format))
        } catch {
            return error.errno == .noSuchFileOrDirectory
        }
    }

    /// Removes the file that was dropped, for the copies of it are on the disk. Should it stay, it goes with the folder.
    private func drop(_ manifest: ClaimedManifest) {
        do {
            let active = try manifest.folders.active()
            try SubmittedFile(in: active)?.remove(from: active)
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Someone else has removed it.
        } catch {
            storage.writeRefused(error, batch: manifest.id)
        }
    }

    /// Removes what is left of a rejected manifest in `active`.
    private func clear(_ manifest: ClaimedManifest) -> Bool {
        do {
            let givenBack = try Receipt.finish(
                manifest.folders, format: manifest.format, durably: durably)
            if let givenBack { log.givenBack(id: manifest.id, givenBack) }
            return true
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Someone else has removed it.
            return true
        } catch  where error.fault == nil && manifest.reading.bytes == nil {
            // It cannot be moved into `tmp`, and waits in `active` for a start under which it can.
            log.storageFailed(error, batch: manifest.id)
            return true
        } catch {
            storage.writeRefused(error, batch: manifest.id)
            return false
        }
    }
}
