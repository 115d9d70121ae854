/// Gives claimed manifests their receipts and hands the batches on: the last step of the intake.
struct Reception {
    let spool: Spool
    let scheduler: Scheduler
    let log: EventLog

    /// Returns nil if all went well; where the spool has refused something, which has been logged, those that
    /// have no receipt, if any.
    func answer(_ claimed: [ClaimedManifest]) -> [ClaimedManifest]? {
        let durably = scheduler.configuration.isDurable
        var answered: [(ClaimedManifest, Status)] = []
        var left: [ClaimedManifest]?
        do {
            for manifest in claimed {
                answered.append(try Receipt.issue(for: manifest, durably: durably))
            }
            if durably, !answered.isEmpty { try spool.outbox.sync() }
            FaultPoint.receiptOutboxSynced.pass()
        } catch {
            log.storageFailed(error)
            left = Array(claimed[answered.count...])
        }
        for (manifest, status) in answered { admit(manifest, status, durably) }
        return left
    }

    private func admit(_ claimed: ClaimedManifest, _ status: Status, _ durably: Bool) {
        guard case .success(let manifest) = claimed.reading.outcome else {
            log.rejected(status)
            do {
                try Receipt.finish(claimed.folders, format: claimed.format, durably: durably)
            } catch {
                log.storageFailed(error, batch: claimed.id)
            }
            return
        }
        log.claimed(status)
        scheduler.accept(
            PreparedBatch(folders: claimed.folders, manifest: manifest, status: status))
    }
}
