import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Glibc
import Synchronization
import SystemPackage

/// A manifest that the daemon has taken: it is in `active/ID` and nowhere else.
package struct ClaimedManifest: Sendable {
    package private(set) var folders: BatchFolders
    /// Its name in the inbox, for people.
    package let name: String
    /// Whether it is a folder with the manifest and its pictures.
    package let isFolder: Bool
    package let format: ManifestFormat
    package let received: String
    package let reading: ManifestReading
    /// The user ID of the file's owner; nil if it is not known any more.
    package var uid: UInt32?
    /// The identity of the submitted file, for its submitter (`DroppedFile`); nil if it is not known any more.
    package var identity: String?
    /// When the file came into the inbox, in seconds since 1970; nil if it is not known any more.
    package var dropped: Double?

    package init(
        folders: BatchFolders, name: String, isFolder: Bool = false, format: ManifestFormat,
        received: String, reading: ManifestReading, uid: UInt32? = nil, identity: String? = nil,
        dropped: Double? = nil
    ) {
        self.folders = folders
        self.name = name
        self.isFolder = isFolder
        self.format = format
        self.received = received
        self.reading = reading
        self.uid = uid
        self.identity = identity
        self.dropped = dropped
    }

    package var id: String { folders.id }
}

/// Takes manifests from the inbox: the first two steps of the table in `Spool`.
///
/// Several manifests are taken together, so that they share the syncs, also with their receipts (`Acceptance`).
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

    /// The result for the candidates. A candidate in no list is not in the inbox any more, or was not reached.
    package struct Outcome {
        package var claimed: [ClaimedManifest] = []
        /// Candidates that cannot be taken because of a problem of their own.
        package var refused: [(name: FileName, error: FileError)] = []
        /// The IDs of manifests that could neither be read nor be put back. `Recovery` handles them.
        package var stranded: [String] = []
        /// Why no manifest at all can be taken.
        package var failure: FileError?
    }

    /// Moves each candidate to a new folder in `active` and makes the daemon's own copy there. A candidate that cannot
    /// be moved stays in the inbox and does not affect the others. Nothing of it need be on the disk yet (`sync`).
    package func take(_ candidates: [Candidate]) -> Outcome {
        var outcome = Outcome()
        for candidate in candidates where outcome.failure == nil {
            do {
                if let manifest = try take(candidate, &outcome.stranded) {
                    outcome.claimed.append(manifest)
                }
            } catch  where error.errno == .canceled {
                // The daemon is stopping, and the file is back in the inbox.
            } catch  where !error.isOfTheMachine {
                outcome.refused.append((candidate.name, error))
            } catch {
                outcome.failure = error
            }
        }
        return outcome
    }

    /// Waits until what was claimed is on the disk, except for the folders of the spool (`syncFolders`). Receipts go into
    /// the outbox only after both: otherwise, after a power cut, there could be a receipt, and the manifest could be in the
    /// inbox again and get a second answer.
    package func sync(_ manifest: ClaimedManifest) throws(FileError) {
        do {
            let folder = try manifest.folders.active()
            let name = BatchFile.manifest(manifest.format)
            if manifest.reading.bytes == nil {
                // The submitted file is the only one. Its name alone does not justify a sync.
                try SubmittedFile(in: folder)?.folder.sync()
            } else {
                // The copy of a rejected manifest is in its receipt.
                try ignoringMissing(folder.open(name).sync(path: folder.path(of: name)))
            }
            // A receipt promises that the pictures of a folder are there too.
            if manifest.isFolder { try SubmittedFile(in: folder)?.syncPictures() }
            try folder.sync()
            FaultPoint.claimFolderSynced.pass()
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Someone has removed it; this is noticed when it gets its answer.
        }
    }

    /// Waits until the names in the folders from and to which claims were moved are on the disk.
    package func syncFolders() throws(FileError) {
        try spool.active.sync()
        FaultPoint.claimActiveSynced.pass()
        try inbox.sync()
        FaultPoint.claimInboxSynced.pass()
    }

    /// Waits for claims and everything else in the spool at once.
    ///
    /// - Returns: false if this cannot be done, or is not worth its price for a single file.
    package func syncTogether(_ claimed: [ClaimedManifest]) -> Bool {
        guard claimed.count > 1 || claimed.contains(where: \.isFolder), spool.syncTogether()
        else { return false }
        for _ in claimed { FaultPoint.claimFolderSynced.pass() }
        FaultPoint.claimActiveSynced.pass()
        FaultPoint.claimInboxSynced.pass()
        return true
    }

    private func take(
        _ candidate: Candidate, _ stranded: inout [String]
    ) throws(FileError) -> ClaimedManifest? {
        let folders = try spool.makeBatch(
            Claim.id(of: candidate.name.text, isFolder: candidate.isFolder))
        FaultPoint.claimFolderMade.pass()
        let id = FileName(folders.id)
        do {
            try move(candidate, to: id)
        } catch {
            // If an empty folder stays, the next start removes it.
            if candidate.needsFolder {
                try? spool.active.removeDirectory(id / SubmittedFile.folderName)
            }
            try? spool.active.removeDirectory(id)
            // Its owner has removed it in between.
            if error.errno == .noSuchFileOrDirectory { return nil }
            throw error
        }
        do {
            return try claimed(candidate, folders)
        } catch {
            undo(candidate, folders, &stranded)
            throw error
        }
    }

    /// All by their paths from `active`, of which no part is anybody's but the daemon's.
    private func move(_ candidate: Candidate, to id: FileName) throws(FileError) {
        if candidate.needsFolder {
            try spool.active.makeDirectory(id / SubmittedFile.folderName, mode: 0o700)
        }
        FaultPoint.claimPlaceMade.pass()
        try inbox.rename(candidate.name, to: spool.active, as: id / candidate.place)
        FaultPoint.claimMoved.pass()
    }

    /// The file has no other name in the spool any more, but someone may have it open or linked and may still write to
    /// it. So only the bytes that were read and copied count.
    private func claimed(
        _ candidate: Candidate, _ folders: BatchFolders
    ) throws(FileError) -> ClaimedManifest {
        let id = FileName(folders.id)
        let place = id / candidate.place
        let dropped = try spool.active.droppedFile(of: place)
        let (reading, uid) = try read(candidate, dropped?.information, id)
        try reading.copy(to: spool.active, within: id, candidate.format, durably: durably)
        return ClaimedManifest(
            folders: folders, name: candidate.name.text, isFolder: candidate.isFolder,
            format: candidate.format, received: Clock.timestamp, reading: reading, uid: uid,
            identity: dropped?.identity, dropped: candidate.dropped)
    }

    /// The content of the claimed manifest and its owner. If it has changed since it was read, it is read again. So are
    /// the names of the pictures of a folder without a manifest.
    private func read(
        _ candidate: Candidate, _ information: stat?, _ id: FileName
    ) throws(FileError) -> (ManifestReading, uid: UInt32) {
        if let information, information.isRegularFile, !candidate.isFolder,
            candidate.identity == FileIdentity(information)
        {
            return (candidate.reading, information.st_uid)
        }
        let submitted = try claimed(candidate, id)
        guard let manifest = try examination.read(submitted, candidate),
            try submitted.information()?.isFolder == candidate.isFolder,
            manifest.format == candidate.format
        else {
            throw FileError(
                .take, inbox.path(of: candidate.name), .notSupported,
                detail: "it (it is not a regular file, or a folder with a manifest or a recipe)")
        }
        return (manifest.reading, manifest.uid)
    }

    private func claimed(
        _ candidate: Candidate, _ id: FileName
    ) throws(FileError) -> SubmittedFile {
        let hasFolder = candidate.needsFolder
        let folder = try Directory(hasFolder ? id / SubmittedFile.folderName : id, in: spool.active)
        return SubmittedFile(
            name: candidate.name, folder: folder, place: hasFolder ? nil : candidate.place)
    }

    /// Puts the file back into the inbox, where it is examined again.
    private func undo(_ candidate: Candidate, _ folders: BatchFolders, _ stranded: inout [String]) {
        let (active, id) = (spool.active, FileName(folders.id))
        do {
            try active.rename(id / candidate.place, to: inbox, as: candidate.name, rivals: .some)
        } catch {
            return stranded.append(folders.id)
        }
        // This needs no further descriptor, because a lack of them may be why the claim has failed. If it fails, the next
        // start removes the folder.
        try? active.remove(id / BatchFile.manifest(candidate.format))
        try? active.remove(id / BatchFile.sources)
        try? active.removeDirectory(id / SubmittedFile.folderName)
        try? active.removeDirectory(id)
    }

    /// The name without its extension, cut to 200 bytes so that a number still fits into a file name.
    package static func id(fromFileName name: String) -> String {
        String(name.partsAtLastDot?.stem ?? name[...]).prefix(utf8: 200)
    }

    /// The ID of a manifest, or of a folder, whose name has no extension.
    package static func id(of name: String, isFolder: Bool) -> String {
        isFolder ? name.prefix(utf8: 200) : id(fromFileName: name)
    }
}

