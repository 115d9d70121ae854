/// Gives claimed manifests their receipts and hands the batches on: the last step of the intake.
struct Reception {
    let spool: Spool
    let log: EventLog
    let durably: Bool
    /// Takes the batch in.
    let accept: (PreparedBatch) -> Void

    /// Returns nil if all went well; where the spool has refused something, which has been logged, those that
    /// have no receipt, if any.
    func answer(_ claimed: [ClaimedManifest]) -> [ClaimedManifest]? {
        var answered: [(ClaimedManifest, Status)] = []
        var left: [ClaimedManifest]?
        do {
            for manifest in claimed {
                answered.append(try Receipt.issue(for: manifest, durably: durably))
            }
            if durably, !answered.isEmpty { try spool.outbox.sync() }
        } catch {
            log.storageFailed(error)
            left = Array(claimed[answered.count...])
        }
        for (manifest, status) in answered { admit(manifest, status) }
        return left
    }

    private func admit(_ claimed: ClaimedManifest, _ status: Status) {
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
        accept(PreparedBatch(folders: claimed.folders, manifest: manifest, status: status))
    }
}
