import DarkroomCore
import DarkroomManifest
import Glibc
import Synchronization
import SystemPackage

/// A manifest that is the daemon's now: it lies in `active/ID` and nowhere else.
package struct ClaimedManifest: Sendable {
    package let folders: BatchFolders
    /// Its name in the inbox, for people.
    package let name: String
    package let format: ManifestFormat
    package let received: String
    package let reading: ManifestReading
    /// The user whose file it is; nil where that is not known any more.
    package var uid: UInt32?
    /// Which file it is, for its submitter (`DroppedFile`); nil where that is not known any more.
    package var identity: String?
    /// When it came into the inbox, in seconds since 1970; nil where that is not known any more.
    package var dropped: Double?

    package init(
        folders: BatchFolders, name: String, format: ManifestFormat, received: String,
        reading: ManifestReading, uid: UInt32? = nil, identity: String? = nil,
        dropped: Double? = nil
    ) {
        self.folders = folders
        self.name = name
        self.format = format
        self.received = received
        self.reading = reading
        self.uid = uid
        self.identity = identity
        self.dropped = dropped
    }

    package var id: String { folders.id }
}

/// Takes manifests out of the inbox: the first two steps of the table in `Spool`.
///
/// Several are taken at once so that they share the waiting for the disk.
package struct Claim {
    let spool: Spool
    let inbox: Directory
    let examination: Examination
    package let durably: Bool

    package init(spool: Spool, inbox: Directory, examination: Examination, durably: Bool) {
        self.spool = spool
        self.inbox = inbox
        self.examination = examination
        self.durably = durably
    }

    /// What became of the candidates; those in neither list are not in the inbox any more, or were not
    /// come to.
    package struct Outcome {
        package var claimed: [ClaimedManifest] = []
        /// Those that cannot be taken for a reason of their own.
        package var refused: [(name: FileName, error: FileError)] = []
        /// Those that are in `active` though not on the disk as far as is known; they get no receipt yet.
        package var unsynced: [ClaimedManifest] = []
        /// The IDs of those that could neither be read nor put back. `Recovery` deals with them.
        package var stranded: [String] = []
        /// What keeps every manifest from being taken, not these alone.
        package var failure: FileError?
    }

    /// Moves each candidate to a new folder in `active` and makes the daemon's own copy there. One that cannot be
    /// moved stays in the inbox and does not stand in the others' way.
    package func take(_ candidates: [Candidate]) -> Outcome {
        var outcome = Outcome()
        for candidate in candidates where outcome.failure == nil {
            do {
                if let manifest = try take(candidate, &outcome.stranded) {
                    outcome.claimed.append(manifest)
                }
            } catch  where error.errno == .canceled {
                // The daemon stops. It is back in the inbox.
            } catch  where !error.isOfTheMachine {
                outcome.refused.append((candidate.name, error))
            } catch {
                outcome.failure = error
            }
        }
        do {
            if durably { try sync(outcome.claimed) }
        } catch {
            outcome.failure = error
            outcome.unsynced = outcome.claimed
            outcome.claimed = []
        }
        return outcome
    }

    /// Waits until the claims are on the disk. Before that no receipt is written: after a power cut it might be
    /// there, and the manifest in the inbox again, to be answered twice.
    package func sync(_ claimed: [ClaimedManifest]) throws(FileError) {
        guard !claimed.isEmpty else { return }
        for manifest in claimed {
            do {
                let folder = try manifest.folders.active()
                if manifest.reading.bytes != nil {
                    let name = BatchFile.manifest(manifest.format)
                    try folder.open(name).sync(path: folder.path(of: name))
                } else if let submitted = try SubmittedFile(in: folder) {
                    // There is no other one. The name alone is not worth a wait for the disk.
                    try submitted.folder.sync()
                }
                try folder.sync()
                FaultPoint.claimFolderSynced.pass()
            } catch  where error.errno == .noSuchFileOrDirectory {
                // Someone has removed it, and it will be found missing when it is to be answered.
            }
        }
        try spool.active.sync()
        FaultPoint.claimActiveSynced.pass()
        try inbox.sync()
        FaultPoint.claimInboxSynced.pass()
    }

    private func take(
        _ candidate: Candidate, _ stranded: inout [String]
    ) throws(FileError) -> ClaimedManifest? {
        let folders = try spool.makeBatch(for: candidate.name.text)
        FaultPoint.claimFolderMade.pass()
        let active = try folders.active()
        let submitted: SubmittedFile
        do {
            submitted = try move(candidate, to: active)
        } catch {
            // Should an empty folder stay, the next start removes it.
            try? active.removeDirectory(SubmittedFile.folderName)
            try? spool.active.removeDirectory(FileName(folders.id))
            // Its owner took it back in between.
            if error.errno == .noSuchFileOrDirectory { return nil }
            throw error
        }
        do {
            return try claimed(candidate, submitted, folders, active)
        } catch {
            undo(candidate, submitted, folders, active, &stranded)
            throw error
        }
    }

    private func move(
        _ candidate: Candidate, to active: Directory
    ) throws(FileError) -> SubmittedFile {
        try active.makeDirectory(SubmittedFile.folderName, mode: 0o700)
        FaultPoint.claimPlaceMade.pass()
        let submitted = SubmittedFile(
            name: candidate.name, folder: try Directory(SubmittedFile.folderName, in: active))
        try inbox.rename(candidate.name, to: submitted.folder, as: candidate.name)
        FaultPoint.claimMoved.pass()
        return submitted
    }

    /// Nobody else reaches the file under a name any more, but who has it open or linked elsewhere may write on: what
    /// counts is what was read and copied.
    private func claimed(
        _ candidate: Candidate, _ submitted: SubmittedFile, _ folders: BatchFolders,
        _ active: Directory
    ) throws(FileError) -> ClaimedManifest {
        let information = try submitted.information()
        guard let information, information.isRegularFile else {
            throw FileError(
                "take it (it is not a regular file)", inbox.path(of: candidate.name), .notSupported)
        }
        // Should it have changed since it was read, it is read again.
        let reading =
            FileIdentity(information) == candidate.identity
            ? candidate.reading
            : try examination.read(candidate.name, candidate.format, in: submitted.folder)
        try reading.copy(to: active, candidate.format, durably: durably)
        return ClaimedManifest(
            folders: folders, name: candidate.name.text, format: candidate.format,
            received: Clock.timestamp, reading: reading, uid: information.st_uid,
            identity: try submitted.folder.droppedIdentity(of: submitted.name),
            dropped: candidate.dropped)
    }

    /// Puts the file back where it was, to be looked at anew.
    private func undo(
        _ candidate: Candidate, _ submitted: SubmittedFile, _ folders: BatchFolders,
        _ active: Directory, _ stranded: inout [String]
    ) {
        do {
            try submitted.putBack(to: inbox)
        } catch {
            return stranded.append(folders.id)
        }
        // What stays in spite of this the next start removes.
        try? spool.active.removeTree(FileName(folders.id))
    }

    /// The name without its ending, cut to 200 bytes so that a number still fits into a file name.
    package static func id(fromFileName name: String) -> String {
        String(name.partsAtLastDot?.stem ?? name[...]).prefix(utf8: 200)
    }
}

