/// What a start finds in `active`, and what it does about it: the last column of the table in `Spool`.
package struct Recovery: Sendable {
    let spool: Spool
    let examination: Examination
    let durably: Bool

    /// What became of one folder.
    package enum Finding: Sendable {
        /// There was no manifest in it: the claim had not got that far. The folder is gone.
        case empty
        /// Its answer was complete; the folder is gone.
        case finished
        /// Its manifest is not acceptable any more, or never was; it has been answered so.
        case rejected(Status)
        case unfinished(PreparedBatch)
    }

    /// The IDs of the batches in `active`, sorted.
    package func ids() throws(FileError) -> [String] { try ActiveFolder(of: spool).ids }

    /// Puts one folder in order.
    package func recover(_ id: String) throws(FileError) -> Finding {
        let folders = BatchFolders(spool: spool, id: id)
        let active = try folders.active()
        try Receipt.withdraw(from: active)
        let status = try answer(of: folders)
        guard let format = try format(in: active, status) else {
            if status == nil || status?.state.isFinal == true {
                try spool.active.removeTree(FileName(id))
                return status == nil ? .empty : .finished
            }
            throw FileError(
                "resume: its manifest is missing", active.path(of: "manifest.*"),
                .noSuchFileOrDirectory)
        }
        if let status, status.state.isFinal {
            try Receipt.finish(folders, format: format, durably: durably)
            return .finished
        }
        return try resume(folders, format, status, active)
    }

    /// Prepares a batch that has its receipt.
    package func prepare(_ folders: BatchFolders) throws(FileError) -> Finding {
        try recover(folders.id)
    }

    private func resume(
        _ folders: BatchFolders, _ format: ManifestFormat, _ status: Status?, _ active: Directory
    ) throws(FileError) -> Finding {
        let reading = try reading(folders, format, status, active)
        let claimed = ClaimedManifest(
            folders: folders, name: status?.manifest.name ?? "\(folders.id).\(format.rawValue)",
            format: format, received: status?.times.received ?? Clock.timestamp, reading: reading)
        var fresh = Receipt.status(of: claimed)
        guard case .success(let manifest) = reading.outcome else {
            try answer(fresh, folders, manifest: nil)
            try Receipt.finish(folders, format: format, durably: durably)
            return .rejected(fresh)
        }
        if status == nil {
            try answer(fresh, folders, manifest: reading.bytes)
        }
        fresh.times.started = status?.times.started
        let isCancelled = try applyJournal(to: &fresh, folders, active)
        return .unfinished(
            PreparedBatch(
                folders: folders, manifest: manifest, status: fresh, isCancelled: isCancelled))
    }

    /// Puts a status into the outbox: with its folder, or into the one that is there, whose status was there
    /// before or has been removed by someone.
    private func answer(
        _ status: Status, _ folders: BatchFolders, manifest bytes: [UInt8]?
    ) throws(FileError) {
        if try spool.outbox.exists(FileName(folders.id)) {
            try folders.writeStatus(status, durably: durably)
        } else {
            try Receipt.issue(status, manifest: bytes, in: folders, durably: durably)
        }
        if durably { try spool.outbox.sync() }
    }

    /// The manifest as it was taken. Should its owner have changed the file since, which was theirs before,
    /// the copy in the outbox counts.
    private func reading(
        _ folders: BatchFolders, _ format: ManifestFormat, _ status: Status?, _ active: Directory
    ) throws(FileError) -> ManifestReading {
        let name = BatchFile.manifest(format)
        let reading = try examination.read(name, format, in: active)
        guard let status, status.manifest.sha256 != reading.sha256,
            let outbox = try? folders.outbox(),
            let copy = try? examination.read(name, format, in: outbox),
            copy.sha256 == status.manifest.sha256
        else { return reading }
        return copy
    }

    /// The status in the outbox; nil where there is none that can be read.
    private func answer(of folders: BatchFolders) throws(FileError) -> Status? {
        do {
            return Status(decoding: try folders.outbox().read(BatchFile.status))
        } catch  where error.errno == .noSuchFileOrDirectory {
            return nil
        }
    }

    private func format(
        in active: Directory, _ status: Status?
    ) throws(FileError) -> ManifestFormat? {
        for format in ManifestFormat.allCases {
            if try active.exists(BatchFile.manifest(format)) { return format }
        }
        return nil
    }

    /// Takes over what the journal says, finishes the renames it decided, and clears away what was begun
    /// and not finished. Gives whether the batch was cancelled.
    private func applyJournal(
        to status: inout Status, _ folders: BatchFolders, _ active: Directory
    ) throws(FileError) -> Bool {
        try ItemJournal.mend(in: active)
        var isCancelled = false
        for record in try ItemJournal.read(in: active) {
            switch record {
            case .cancelled: isCancelled = true
            case .ended(let index, let image):
                guard status.images.indices.contains(index) else { continue }
                status.images[index] = image
            }
        }
        status.counts = Status.Counts()
        status.counts.total = status.images.count
        for index in status.images.indices {
            if status.images[index].state == .filtered {
                try finishRename(index, &status.images[index], folders, active)
            }
            status.counts[status.images[index].state] += 1
        }
        for name in try active.names() where Self.isScrap(name) {
            try active.remove(name)
        }
        return isCancelled
    }

    /// An output that is still in `active` goes to the outbox. One that is not has been there already,
    /// whatever its users did with it since. A file of its name that someone else has put there stays, and
    /// the image fails, as it would have without the restart.
    private func finishRename(
        _ index: Int, _ image: inout ImageStatus, _ folders: BatchFolders, _ active: Directory
    ) throws(FileError) {
        let name = BatchFile.output(index)
        guard let output = image.output, try active.exists(name) else { return }
        do {
            try active.rename(
                name, to: try folders.restoredOutbox(), as: FileName(output.file))
        } catch  where error.errno == .fileExists {
            image.fail(error)
            try ItemJournal.append([.ended(index: index, image)], in: active, durably: durably)
        }
    }

    /// Fetched bytes and outputs that no journal record vouches for.
    private static func isScrap(_ name: FileName) -> Bool {
        ["source-", "output-", "status.new", "journal.new"].contains { name.text.hasPrefix($0) }
    }
}