extension Candidate {
    fileprivate var needsFolder: Bool { SubmittedFile.needsFolder(name, isFolder: isFolder) }
    fileprivate var place: FileName { SubmittedFile.place(of: name, isFolder: isFolder) }
}

extension Spool {
    /// Creates the folder `active/ID` with an ID that neither `active` nor the outbox contains: `base`, then with -2,
    /// -3, ….
    func makeBatch(_ base: String) throws(FileError) -> BatchFolders {
        if try makeActive(base) { return BatchFolders(spool: self, id: base) }
        // As far as this process knows, all numbers below the last one are taken. After a start nothing is known, and a
        // submitter of very many names can cause this list to be cleared.
        let key = FileName(base)
        var number = lastNumbers.withLock { $0[key] ?? 1 } + 1
        repeat {
            number = try FreeNumber.search(from: number) { (number) throws(FileError) -> Bool in
                let name = FileName("\(base)-\(number)")
                if try outbox.exists(name) { return true }
                return try active.exists(name)
            }
            // Someone may have put another file into the outbox since then.
        } while try !makeActive("\(base)-\(number)")
        lastNumbers.withLock { numbers in
            if numbers.count > 10_000 { numbers = [:] }
            numbers[key] = number
        }
        return BatchFolders(spool: self, id: "\(base)-\(number)")
    }

