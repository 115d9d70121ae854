import DarkroomAnswer
import DarkroomCore

/// The file `outbox/ID/progress.json`. A refused write is never reported: `status.json` has the same numbers, and the
/// next change writes the file anew.
extension BatchFolders {
    /// The progress in the outbox; nil if it cannot be read.
    package func progress() -> BatchProgress? {
        guard let bytes = try? outbox().read(BatchFile.progress, upTo: BatchProgress.capacity)
        else { return nil }
        return BatchProgress(decoding: bytes)
    }

    /// Replaces the file as a whole. If the progress is final and cannot be written, the old file is removed, because
    /// nothing would correct it.
    ///
    /// - Returns: false if it could not be written.
    @discardableResult
    package func writeProgress(_ progress: BatchProgress) -> Bool {
        do throws(FileError) {
            // By their paths: to open two folders for each file costs more than to write it.
            let new = pathInActive(BatchFile.newProgress)
            try spool.active.write(progress.encoded(), to: new, replacing: true, durably: false)
            try spool.active.rename(
                new, to: spool.outbox, as: pathInOutbox(BatchFile.progress), replacing: true)
            return true
        } catch {
            if progress.state.isFinal { try? outbox().remove(BatchFile.progress) }
            return false
        }
    }

    /// Has the file agree with the whole status of the batch, unless it does.
    func correctProgress(_ status: Status) {
        let correct = BatchProgress(of: status)
        let isWrong =
            progress().map { !$0.saysTheSame(as: correct) } ?? BatchProgress.isNeeded(for: status)
        if isWrong { writeProgress(correct) }
    }

    /// The same for an ended batch, of whose status the images are not known here.
    func correctProgress(ended status: Status) {
        if let progress = progress(), progress.state == status.state,
            progress.times == status.times
        {
            return
        }
        if let whole = try? Status(in: outbox()) { correctProgress(whole) }
    }

    /// Has the file agree with a status that was changed apart from its images.
    ///
    /// - Parameter status: with its images or without.
    package func amendProgress(_ status: Status) {
        var outputBytes: Int?
        if status.images.isEmpty {
            outputBytes = progress()?.outputBytes ?? (try? Status(in: outbox()))?.outputBytes
        }
        writeProgress(BatchProgress(of: status, outputBytes: outputBytes))
    }
}

extension Directory {
    /// Writes the progress of a batch into its receipt.
    func write(_ progress: BatchProgress, to name: FileName) {
        do {
            try write(progress.encoded(), to: name, durably: false)
        } catch {
            // Without half a file, readers know that they have to read the status.
            try? remove(name)
        }
    }
}
