import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import SystemPackage

/// Gives receipts to claimed manifests: the last step of the intake before their batches are taken into work.
package struct ReceiptIssuer {
    let spool: Spool
    let storage: StorageGuard
    let log: EventLog
    let durably: Bool
    /// Checked between manifests, and while a long status is written. A manifest without a receipt gets it after the
    /// next start.
    let stop: CancellationFlag

    package init(
        spool: Spool, storage: StorageGuard, log: EventLog, durably: Bool, stop: CancellationFlag
    ) {
        self.spool = spool
        self.storage = storage
        self.log = log
        self.durably = durably
        self.stop = stop
    }

    /// The results for some manifests. What the spool has refused must be retried.
    package struct Answer: Sendable {
        /// Batches with a receipt, in the order of their manifests.
        package var batches: [PreparedBatch] = []
        /// Refused: manifests without a receipt.
        package var unanswered: [ClaimedManifest] = []
        /// Refused: the IDs of rejected manifests that have been answered, but whose folder is still in `active`.
        package var uncleared: [String] = []
    }

    /// Gives receipts to manifests. Several share the waits for the disk.
    ///
    /// - Parameter claimed: manifests whose claims are on the disk.
    package func answer(_ claimed: [ClaimedManifest]) -> Answer {
        var answer = Answer()
        let answered = issue(claimed, &answer)
        // If this sync fails, a power failure may destroy a receipt, which is then written again at the next start.
        // Therefore the only copy of a rejected manifest is not removed before the sync.
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
                answer.batches.append(
                    PreparedBatch(id: manifest.folders.id, manifest: accepted, status: status))
            } else {
                log.rejected(status)
                if !isSynced || !clear(manifest) { answer.uncleared.append(manifest.id) }
            }
        }
        return answer
    }

    private typealias Answered = (manifest: ClaimedManifest, status: Status)

    /// Builds the receipts, waits until they are on the disk, and moves them to the outbox.
    private func issue(_ claimed: [ClaimedManifest], _ answer: inout Answer) -> [Answered] {
        let isTogether = durably && claimed.count > 1
        let built = carryOut(claimed, { $0 }, &answer) {
            manifest throws(FileError) -> Answered in
            try stop.check(.answer, manifest.id)
            let copy = ManifestCopy(of: manifest)
            let status = Receipt.status(of: manifest, copy)
            try Receipt.build(
                status, manifest: manifest.reading.bytes, copy,
                hasSources: manifest.reading.foundSources != nil, in: manifest.folders,
                durably: durably && !isTogether, stop: stop)
            return (manifest, status)
        }
        var synced = built
        if isTogether, spool.syncTogether() {
            for answered in built {
                if answered.status.manifest.redacted != nil {
                    FaultPoint.exactManifestSynced.pass()
                }
                FaultPoint.receiptSynced.pass()
            }
        } else if isTogether {
            synced = carryOut(built, \.manifest, &answer) { built throws(FileError) in
                try Receipt.sync(built.status, built.manifest.folders)
                return built
            }
        }
        return carryOut(synced, \.manifest, &answer) { built throws(FileError) -> Answered in
            do throws(FileError) {
                try Receipt.place(built.manifest.folders)
                return built
            } catch  where error.errno == .fileExists {
                return try Receipt.issue(
                    for: try built.manifest.moved(), durably: durably, stop: stop)
            }
        }
    }

    /// Carries out a step, one manifest after the other. If the spool refuses it, that manifest and those behind it
    /// remain unanswered.
    private func carryOut<Item, Result>(
        _ items: [Item], _ manifest: (Item) -> ClaimedManifest, _ answer: inout Answer,
        _ step: (Item) throws(FileError) -> Result
    ) -> [Result] {
        var results: [Result] = []
        for (index, item) in items.enumerated() {
            do throws(FileError) {
                results.append(try step(item))
            } catch  where error.errno == .canceled {
                break
            } catch  where error.errno == .noSuchFileOrDirectory && isRemoved(manifest(item)) {
                let manifest = manifest(item)
                log.storageFailed(Failure.removed(manifest.folders), batch: manifest.id)
            } catch {
                storage.writeRefused(error, batch: manifest(item).id)
                answer.unanswered.insert(contentsOf: items[index...].map(manifest), at: 0)
                break
            }
        }
        return results
    }

    /// Whether someone has removed the manifest from `active`. Then there is nothing to answer any more.
    private func isRemoved(_ manifest: ClaimedManifest) -> Bool {
        do {
            let active = try manifest.folders.active()
            if manifest.reading.bytes == nil { return try SubmittedFile(in: active) == nil }
            return try !active.exists(BatchFile.manifest(manifest.format))
        } catch {
            return error.errno == .noSuchFileOrDirectory
        }
    }

    /// Removes the submitted file, because its copies are on the disk. If this fails, it is removed with the folder.
    private func drop(_ manifest: ClaimedManifest) {
        do {
            try manifest.removeSubmitted()
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Another process has removed it.
        } catch {
            storage.writeRefused(error, batch: manifest.id)
        }
    }

    /// Removes what is left of a rejected manifest in `active`.
    private func clear(_ manifest: ClaimedManifest) -> Bool {
        do {
            let givenBack = try Receipt.finish(
                manifest.folders, format: manifest.format, mayBeFolder: manifest.isFolder,
                durably: durably)
            if let givenBack { log.givenBack(id: manifest.id, givenBack) }
            return true
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Another process has removed it.
            return true
        } catch  where error.fault == nil && manifest.reading.bytes == nil {
            // It cannot be moved into `tmp`. It stays in `active` until a start that can move it.
            log.storageFailed(error, batch: manifest.id)
            return true
        } catch {
            storage.writeRefused(error, batch: manifest.id)
            return false
        }
    }
}