    /// Creates `active/ID`; returns false if the ID exists.
    private func makeActive(_ id: String) throws(FileError) -> Bool {
        if try outbox.exists(FileName(id)) { return false }
        return try active.makeIfMissing(FileName(id), mode: 0o700)
    }
}

extension FileError {
    /// Whether another file would have the same problem. For a missing permission, errno does not tell this. It is a
    /// problem of the file in the inbox, where a sticky bit may prevent others from moving it. A single manifest that
    /// cannot be read does not mean a disk error.
    fileprivate var isOfTheMachine: Bool {
        storageFailure != nil || (errno == .ioError && step != .read)
    }
}

extension ClaimedManifest {
    /// Removes the submitted file when its copies are on the disk. A folder stays, because its pictures are needed.
    package func removeSubmitted() throws(FileError) {
        guard !isFolder else { return }
        do {
            try SubmittedFile.remove(FileName(name), of: id, from: folders.spool.active)
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Its name may not be valid Unicode.
            let active = try folders.active()
            try SubmittedFile(in: active)?.remove(from: active)
        }
    }

    /// The same manifest under another ID, because someone has put a file with this ID into the outbox.
    package func moved() throws(FileError) -> ClaimedManifest {
        let spool = folders.spool
        let new = try spool.makeBatch(Claim.id(of: name, isFolder: isFolder))
        // Replaces the folder that was just created, which is empty.
        try spool.active.rename(
            FileName(id), to: spool.active, as: FileName(new.id), replacing: true)
        var moved = self
        moved.folders = new
        return moved
    }
}