extension Spool {
    /// Makes the folder `active/ID` under an ID that neither `active` nor the outbox has: the name without its
    /// ending, then with -2, -3, ….
    func makeBatch(for fileName: String) throws(FileError) -> BatchFolders {
        let base = Claim.id(fromFileName: fileName)
        if try makeActive(base) { return BatchFolders(spool: self, id: base) }
        // The numbers below the last one given are taken as far as we know. After a start nothing is known, and
        // whoever drops manifests of many names may have it forgotten.
        let key = FileName(base)
        var number = lastNumbers.withLock { $0[key] ?? 1 } + 1
        repeat {
            number = try FreeNumber.search(from: number) { (number) throws(FileError) -> Bool in
                let name = FileName("\(base)-\(number)")
                if try outbox.exists(name) { return true }
                return try active.exists(name)
            }
            // Someone may have put something of its own into the outbox since.
        } while try !makeActive("\(base)-\(number)")
        lastNumbers.withLock { numbers in
            if numbers.count > 10_000 { numbers = [:] }
            numbers[key] = number
        }
        return BatchFolders(spool: self, id: "\(base)-\(number)")
    }

    /// Makes `active/ID`; false where the ID is taken.
    private func makeActive(_ id: String) throws(FileError) -> Bool {
        if try outbox.exists(FileName(id)) { return false }
        do {
            try active.makeDirectory(FileName(id), mode: 0o700)
            return true
        } catch  where error.errno == .fileExists {
            return false
        }
    }
}

extension FileError {
    /// Whether it would meet any other file too. Of a refused permission that cannot be told from the
    /// errno; it is the file's in the inbox, where a sticky bit may keep others' files from being moved.
    /// One manifest that cannot be read is no broken disk.
    fileprivate var isOfTheMachine: Bool {
        fault != nil || (errno == .ioError && step != "read")
    }
}

extension ClaimedManifest {
    /// The same under another ID, for someone has put something of its own into the outbox under this one.
    func moved() throws(FileError) -> ClaimedManifest {
        let spool = folders.spool
        let new = try spool.makeBatch(for: name)
        // Over the folder just made, which is empty.
        try spool.active.rename(
            FileName(id), to: spool.active, as: FileName(new.id), replacing: true)
        return ClaimedManifest(
            folders: new, name: name, format: format, received: received, reading: reading,
            uid: uid, identity: identity, dropped: dropped)
    }
}

