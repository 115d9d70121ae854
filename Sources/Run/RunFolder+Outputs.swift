import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Foundation

/// The outputs of an unfinished or finished run: which are missing, and what makes them again.
extension RunFolder {
    /// Has images of an unfinished run repeated whose outputs somebody has removed.
    func repeatMissing(_ prepared: PreparedBatch) throws(RunError) -> PreparedBatch {
        var status = prepared.status
        let journal = try runError { () throws(FileError) in
            try folders.active().information(of: ItemJournal.fileName)
        }
        var records: [JournalRecord] = []
        for index in try missing(status.images, after: journal?.statusChanged) {
            status.images[index] = status.images[index].anew
            records.append(.ended(index: index, status.images[index]))
        }
        guard !records.isEmpty else { return prepared }
        status.counts = Status.Counts(of: status.images)
        let repeated = records
        try runError { () throws(FileError) in
            try ItemJournal.append(repeated, in: folders.active(), durably: durably)
        }
        return PreparedBatch(
            id: prepared.id, manifest: prepared.manifest, status: status,
            control: prepared.control, crashes: prepared.crashes, suspects: prepared.suspects,
            handOvers: prepared.handOvers.filter { status.images[$0].state == .filtered })
    }

    /// Looks at each output of a finished shard. Missing ones are made again, and failed images are repeated if the user
    /// wants that.
    func check() throws(RunError) -> Finding {
        let status = try runError { () throws(FileError) in try Status(in: answer) }
        guard let status else { throw RunError(unreadableStatusIn: answer) }
        let isIncomplete = try !missing(status.images, after: Self.end(of: status)).isEmpty
        let isRepeated = job.retries && status.images.contains { $0.state != .filtered }
        let hasSources = try restoreSources(of: status)
        guard isIncomplete || isRepeated else { return .finished(status) }
        guard hasSources else {
            throw .unusable(
                folder: job.folder,
                reason: job.manifest.found.patterns.isEmpty
                    ? "\(BatchFile.sources.text) is gone, and the sources of the manifest have other pages now"
                    : "\(BatchFile.sources.text) is gone, and the patterns of the manifest mean other pictures now"
            )
        }
        try requireOwnSources()
        return try reopen()
    }

    /// Writes `sources.json` again if somebody has removed it, and if the sources of the manifest still mean the same.
    ///
    /// - Returns: false if it is gone and they mean something else.
    private func restoreSources(of status: Status) throws(RunError) -> Bool {
        let found = job.manifest.found
        let isThere = try runError { () throws(FileError) in
            try answer.exists(BatchFile.sources)
        }
        if found.isEmpty || isThere { return true }
        let images = ImageStatus.initial(of: job.manifest)
        let isSame = images.elementsEqual(status.images) {
            $0.name == $1.name && $0.source == $1.source && $0.from == $1.from
        }
        guard isSame else { return false }
        try runError { () throws(FileError) in
            try answer.write(
                found.encoded(), to: BatchFile.sources, durably: durably)
        }
        return true
    }

    /// Makes sure that `sources.json` names files of the patterns only: others may have written it.
    private func requireOwnSources() throws(RunError) {
        guard !job.manifest.found.isEmpty else { return }
        let found = try runError { () throws(FileError) in try SourceRecord.read(in: answer) }
        for entry in found?.patterns ?? [] {
            guard let stranger = entry.stranger else { continue }
            throw .unusable(
                folder: job.folder,
                reason:
                    "\(BatchFile.sources.text) was changed: ‘\(stranger.string)’ is not a file of ‘\(entry.pattern.string)’"
            )
        }
    }

    /// As `OutputLook.missing`.
    func missing(
        _ images: [ImageStatus], after time: Double?, readsAll: Bool = false
    ) throws(RunError) -> [Int] {
        try OutputLook(outputs: outputs, removesEmpty: true)
            .missing(images, after: time, readsAll: readsAll)
    }

    func reopen() throws(RunError) -> Finding {
        try runError { () throws(FileError) in
            let copy = BatchFile.manifest(job.format)
            if try !answer.exists(copy),
                try !folders.shareManifest(copy, of: job.bytes, in: answer)
            {
                try answer.write(job.bytes, to: copy, durably: durably)
                try answer.closeManifest(copy, of: job.bytes, job.manifest)
            }
        }
        let request = ControlRecord(.retry, uid: geteuid())
        let reopening = Reopening(spool: spool, examination: examination, durably: durably)
        let outcome = try runError { () throws(FileError) in
            try reopening.reopen(job.id, request) { job.retries && $0.state != .filtered }
        }
        switch outcome {
        case .reopened(let prepared): return .unfinished(prepared)
        case .unusable(let reason): throw .unusable(folder: job.folder, reason: reason)
        case .nothingToDo, .picturesGone, .isInWork, .isRejected, .refused:
            throw .unusable(folder: job.folder, reason: "the finished run cannot be reopened")
        }
    }
}

/// Looks whether the outputs of images are in a folder.
struct OutputLook {
    let outputs: Directory
    /// Whether files are removed that a crash of the machine has left empty.
    let removesEmpty: Bool

    /// The images that are filtered, but whose outputs are not in the folder.
    ///
    /// An output whose inode has changed since the run last worked, because somebody has written into it, renamed or
    /// copied it, is read. All others are not: the next run of a finished folder takes milliseconds.
    ///
    /// - Parameters:
    ///   - time: when the run last worked, in seconds since 1970; nil if that is not known.
    ///   - readsAll: whether all outputs are read.
    /// - Throws: if an output is not as it was written.
    func missing(
        _ images: [ImageStatus], after time: Double?, readsAll: Bool
    ) throws(RunError) -> [Int] {
        var missing: [Int] = []
        var suspects: [ImageOutline.Output] = []
        for (index, image) in images.enumerated() where image.state == .filtered {
            guard let output = image.output else { continue }
            let found = try runError { () throws(FileError) in
                try outputs.information(ofOutput: output.file)
            }
            guard let found else {
                missing.append(index)
                continue
            }
            if found.isRegularFile, found.length == 0, output.bytes > 0 {
                // A crash of the machine leaves an empty file if the content was not on the disk. Nobody loses anything
                // with it.
                if removesEmpty {
                    try runError { () throws(FileError) in
                        try outputs.remove(output: output.file)
                    }
                }
                missing.append(index)
                continue
            }
            let isUntouched = !readsAll && time.map { found.statusChanged < $0 } ?? false
            if found.isRegularFile, found.length == output.bytes, isUntouched { continue }
            suspects.append(
                .init(file: output.file, bytes: output.bytes, sha256: output.sha256))
        }
        let check = OutputCheck(outputs: outputs, readsContent: true)
        let faults = concurrentMap(suspects) { check.fault(of: $0) }
        for (output, fault) in zip(suspects, faults) {
            guard let fault else { continue }
            if case .unreadable(let error) = fault { throw RunError(error) }
            throw .outputChanged(outputs.path(of: FileName(output.file)), fault)
        }
        return missing
    }
}
