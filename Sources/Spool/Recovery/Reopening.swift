import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import Synchronization

/// Reopens a finished batch to repeat images that failed or were cancelled.
///
/// | step                                             | after a crash at this point                        |
/// |--------------------------------------------------|----------------------------------------------------|
/// | `active/.retry-ID` created, with manifest, journal | the start removes it, as if nothing had happened |
/// | renamed to `active/ID`                           | the journal has a `reopened` record for the end in |
/// |                                                  | the status: `Recovery` continues                   |
/// | status replaced                                  | as with any batch in work                          |
/// | last status written                              | its end is a later one: `Recovery` cleans up       |
package struct Reopening {
    let spool: Spool
    let examination: Examination
    let durably: Bool

    package init(spool: Spool, examination: Examination, durably: Bool) {
        self.spool = spool
        self.examination = examination
        self.durably = durably
    }

    package static let prefix = ".retry-"

    package enum Outcome: Sendable {
        case reopened(PreparedBatch)
        /// Every image is filtered and its output exists.
        case nothingToDo
        /// The pictures of all images that would be repeated came with the manifest, and are gone.
        case picturesGone
        case isInWork
        case isRejected
        case refused(owner: UInt32?)
        case unusable(String)
    }

    /// Repeats images of a finished batch. An image whose picture came with the manifest and is gone is not repeated: it
    /// keeps its status, with its own error.
    ///
    /// - Parameter request: the record of the `retry` command.
    /// - Parameter isGone: whether a source was one of the pictures that came with the manifest. It is asked only if some
    ///   came.
    package func reopen(
        _ id: String, _ request: ControlRecord,
        without isGone: (SourceReference) -> Bool = { _ in false }
    ) throws(FileError) -> Outcome {
        // Code that removes finished batches uses the same lock.
        try spool.finishedBatches.withLock { _ throws(FileError) in
            try reopenAlone(id, request, isGone)
        }
    }

    private func reopenAlone(
        _ id: String, _ request: ControlRecord, _ isGone: (SourceReference) -> Bool
    ) throws(FileError) -> Outcome {
        if try spool.active.exists(FileName(id)) { return try goOn(id, request) }
        let folders = BatchFolders(spool: spool, id: id)
        let outbox = try folders.outbox()
        guard var status = try Status(in: outbox), FileName(status.id) == FileName(id)
        else { return .unusable("its status.json: \(StatusDefect.sentence(in: outbox))") }
        guard let finished = status.times.finished, status.state.isFinal else {
            return .unusable("its status.json does not show that it has ended")
        }
        guard spool.permits(request, forBatchOf: status.manifest.uid) else {
            return .refused(owner: status.manifest.uid)
        }
        guard status.state != .rejected else { return .isRejected }
        if status.commands?.has(fileOf: request) == true {
            return .unusable("it has taken effect before")
        }
        guard let format = status.manifest.format else {
            return .unusable("its status.json names no manifest")
        }
        let found = try SourceRecord.read(inAnswerOf: folders)
        guard
            let (file, folder) = try ExactManifests(spool: spool).place(
                of: status, format, in: outbox)
        else { return .unusable(ExactManifests.goneReason) }
        let reading = try examination.accepting(status, found).read(
            accepted: file, format, bytes: status.manifest.bytes, in: folder)
        guard reading.sha256 == status.manifest.sha256, let bytes = reading.bytes else {
            return .unusable("\(file.text) is not the manifest that was taken")
        }
        guard case .success(let manifest) = reading.outcome,
            manifest.images.map(\.name) == status.images.map({ ByteString($0.name) })
        else { return .unusable("its manifest would not be accepted any more") }

        let outputs = try folders.outputs()
        var wanted: [Int] = []
        for index in status.images.indices
        where try isWanted(status.images[index], in: outputs) { wanted.append(index) }
        guard !wanted.isEmpty else { return .nothingToDo }
        let isFolder = status.manifest.isFolder == true
        if isFolder, try folders.originals() == nil {
            let lost = LostImages(manifest, isRepeated: Set(wanted), isGone)
            wanted.removeAll(where: lost.contains)
            guard !wanted.isEmpty else { return .picturesGone }
        }
        for index in wanted { status.images[index] = status.images[index].anew }
        status.note(request)
        let (retries, isTooMany) = (status.retries ?? 0).addingReportingOverflow(1)
        guard !isTooMany else { return .unusable("its status.json counts \(retries) retries") }
        let record = ReopenedRecord(of: finished, retries: retries, commands: status.commands ?? [])
        try build(
            id, manifest: bytes, format, record, status.images, found: manifest.found,
            lacksPictures: isFolder)
        return try resume(id)
    }

    /// A batch in `active` is in work. The exception is one that was renamed there before the disk failed: while its
    /// status is still the previous final one, no code works on it.
    private func goOn(_ id: String, _ request: ControlRecord) throws(FileError) -> Outcome {
        let folders = BatchFolders(spool: spool, id: id)
        guard let status = try Status(frameIn: folders.outbox()), status.state.isFinal,
            case .reopened(let record)? = try ItemJournal.first(in: folders.active()),
            record.isOf(status), spool.permits(request, forBatchOf: status.manifest.uid)
        else { return .isInWork }
        return try resume(id)
    }

    /// Whether an image is repeated: it is not filtered, or its output does not exist.
    private func isWanted(_ image: ImageStatus, in outputs: Directory) throws(FileError) -> Bool {
        guard image.state == .filtered else { return true }
        guard let output = image.output else { return image.published != false }
        return try !outputs.exists(FileName(output.file))
    }

    private func build(
        _ id: String, manifest: [UInt8], _ format: ManifestFormat, _ record: ReopenedRecord,
        _ images: [ImageStatus], found: SourceRecord, lacksPictures: Bool
    ) throws(FileError) {
        let name = FileName(Self.prefix + id)
        if try spool.active.exists(name) { try spool.ended.remove(name) }
        try spool.active.makeDirectory(name, mode: 0o700)
        let folder = try Directory(name, in: spool.active)
        if !found.isEmpty {
            try folder.write(found.encoded(), to: BatchFile.sources, durably: durably)
        }
        try folder.write(manifest, to: BatchFile.manifest(format), durably: durably)
        if lacksPictures { try folder.write([], to: BatchFile.picturesGone, durably: durably) }
        try ItemJournal.begin(in: folder, reopening: record, images, durably: durably)
        if durably { try folder.sync() }
        FaultPoint.retryBuilt.pass()
        try spool.active.rename(name, to: spool.active, as: FileName(id))
        FaultPoint.retryMoved.pass()
        if durably { try spool.active.sync() }
    }

    /// Does the same as a start with this folder.
    private func resume(_ id: String) throws(FileError) -> Outcome {
        let recovery = Recovery(spool: spool, examination: examination, durably: durably)
        switch try recovery.recover(id) {
        case .unfinished(let prepared): return .reopened(prepared)
        case .rejected: return .isRejected
        case .removed: return .unusable("files that it needs were removed from the spool")
        case .empty, .putBack, .finished: return .isInWork
        }
    }
}

extension ImageStatus {
    /// The image for a repetition; its number of attempts is kept.
    package var anew: ImageStatus {
        ImageStatus(
            name: name, source: source, from: from, variantOf: variantOf, published: published,
            attempts: attempts)
    }
}