/// Answers a claimed manifest: makes `outbox/ID` with the receipt in it, in one step.
package enum Receipt {
    /// The status that a claimed manifest begins with: `pending`, or `rejected` and final.
    package static func status(of claimed: ClaimedManifest) -> Status {
        let reference = Status.ManifestReference(
            name: claimed.name,
            file: claimed.reading.bytes == nil ? nil : "manifest.\(claimed.format.rawValue)",
            sha256: claimed.reading.sha256, bytes: claimed.reading.byteCount, uid: claimed.uid,
            identity: claimed.identity)
        switch claimed.reading.outcome {
        case .success(let manifest):
            return Status(
                id: claimed.id, manifest: reference, state: .pending, priority: manifest.priority,
                qualityOfService: manifest.qualityOfService,
                times: Status.Times(received: claimed.received),
                counts: Status.Counts(new: manifest.images.count),
                images: ImageStatus.initial(of: manifest))
        case .failure(let rejection):
            return Status(
                id: claimed.id, manifest: reference, state: .rejected,
                times: Status.Times(received: claimed.received, finished: Clock.timestamp),
                errors: rejection.problems)
        }
    }

    /// Answers a claimed manifest with its first status, under another ID if the outbox has got something
    /// under this one since the claim.
    ///
    /// - Parameter stop: asked between the pieces of a long status; once it is set this fails with ECANCELED.
    package static func issue(
        for claimed: ClaimedManifest, durably: Bool, stop: CancellationFlag = CancellationFlag()
    ) throws(FileError) -> (ClaimedManifest, Status) {
        var claimed = claimed
        while true {
            let status = status(of: claimed)
            do {
                try issue(
                    status, manifest: claimed.reading.bytes, in: claimed.folders, durably: durably,
                    stop: stop)
                return (claimed, status)
            } catch  where error.errno == .fileExists {
                claimed = try claimed.moved()
            }
        }
    }

    /// Builds the folder under `active/ID` and renames it to `outbox/ID`, which therefore never exists
    /// without its status and its manifest. Of an accepted manifest another copy goes with it, while the first one
    /// stays for a restart; of a rejected one the first goes itself, for no restart needs it. Of one that is too large
    /// there is none.
    package static func issue(
        _ status: Status, manifest bytes: [UInt8]?, in folders: BatchFolders, durably: Bool,
        stop: CancellationFlag = CancellationFlag()
    ) throws(FileError) {
        let active = try folders.active()
        try withdraw(from: active)
        try active.makeDirectory(BatchFile.receipt)
        FaultPoint.receiptFolderMade.pass()
        let receipt = try Directory(BatchFile.receipt, in: active)
        try receipt.write(to: BatchFile.status, durably: durably) {
            write throws(FileError) in
            try status.writtenNow.encode { piece throws(FileError) in
                try stop.check("write", receipt.path(of: BatchFile.status))
                try write(piece)
            }
        }
        FaultPoint.receiptStatusWritten.pass()
        if let name = status.manifest.file.map({ FileName($0) }) {
            if status.state == .rejected {
                try active.rename(name, to: receipt, as: name)
                FaultPoint.receiptManifestMoved.pass()
            } else if let bytes {
                try receipt.write(sparsely: bytes, to: name, durably: durably)
                FaultPoint.receiptManifestWritten.pass()
            }
        }
        if durably { try receipt.sync() }
        FaultPoint.receiptSynced.pass()
        try active.rename(BatchFile.receipt, to: folders.spool.outbox, as: FileName(folders.id))
        FaultPoint.receiptMoved.pass()
    }

    /// Removes a receipt that did not get into the outbox, after taking back a rejected manifest that is
    /// in it: there is no other copy.
    package static func withdraw(from active: Directory) throws(FileError) {
        guard try active.exists(BatchFile.receipt) else { return }
        let receipt = try Directory(BatchFile.receipt, in: active)
        for name in ManifestFormat.allCases.map(BatchFile.manifest)
        where try receipt.exists(name) {
            if try !active.exists(name) { try receipt.rename(name, to: active, as: name) }
        }
        try active.removeTree(BatchFile.receipt)
    }

    /// Removes `active/ID` once the batch's last status is in the outbox. A manifest that is not there is
    /// moved first: someone may have removed the answer, but bad input is never deleted. Of one that was too large for
    /// a copy the file itself goes back into `tmp`; gives its name there.
    @discardableResult
    package static func finish(
        _ folders: BatchFolders, format: ManifestFormat, durably: Bool
    ) throws(FileError) -> FileName? {
        let active = try folders.active()
        let outbox = try folders.outbox()
        let name = BatchFile.manifest(format)
        var givenBack: FileName?
        if try !outbox.exists(name) {
            if try active.exists(name) {
                try active.rename(name, to: outbox, as: name)
                if durably { try outbox.sync() }
            } else if let submitted = try SubmittedFile(in: active) {
                givenBack = try giveBack(submitted, folders.spool, durably: durably)
            }
        }
        try folders.spool.active.removeTree(FileName(folders.id))
        FaultPoint.activeRemoved.pass()
        return givenBack
    }

    private static func giveBack(
        _ submitted: SubmittedFile, _ spool: Spool, durably: Bool
    ) throws(FileError) -> FileName {
        let tmp = try spool.openTmp()
        let name = try submitted.giveBack(to: tmp)
        FaultPoint.submittedGivenBack.pass()
        if durably { try tmp.sync() }
        return name
    }
}
