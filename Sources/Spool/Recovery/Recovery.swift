import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import SwiftGlibc
import SystemPackage

/// Handles the folders in `active` at a start: the last column of the table in `Spool`.
package struct Recovery: Sendable {
    let spool: Spool
    let examination: Examination
    let durably: Bool

    package init(spool: Spool, examination: Examination, durably: Bool) {
        self.spool = spool
        self.examination = examination
        self.durably = durably
    }

    package enum Finding: Sendable {
        /// It had no manifest, because the claim had not moved it yet. The folder is removed.
        case empty
        /// The claimed file or folder contains no manifest, or cannot be read any more. It is back in the inbox under this
        /// name.
        case putBack(FileName)
        /// Its answer was complete; the folder is removed. A file that was too large is in `tmp` under this name.
        case finished(givenBack: FileName?)
        /// Its manifest is not valid, or not any more; it has been answered accordingly. A file that was too large is
        /// in `tmp` under this name.
        case rejected(Status, givenBack: FileName?)
        /// Someone has removed its manifest or its whole folder; its unfinished images have failed.
        case removed(Status)
        case unfinished(PreparedBatch)
    }

    package func ids() throws(FileError) -> [String] { try ActiveFolder(of: spool).ids }

    package func recover(_ id: String) throws(FileError) -> Finding {
        let folders = BatchFolders(spool: spool, id: id)
        let found = try ignoringMissing(folders.active())
        guard let active = found else {
            guard let status = try answer(of: folders), !status.state.isFinal else {
                return .finished(givenBack: nil)
            }
            return try end(folders, status, .json, nil)
        }
        try Receipt.withdraw(from: active)
        FaultPoint.recoveryReceiptWithdrawn.pass()
        let status = try answer(of: folders)
        if status == nil, let submitted = try SubmittedFile(in: active) {
            return try answer(submitted, folders, active)
        }
        let format = try format(in: active)
        guard let format else {
            guard let status else {
                try spool.ended.remove(FileName(id))
                FaultPoint.recoveryEmptyRemoved.pass()
                return .empty
            }
            if status.state.isFinal { return try finish(folders, status, .json) }
            return try restoreManifest(folders, status, active)
        }
        if let status, status.state.isFinal, try !wasReopened(status, active) {
            return try finish(folders, status, format)
        }
        return try resume(folders, format, status, active)
    }

    private func finish(
        _ folders: BatchFolders, _ status: Status, _ format: ManifestFormat
    ) throws(FileError) -> Finding {
        folders.correctProgress(ended: status)
        let givenBack = try Receipt.finish(folders, format: format, durably: durably)
        FaultPoint.recoveryFinished.pass()
        return .finished(givenBack: givenBack)
    }

    /// Answers a manifest without a receipt. It continues the claim as `Claim` does, from the submitted file, because
    /// the copy of it may be incomplete.
    private func answer(
        _ submitted: SubmittedFile, _ folders: BatchFolders, _ active: Directory
    ) throws(FileError) -> Finding {
        var claimed: ClaimedManifest
        do {
            // Its submitter may have exchanged the file for a folder in the moment of the claim: pictures are looked for
            // in `submitted` only.
            var isExchanged = false
            if !submitted.hasFolder { isExchanged = try submitted.information()?.isFolder == true }
            guard !isExchanged, let manifest = try examination.read(submitted) else {
                return try putBack(submitted, folders)
            }
            let (format, reading) = (manifest.format, manifest.reading)
            // Its answer has no copy of it, so one that was made before must not take its place.
            if reading.bytes == nil, let copy = try self.format(in: active) {
                try active.remove(BatchFile.manifest(copy))
            }
            try reading.copy(to: active, format, durably: durably)
            claimed = try self.claimed(submitted, folders, format, reading)
            claimed.uid = manifest.uid
        } catch  where error.storageFailure == nil && error.errno != .canceled {
            // Its owner does not let the daemon read it any more, by its mode, a lease or an exchange.
            do {
                return try putBack(submitted, folders)
            } catch  where error.storageFailure == nil {
                // A copy of it may be incomplete.
                if let format = try self.format(in: active) {
                    try active.remove(BatchFile.manifest(format))
                }
                let format = ManifestFormat(fileName: submitted.name.text) ?? .json
                claimed = try self.claimed(submitted, folders, format, .unreadable)
            }
        }
        if durably {
            let claim = Claim(
                spool: spool, inbox: try spool.openInbox(), examination: examination,
                durably: durably)
            if !claim.syncTogether([claimed]) {
                try claim.sync(claimed)
                try claim.syncFolders()
            }
        }
        return try resume(claimed, nil, active)
    }

    private func claimed(
        _ submitted: SubmittedFile, _ folders: BatchFolders, _ format: ManifestFormat,
        _ reading: ManifestReading
    ) throws(FileError) -> ClaimedManifest {
        let information = try submitted.information()
        return ClaimedManifest(
            folders: folders, name: submitted.name.text, isFolder: information?.isFolder ?? false,
            format: format, received: Clock.timestamp, reading: reading, uid: information?.st_uid,
            identity: try submitted.folder.droppedIdentity(of: submitted.place))
    }

    private func putBack(
        _ submitted: SubmittedFile, _ folders: BatchFolders
    ) throws(FileError) -> Finding {
        let name = try submitted.giveBack(to: spool.openInbox())
        try spool.ended.remove(FileName(folders.id))
        return .putBack(name)
    }

    /// Whether the batch was reopened after it ended with this status.
    private func wasReopened(_ status: Status, _ active: Directory) throws(FileError) -> Bool {
        guard case .reopened(let record) = try ItemJournal.first(in: active) else { return false }
        return record.isOf(status)
    }

    /// Restores the manifest that was removed from `active` from its copy in the outbox, or ends the batch without it.
    private func restoreManifest(
        _ folders: BatchFolders, _ status: Status, _ active: Directory
    ) throws(FileError) -> Finding {
        let format = status.manifest.format ?? .json
        let name = BatchFile.manifest(format)
        guard let copy = try copy(of: name, format, folders, status), let bytes = copy.bytes else {
            return try end(folders, status, format, active)
        }
        try active.write(bytes, to: name, durably: durably)
        return try resume(folders, format, status, active)
    }

    /// Ends a batch of which only its answer, and perhaps its journal, is left.
    private func end(
        _ folders: BatchFolders, _ status: Status, _ format: ManifestFormat, _ active: Directory?
    ) throws(FileError) -> Finding {
        // With its images, because without a manifest nothing else lists them.
        let whole = try ignoringMissing(Status(in: folders.outbox()))
        var status = whole ?? status
        if let active { _ = try applyJournal(to: &status, folders, active) }
        let last = status.removed(from: folders)
        try folders.writeLastStatus(
            last, durably: durably, moved: { folders.correctProgress(last) })
        try Receipt.finish(folders, format: format, durably: durably)
        return .removed(last)
    }

    private func resume(
        _ folders: BatchFolders, _ format: ManifestFormat, _ status: Status?, _ active: Directory
    ) throws(FileError) -> Finding {
        guard let reading = try reading(folders, format, status, active) else {
            // The existing file is not the accepted manifest, so nothing else is done for this batch.
            guard let status else { return .empty }
            return try end(folders, status, format, active)
        }
        // Without its answer and the submitted file, its name is unknown.
        let claimed = ClaimedManifest(
            folders: folders, name: status?.manifest.name ?? "\(folders.id).\(format.rawValue)",
            isFolder: try status == nil
                ? active.exists(BatchFile.picturesGone) : status?.manifest.isFolder ?? false,
            format: format,
            received: status?.times.received ?? Clock.timestamp, reading: reading,
            uid: try status == nil
                ? active.information(of: BatchFile.manifest(format))?.st_uid : status?.manifest.uid,
            // Without a status it is unknown, because the file in `active` is a copy.
            identity: status?.manifest.identity)
        return try resume(claimed, status, active)
    }

    private func resume(
        _ claimed: ClaimedManifest, _ status: Status?, _ active: Directory
    ) throws(FileError) -> Finding {
        let folders = claimed.folders
        let copy = status == nil ? ManifestCopy(of: claimed) : .closed
        var fresh = Receipt.status(of: claimed, copy)
        if let status { fresh.manifest.redacted = status.manifest.redacted }
        guard case .success(let manifest) = claimed.reading.outcome else {
            // A run has the manifest beside its results already.
            try answer(
                fresh, folders, manifest: spool.run == nil ? claimed.reading.bytes : nil, copy)
            let givenBack = try Receipt.finish(folders, format: claimed.format, durably: durably)
            return .rejected(fresh, givenBack: givenBack)
        }
        if status == nil {
            try repeatImagesWithoutAnswer(of: fresh, folders, active)
            try answer(fresh, folders, manifest: claimed.reading.bytes, copy)
        }
        // The manifest has its answer, and the daemon has its own copy.
        try SubmittedFile(in: active)?.remove(from: active)
        fresh.times.started = status?.times.started
        if let earlier = status?.versions {
            fresh.versions = earlier.joined(by: fresh.versions ?? [])
        }
        let suspects = try journalCrashes(of: folders, active)
        let content = try applyJournal(to: &fresh, folders, active)
        let handOvers = try clearScrap(of: fresh, content.undelivered, active)
        if content.control == .held { fresh.state = .held }
        if let status { try correct(status, to: fresh, folders) }
        folders.correctProgress(fresh)
        return .unfinished(
            PreparedBatch(
                id: folders.id, manifest: manifest, status: fresh, control: content.control,
                crashes: content.crashes, suspects: suspects, handOvers: handOvers,
                undelivered: content.undelivered))
    }

    /// Corrects the status in the outbox. If the batch had begun, the whole status is written soon (`Board.accept`);
    /// otherwise it is written only when the batch begins, which may be much later.
    private func correct(
        _ status: Status, to fresh: Status, _ folders: BatchFolders
    ) throws(FileError) {
        if status.state.isFinal || (status.state == .held) != (fresh.state == .held) {
            return try folders.writeStatus(fresh, durably: durably)
        }
        // The state and the wait are those of the previous daemon.
        guard status.state != fresh.state || status.waiting != nil else { return }
        // Someone may have removed the answer in between; the next write restores it.
        try ifExists { () throws(FileError) in
            try folders.amendStatus { status in
                status.state = fresh.state
                status.waiting = nil
                return true
            }
        }
    }

    /// Puts a status into the outbox: with its folder, or into the existing folder, whose status is older or was
    /// removed.
    private func answer(
        _ status: Status, _ folders: BatchFolders, manifest bytes: [UInt8]?, _ copy: ManifestCopy
    ) throws(FileError) {
        if try folders.isAnswered() {
            try folders.writeStatus(
                status, durably: durably, moved: { folders.correctProgress(status) })
        } else {
            try Receipt.issue(status, manifest: bytes, copy, in: folders, durably: durably)
        }
        if durably { try spool.outbox.sync() }
    }

    /// The accepted manifest. If the file has changed since then, which is possible if an older version left the
    /// submitted file there, the copy in the outbox is used; nil if that differs too.
    private func reading(
        _ folders: BatchFolders, _ format: ManifestFormat, _ status: Status?, _ active: Directory
    ) throws(FileError) -> ManifestReading? {
        let name = BatchFile.manifest(format)
        let found = try SourceRecord.read(in: active)
        guard let status else {
            var examination = examination
            if let found { examination.recorded = found }
            return try examination.read(OpenManifest(name, format, in: active))
        }
        var kept = found
        if kept == nil {
            kept = try ignoringMissing(SourceRecord.read(inAnswerOf: folders))
        }
        let reading = try examination.accepting(status, kept).read(
            accepted: name, format, bytes: status.manifest.bytes, in: active)
        if status.manifest.sha256 == reading.sha256 { return reading }
        return try copy(of: name, format, folders, status)
    }

    /// The copy of the manifest in the outbox, if it is the accepted one. If it cannot be read now, this throws, and no
    /// other manifest is used.
    private func copy(
        of name: FileName, _ format: ManifestFormat, _ folders: BatchFolders, _ status: Status
    ) throws(FileError) -> ManifestReading? {
        do {
            let found = try SourceRecord.read(inAnswerOf: folders)
            guard
                let (file, folder) = try ExactManifests(spool: spool).place(
                    of: status, format, in: folders.outbox())
            else { return nil }
            let copy = try examination.accepting(status, found).read(
                accepted: file, format, bytes: status.manifest.bytes, in: folder)
            return copy.sha256 == status.manifest.sha256 ? copy : nil
        } catch  where error.storageFailure == nil && error.errno != .canceled {
            return nil
        }
    }

    /// The status in the outbox without its images, whose results are in the journal; nil if it cannot be read.
    private func answer(of folders: BatchFolders) throws(FileError) -> Status? {
        return try ignoringMissing(Status(frameIn: folders.outbox()))
    }

    private func format(in active: Directory) throws(FileError) -> ManifestFormat? {
        for format in ManifestFormat.allCases {
            if try active.exists(BatchFile.manifest(format)) { return format }
        }
        return nil
    }
}
