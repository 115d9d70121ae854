import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import SystemPackage

/// Takes manifests from the inbox and answers them: the claim, the receipt, and the removal of what was submitted.
/// Several share the waits for the disk.
///
/// | step                                                                | after a crash                           |
/// |---------------------------------------------------------------------|-----------------------------------------|
/// | `Claim`: renamed into `active/ID`, and copied                       | in the inbox, or its claim is completed |
/// | the receipt built in `active/ID`                                    | both are done again                     |
/// | claim and receipt synced                                            | the receipt is built again              |
/// | renamed into the outbox, which is synced                            | either state                            |
/// | the submitted file removed; of a rejected manifest also `active/ID` | the leftovers are removed               |
///
/// This is not part of the passes of the `Committer`:
/// - A manifest waits for the disk twice in a row, as a pass does. In passes, it would wait behind those of others
///   each time, of which each may write the last statuses of thousands of images. So a receipt would come later, and a
///   control file for its batch, which waits for it, too.
/// - The intake takes the next manifest only when it knows what has become of this one: whether its owner has room for
///   another, and whether the spool accepts writes. So it waits here in any case.
/// - When a full disk gets some space, results come first and new manifests last (`StorageGuard`). In one backlog they
///   would compete.
package struct Acceptance {
    private let claim: Claim
    let spool: Spool
    let storage: StorageGuard
    let log: EventLog
    let durably: Bool
    /// Checked between manifests, and while a long status is written. A manifest without a receipt gets it after the
    /// next start.
    let stop: CancellationFlag
    /// Takes a batch with a receipt into work.
    private let handOver: (PreparedBatch) -> Void

    package init(
        spool: Spool, inbox: Directory, examination: Examination, storage: StorageGuard,
        log: EventLog, durably: Bool, stop: CancellationFlag,
        handOver: @escaping (PreparedBatch) -> Void
    ) {
        claim = Claim(spool: spool, inbox: inbox, examination: examination, durably: durably)
        self.spool = spool
        self.storage = storage
        self.log = log
        self.durably = durably
        self.stop = stop
        self.handOver = handOver
    }

    /// What has become of some manifests. Those in no list have been rejected, are not in the inbox any more, or were
    /// not reached and are still there. Everything that was refused is reported to the guard.
    package struct Outcome: Sendable {
        /// Stay in the inbox because of a problem of their own.
        package var unreadable: [(name: FileName, error: FileError)] = []
        /// Claimed but without a receipt, because the spool has refused a write. Given to `answer` again.
        package var unanswered: [ClaimedManifest] = []
        /// The IDs of manifests that could neither be read nor be put back, for `Recovery`.
        package var stranded: [String] = []
        /// The IDs of rejected manifests that were answered, for `Recovery` when the spool accepts writes: it has refused
        /// the removal of their folders.
        package var uncleared: [String] = []
        /// Whether the spool has refused claims. The rest of the manifests are still in the inbox.
        package var hasLeft = false
    }

    package func take(_ candidates: [Candidate]) -> Outcome {
        let claims = claim.take(candidates)
        if let failure = claims.failure { storage.writeRefused(failure) }
        var outcome = Outcome(
            unreadable: claims.refused, stranded: claims.stranded, hasLeft: claims.failure != nil)
        issueReceipts(for: claims.claimed, &outcome)
        return outcome
    }

    /// Answers manifests that could not be answered before. Their claims may not be on the disk either.
    package func answer(_ unanswered: [ClaimedManifest]) -> Outcome {
        var outcome = Outcome()
        issueReceipts(for: unanswered, &outcome)
        return outcome
    }

    private func issueReceipts(for claimed: [ClaimedManifest], _ outcome: inout Outcome) {
        let answered = issue(claimed, &outcome)
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
                handOver(PreparedBatch(id: manifest.id, manifest: accepted, status: status))
            } else {
                log.rejected(status)
                if !isSynced || !clear(manifest) { outcome.uncleared.append(manifest.id) }
            }
        }
    }

    private typealias Answered = (manifest: ClaimedManifest, status: Status)

    /// Builds the receipts, waits until they are on the disk, and moves them to the outbox.
    private func issue(_ claimed: [ClaimedManifest], _ outcome: inout Outcome) -> [Answered] {
        let built = carryOut(claimed, { $0 }, &outcome) {
            manifest throws(FileError) -> Answered in
            try stop.check(.answer, manifest.id)
            let copy = ManifestCopy(of: manifest)
            let status = Receipt.status(of: manifest, copy)
            try Receipt.build(
                status, manifest: manifest.reading.bytes, copy,
                hasSources: manifest.reading.sourceRecord != nil, in: manifest.folders,
                durably: false, stop: stop)
            return (manifest, status)
        }
        let synced = durably ? sync(built, &outcome) : built
        return carryOut(synced, \.manifest, &outcome) { built throws(FileError) -> Answered in
            do throws(FileError) {
                try Receipt.place(built.manifest.folders)
                return built
            } catch  where error.errno == .fileExists {
                return try Receipt.issue(
                    for: try built.manifest.moved(), durably: durably, stop: stop)
            }
        }
    }

    /// Waits until claims and receipts are on the disk, for several manifests at once if possible.
    private func sync(_ built: [Answered], _ outcome: inout Outcome) -> [Answered] {
        guard !built.isEmpty else { return [] }
        if claim.syncTogether(built.map(\.manifest)) {
            for answered in built {
                if answered.status.manifest.redacted != nil {
                    FaultPoint.exactManifestSynced.pass()
                }
                FaultPoint.receiptSynced.pass()
            }
            return built
        }
        let synced = carryOut(built, \.manifest, &outcome) { built throws(FileError) in
            try claim.sync(built.manifest)
            try Receipt.sync(built.status, built.manifest.folders)
            return built
        }
        do {
            try claim.syncFolders()
            return synced
        } catch {
            storage.writeRefused(error)
            outcome.unanswered.insert(contentsOf: synced.map(\.manifest), at: 0)
            return []
        }
    }

    /// Carries out a step, one manifest after the other. If the spool refuses it, that manifest and those behind it
    /// remain unanswered.
    private func carryOut<Item, Result>(
        _ items: [Item], _ manifest: (Item) -> ClaimedManifest, _ outcome: inout Outcome,
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
                outcome.unanswered.insert(contentsOf: items[index...].map(manifest), at: 0)
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
            // Another process may have removed it.
            try ignoringMissing(manifest.removeSubmitted())
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
        } catch  where error.storageFailure == nil && manifest.reading.bytes == nil {
            // It cannot be moved into `tmp`. It stays in `active` until a start that can move it.
            log.storageFailed(error, batch: manifest.id)
            return true
        } catch {
            storage.writeRefused(error, batch: manifest.id)
            return false
        }
    }
}
