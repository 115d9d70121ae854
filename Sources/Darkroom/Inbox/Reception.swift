/// Gives claimed manifests their receipts and hands the batches on: the last step of the intake.
struct Reception {
    let spool: Spool
    let storage: StorageGuard
    let log: EventLog
    let durably: Bool
    /// Takes the batch in.
    let accept: (PreparedBatch) -> Void

    /// What the spool has refused, to be tried again.
    struct Rest {
        /// They have no receipt.
        var unanswered: [ClaimedManifest] = []
        /// The IDs of rejected manifests that are answered and whose folder is still in `active`.
        var uncleared: [String] = []
    }

    /// - Parameter claimed: manifests whose claims are on the disk.
    func answer(_ claimed: [ClaimedManifest]) -> Rest {
        var answered: [(ClaimedManifest, Status)] = []
        var rest = Rest()
        for (index, manifest) in claimed.enumerated() {
            do {
                answered.append(try Receipt.issue(for: manifest, durably: durably))
            } catch  where error.errno == .noSuchFileOrDirectory && isRemoved(manifest) {
                log.storageFailed(Failure.removed(manifest.folders), batch: manifest.id)
            } catch {
                storage.troubled(error, batch: manifest.id)
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
            storage.troubled(error)
        }
        for (manifest, status) in answered {
            if case .success(let accepted) = manifest.reading.outcome {
                log.claimed(status, dropped: manifest.dropped)
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
            return try !manifest.folders.active().exists(BatchFile.manifest(manifest.format))
        } catch {
            return error.errno == .noSuchFileOrDirectory
        }
    }

    /// Removes what is left of a rejected manifest in `active`.
    private func clear(_ manifest: ClaimedManifest) -> Bool {
        do {
            try Receipt.finish(manifest.folders, format: manifest.format, durably: durably)
            return true
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Someone else has removed it.
            return true
        } catch {
            storage.troubled(error, batch: manifest.id)
            return false
        }
    }
}
