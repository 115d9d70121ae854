import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import SystemPackage

/// Answers a claimed manifest: creates `outbox/ID` with the receipt, in one step.
package enum Receipt {
    /// The first status of a claimed manifest: `pending`, or `rejected`, which is final.
    ///
    /// - Parameter copy: the copy in its answer.
    package static func status(
        of claimed: ClaimedManifest, _ copy: ManifestCopy = .exact
    ) -> Status {
        let reference = Status.ManifestReference(
            name: claimed.name,
            file: claimed.reading.bytes == nil ? nil : "manifest.\(claimed.format.rawValue)",
            sha256: claimed.reading.sha256, bytes: claimed.reading.byteCount, uid: claimed.uid,
            identity: claimed.identity, isFolder: claimed.isFolder ? true : nil,
            redacted: copy.reference)
        switch claimed.reading.outcome {
        case .success(let manifest):
            var status = Status(
                id: claimed.id, manifest: reference, state: .pending, priority: manifest.priority,
                qualityOfService: manifest.qualityOfService,
                times: Status.Times(received: claimed.received),
                counts: Status.Counts(new: manifest.images.count),
                images: ImageStatus.initial(of: manifest), recipes: manifest.recipeReferences)
            status.versions = [.present]
            status.shards = claimed.folders.shard.map {
                Status.Shards(count: $0.count, number: $0.number)
            }
            return status
        case .failure(let rejection):
            return Status(
                id: claimed.id, manifest: reference, state: .rejected,
                times: Status.Times(received: claimed.received, finished: Clock.timestamp),
                errors: rejection.problems)
        }
    }

    /// Answers a claimed manifest with its first status. It uses another ID if someone has put a file with this ID into
    /// the outbox since the claim.
    ///
    /// - Parameter stop: checked between the pieces of a long status; if it is set, this throws ECANCELED.
    package static func issue(
        for claimed: ClaimedManifest, durably: Bool, stop: CancellationFlag = CancellationFlag()
    ) throws(FileError) -> (ClaimedManifest, Status) {
        var claimed = claimed
        let copy = ManifestCopy(of: claimed)
        while true {
            let status = status(of: claimed, copy)
            do {
                try issue(
                    status, manifest: claimed.reading.bytes, copy, in: claimed.folders,
                    durably: durably, stop: stop)
                return (claimed, status)
            } catch  where error.errno == .fileExists {
                claimed = try claimed.moved()
            }
        }
    }

    /// Builds the folder under `active/ID` and renames it to `outbox/ID`, so `outbox/ID` never exists without its
    /// status and its manifest.
    package static func issue(
        _ status: Status, manifest bytes: [UInt8]?, _ copy: ManifestCopy, in folders: BatchFolders,
        durably: Bool, stop: CancellationFlag = CancellationFlag()
    ) throws(FileError) {
        if folders.spool.run != nil {
            return try put(
                status, manifest: bytes, copy, in: folders, try folders.active(),
                durably: durably)
        }
        try build(status, manifest: bytes, copy, in: folders, durably: durably, stop: stop)
        try place(folders)
    }

    /// Builds the folder of the receipt under `active/ID`. For an accepted manifest it contains a second copy, because a
    /// restart needs the first one, and people may change the mode, the owner or the content of theirs. For a rejected
    /// manifest it contains the only copy, because a restart does not need it. For a manifest that is too large there is
    /// no copy.
    ///
    /// - Parameters:
    ///   - copy: the copy for the answer; if it is redacted, the exact manifest goes to where only the daemon reads it.
    ///   - hasSources: whether there may be a file for the patterns of the manifest.
    ///   - durably: waits until it is on the disk. Otherwise `sync` does this, or a sync of several receipts.
    package static func build(
        _ status: Status, manifest bytes: [UInt8]?, _ copy: ManifestCopy, hasSources: Bool = true,
        in folders: BatchFolders, durably: Bool, stop: CancellationFlag = CancellationFlag()
    ) throws(FileError) {
        // By their paths, of which no part is anybody's but the daemon's before `place`.
        let (active, id) = (folders.spool.active, FileName(folders.id))
        let receipt = id / BatchFile.receipt
        if try !active.makeIfMissing(receipt) {
            try withdraw(from: folders.active())
            try active.makeDirectory(receipt)
        }
        FaultPoint.receiptFolderMade.pass()
        try active.write(to: receipt / BatchFile.status, durably: durably) {
            write throws(FileError) in
            try status.writtenNow.encode { piece throws(FileError) in
                try stop.check(.write, active.path(of: receipt / BatchFile.status))
                try write(piece)
            }
        }
        FaultPoint.receiptStatusWritten.pass()
        if BatchProgress.isNeeded(for: status) {
            active.write(BatchProgress(of: status), to: receipt / BatchFile.progress)
        }
        if let name = status.manifest.file.map({ FileName($0) }) {
            if status.state == .rejected {
                if copy.isClosed { try active.close(id / name, durably: durably) }
                try active.rename(id / name, to: active, as: receipt / name)
                FaultPoint.receiptManifestMoved.pass()
            } else if let bytes {
                if copy.reference != nil, let format = status.manifest.format {
                    try ExactManifests(spool: folders.spool)
                        .keep(bytes, of: folders.id, format, durably: durably)
                }
                try active.write(
                    sparsely: copy.bytes ?? bytes, to: receipt / name, durably: durably)
                if copy.isClosed { try active.close(receipt / name, durably: durably) }
                FaultPoint.receiptManifestWritten.pass()
            }
        }
        if status.state != .rejected, hasSources {
            try copySources(from: folders.active(), to: Directory(receipt, in: active), durably)
        }
        if durably {
            try Directory(receipt, in: active).sync()
            FaultPoint.receiptSynced.pass()
        }
    }

    /// Waits until a receipt that was not built durably is on the disk.
    package static func sync(_ status: Status, _ folders: BatchFolders) throws(FileError) {
        if status.manifest.redacted != nil, let format = status.manifest.format {
            try ExactManifests(spool: folders.spool).sync(folders.id, format)
        }
        let receipt = try Directory(BatchFile.receipt, in: try folders.active())
        // The progress is never synced.
        for name in try receipt.names() where name != BatchFile.progress {
            try receipt.open(name).sync(path: receipt.path(of: name))
        }
        try receipt.sync()
        FaultPoint.receiptSynced.pass()
    }

    package static func place(_ folders: BatchFolders) throws(FileError) {
        let id = FileName(folders.id)
        try folders.spool.active.rename(id / BatchFile.receipt, to: folders.spool.outbox, as: id)
        FaultPoint.receiptMoved.pass()
    }

    /// Answers the manifest of a run. The folder of the answer exists, so its files are put there one by one: the status
    /// comes last and shows that there is an answer. A file of somebody else in the manifest's place stays, and this
    /// throws EEXIST, unless it has the same content.
    private static func put(
        _ status: Status, manifest bytes: [UInt8]?, _ copy: ManifestCopy,
        in folders: BatchFolders, _ active: Directory, durably: Bool
    ) throws(FileError) {
        let answer = try folders.outbox()
        if let bytes, let name = status.manifest.file.map({ FileName($0) }),
            try !folders.shareManifest(name, of: bytes, in: answer),
            try !answer.holds(bytes, as: name)
        {
            try active.write(
                sparsely: bytes, to: BatchFile.newManifest, replacing: true, durably: durably)
            if copy.isClosed { try active.close(BatchFile.newManifest, durably: durably) }
            FaultPoint.receiptManifestWritten.pass()
            try active.rename(BatchFile.newManifest, to: answer, as: name)
            FaultPoint.receiptManifestMoved.pass()
        }
        if status.state != .rejected { try copySources(from: active, to: answer, durably) }
        folders.writeProgress(BatchProgress(of: status))
        try folders.writeStatus(status, durably: durably)
    }

    /// Copies what the patterns of the manifest mean, for a retry and for people.
    private static func copySources(
        from active: Directory, to answer: Directory, _ durably: Bool
    ) throws(FileError) {
        guard try active.exists(BatchFile.sources) else { return }
        // In the folder of a run, somebody else may have put a pipe or a link in its place.
        try active.write(
            try active.read(BatchFile.sources), to: BatchFile.newSources, replacing: true,
            durably: durably)
        try active.rename(BatchFile.newSources, to: answer, as: BatchFile.sources, replacing: true)
    }

    /// Removes a receipt that was not moved to the outbox. A rejected manifest is first moved out of it, because there
    /// is no other copy. A redacted copy never takes the place of the manifest.
    package static func withdraw(from active: Directory) throws(FileError) {
        guard try active.exists(BatchFile.receipt) else { return }
        let receipt = try Directory(BatchFile.receipt, in: active)
        for name in ManifestFormat.allCases.map(BatchFile.manifest)
        where try receipt.exists(name) {
            if try !active.exists(name), try !isRedacted(receipt) {
                try receipt.rename(name, to: active, as: name)
            }
        }
        try active.removeTree(BatchFile.receipt)
    }

    private static func isRedacted(_ receipt: Directory) throws(FileError) -> Bool {
        guard try receipt.exists(BatchFile.status) else { return false }
        return try Status(frameIn: receipt)?.manifest.redacted != nil
    }

    /// Removes `active/ID`, with the pictures that were sent along, when the last status of the batch is in the outbox.
    /// If the manifest is missing in the outbox, because someone has removed the answer, it is moved there first: invalid
    /// manifests are never removed. What was submitted is moved back to `tmp` if there is no copy of it, because it was
    /// too large or cannot be read; returns its name there.
    ///
    /// - Parameter mayBeFolder: whether it may have been submitted as a folder.
    @discardableResult
    package static func finish(
        _ folders: BatchFolders, format: ManifestFormat, mayBeFolder: Bool = true, durably: Bool
    ) throws(FileError) -> FileName? {
        let name = BatchFile.manifest(format)
        var givenBack: FileName?
        if try !folders.holdsAnswer(name) {
            let outbox = try folders.outbox()
            let active = try folders.active()
            if try active.exists(name) {
                if ManifestSecrecy.mayHoldSecrets(try active.read(name), in: nil) {
                    try active.close(name, durably: durably)
                }
                try active.rename(name, to: outbox, as: name)
                if durably { try outbox.sync() }
            } else if let submitted = try SubmittedFile(in: active) {
                givenBack = try giveBack(submitted, of: active, folders.spool, durably: durably)
            }
        }
        try folders.spool.removeEnded(
            folders.id, format, mayBeFolder: mayBeFolder, durably: durably)
        FaultPoint.activeRemoved.pass()
        return givenBack
    }

    private static func giveBack(
        _ submitted: SubmittedFile, of active: Directory, _ spool: Spool, durably: Bool
    ) throws(FileError) -> FileName {
        let tmp = try spool.openTmp()
        let name: FileName
        do {
            name = try submitted.giveBack(to: tmp)
        } catch
            where submitted.hasFolder && [.permissionDenied, .notPermitted].contains(error.errno)
        {
            name = try submitted.giveBackClosed(of: active, to: tmp)
        }
        FaultPoint.submittedGivenBack.pass()
        if durably { try tmp.sync() }
        return name
    }
}

extension Directory {
    package func holds(_ bytes: [UInt8], as name: FileName) throws(FileError) -> Bool {
        guard let found = try information(of: name), found.isRegularFile,
            found.length == bytes.count
        else { return false }
        return try ignoringMissing(read(name, upTo: bytes.count) == bytes) ?? false
    }
}
