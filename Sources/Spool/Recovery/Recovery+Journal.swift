import DarkroomAnswer
import DarkroomCore
import SystemPackage

/// What a former process has left of the images of a batch.
extension Recovery {
    /// Records in the batch's journal which of its pictures the previous process was filtering when it ended, and
    /// returns them.
    func journalCrashes(
        of folders: BatchFolders, _ active: Directory
    ) throws(FileError) -> Set<Int> {
        let crashes = spool.crashRecords.crashes(of: folders.id)
        guard !crashes.isEmpty else { return [] }
        try ItemJournal.mend(in: active)
        let records = crashes.map {
            JournalRecord.crashed(index: $0.image, number: $0.number, $0.cause)
        }
        try ItemJournal.append(records, in: active, durably: durably)
        FaultPoint.recoveryCrashJournaled.pass()
        spool.crashRecords.clearCrashes(of: folders.id)
        return Set(crashes.map(\.image))
    }

    /// What a journal has besides the status.
    struct JournalContent {
        /// The state that control files have set.
        var control = ControlState.free
        var crashes: [Int: Crashes] = [:]
        var undelivered: [Int: UndeliveredImage] = [:]
    }

    /// Applies the journal and completes its renames.
    func applyJournal(
        to status: inout Status, _ folders: BatchFolders, _ active: Directory
    ) throws(FileError) -> JournalContent {
        try ItemJournal.mend(in: active)
        var content = JournalContent()
        try ItemJournal.read(in: active) { record in
            switch record {
            case .cancelled: content.control = .cancelled
            case .commanded(let record):
                status.note(record)
                content.control.follow(record.command)
            case .reopened(let record):
                status.retries = record.retries
                status.commands = record.commands
            case .crashed(let index, let number, let cause):
                content.crashes[index, default: Crashes(of: spool.victim)].add(
                    cause, number: number)
            case .ended(let index, let image):
                if status.images.indices.contains(index) { status.images[index] = image }
                content.undelivered[index] = nil
            case .delivering(let index, let image):
                if status.images.indices.contains(index) { content.undelivered[index] = image }
            case .moving: break  // Whoever moves the originals reads it.
            }
        }
        for index in content.undelivered.keys where try !active.exists(BatchFile.output(index)) {
            // Somebody has removed it. The image is made again.
            content.undelivered[index] = nil
        }
        status.counts = Status.Counts()
        status.counts.total = status.images.count
        for index in status.images.indices {
            if status.images[index].state == .filtered {
                try finishRename(index, &status.images[index], folders, active)
            }
            let image = status.images[index]
            status.counts.count(image.state, isWarned: image.isWarned)
        }
        return content
    }

    /// Has the images made again whose outputs went away together with the whole answer, such as by an outbox that was
    /// exchanged for another folder. If only an output is gone, a user has taken it out of the answer, and its image
    /// stays done.
    ///
    /// The journal says so before there is a new answer: the next start could not know that it is new.
    func repeatImagesWithoutAnswer(
        of fresh: Status, _ folders: BatchFolders, _ active: Directory
    ) throws(FileError) {
        try ItemJournal.mend(in: active)
        var outputs: [Int: FileName] = [:]
        try ItemJournal.read(in: active) { record in
            guard case .ended(let index, let image) = record else { return }
            outputs[index] = image.state == .filtered ? image.output.map { FileName($0.file) } : nil
        }
        var records: [JournalRecord] = []
        for (index, name) in outputs.sorted(by: { $0.key < $1.key })
        where fresh.images.indices.contains(index) {
            if try active.exists(BatchFile.output(index)) { continue }
            if try folders.holdsOutput(name) { continue }
            records.append(.ended(index: index, fresh.images[index]))
        }
        if !records.isEmpty { try ItemJournal.append(records, in: active, durably: durably) }
    }

    /// Removes incomplete files: downloaded bytes, and pictures that no journal record confirms. Returns the images
    /// whose pixels are kept for others.
    func clearScrap(
        of status: Status, _ undelivered: [Int: UndeliveredImage], _ active: Directory
    ) throws(FileError) -> Set<Int> {
        var handOvers: Set<Int> = []
        let kept = Set(undelivered.keys.map(BatchFile.output))
        for name in try active.names() where Self.isScrap(name) && !kept.contains(name) {
            if let index = BatchFile.index(ofPixels: name), status.images.indices.contains(index),
                status.images[index].state == .filtered || undelivered[index] != nil
            {
                handOvers.insert(index)
                continue
            }
            try active.remove(name)
            FaultPoint.recoveryScrapRemoved.pass()
        }
        return handOvers
    }

    /// Moves an output that is still in `active` to the outbox. If it is not in `active`, it was in the outbox already,
    /// whatever users have done with it. If someone has put another file with its name there, that file stays and the
    /// image fails, as it would without the restart (`BatchFolders.publish`).
    private func finishRename(
        _ index: Int, _ image: inout ImageStatus, _ folders: BatchFolders, _ active: Directory
    ) throws(FileError) {
        let name = BatchFile.output(index)
        guard let output = image.output, try active.exists(name) else { return }
        do {
            let failure = try folders.publish(index, as: output, durably: durably)
            if let failure {
                image.fail(failure)
            } else {
                return FaultPoint.recoveryOutputMoved.pass()
            }
        } catch  where error.errno == .fileExists {
            image.fail(error)
        }
        try ItemJournal.append([.ended(index: index, image)], in: active, durably: durably)
    }

    private static func isScrap(_ name: FileName) -> Bool {
        BatchFile.isScratch(name)
            || ["status.new", "sizes.new", "progress.new", "journal.new"].contains {
                name.text.hasPrefix($0)
            }
    }
}
