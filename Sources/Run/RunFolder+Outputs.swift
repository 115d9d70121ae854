import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Foundation

extension RunFolder {
    /// Has images of an unfinished run repeated whose outputs somebody has removed.
    func repeatMissing(_ prepared: PreparedBatch) throws(RunError) -> PreparedBatch {
        var status = prepared.status
        let journal = try runError(of: folders.active().information(of: ItemJournal.fileName))
        var records: [JournalRecord] = []
        for index in try missing(status.images, after: journal?.statusChanged) {
            status.images[index] = status.images[index].anew
            records.append(.ended(index: index, status.images[index]))
        }
        guard !records.isEmpty else { return prepared }
        status.counts = Status.Counts(of: status.images)
        let repeated = records
        try runError(of: ItemJournal.append(repeated, in: folders.active(), durably: durably))
        return PreparedBatch(
            id: prepared.id, manifest: prepared.manifest, status: status,
            control: prepared.control, crashes: prepared.crashes, suspects: prepared.suspects,
            handOvers: prepared.handOvers.filter { status.images[$0].state == .filtered })
    }

    /// The images whose outputs are not in the folder (`OutputLook.missing`). Empty files are removed.
    func missing(
        _ images: [ImageStatus], after time: Double?, readsAll: Bool = false
    ) throws(RunError) -> [Int] {
        try OutputLook(outputs: outputs, removesEmpty: true)
            .missing(images, after: time, readsAll: readsAll)
    }
}

/// Finds out which outputs of a finished run must be made again.
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
        let outputs = outputs
        let made = images.enumerated().compactMap { index, image in
            image.state == .filtered ? image.output.map { (index: index, output: $0) } : nil
        }
        let looks = concurrentMap(made) { image in
            Result { () throws(FileError) in
                try outputs.information(ofOutput: image.output.file)
            }
        }
        for ((index, output), look) in zip(made, looks) {
            let found = try runError(of: look.get())
            guard let found else {
                missing.append(index)
                continue
            }
            if found.isRegularFile, found.length == 0, output.bytes > 0 {
                // A crash of the machine leaves an empty file if the content was not on the disk. Nobody loses anything
                // with it.
                if removesEmpty { try runError(of: outputs.remove(output: output.file)) }
                missing.append(index)
                continue
            }
            let isUntouched = !readsAll && time.map { found.statusChanged < $0 } ?? false
            if found.isRegularFile, found.length == output.bytes, isUntouched { continue }
            suspects.append(.init(file: output.file, bytes: output.bytes, sha256: output.sha256))
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
