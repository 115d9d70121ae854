import DarkroomCore
import DarkroomManifest
import SwiftGlibc
import SystemPackage

/// What a start finds in `active`, and what it does about it: the last column of the table in `Spool`.
package struct Recovery: Sendable {
    let spool: Spool
    let examination: Examination
    let durably: Bool

    package init(spool: Spool, examination: Examination, durably: Bool) {
        self.spool = spool
        self.examination = examination
        self.durably = durably
    }

    /// What became of one folder.
    package enum Finding: Sendable {
        /// There was no manifest in it: the claim had not got that far. The folder is gone.
        case empty
        /// What had been claimed under this name is no regular file, and is in the inbox again.
        case putBack(FileName)
        /// Its answer was complete; the folder is gone. A file that was too large for it is in `tmp`, under this name.
        case finished(givenBack: FileName?)
        /// Its manifest is not acceptable any more, or never was; it has been answered so.
        /// A file that was too large for the answer is in `tmp`, under this name.
        case rejected(Status, givenBack: FileName?)
        /// Someone has removed its manifest, or all of its folder; what was not done has failed.
        case removed(Status)
        case unfinished(PreparedBatch)
    }

    /// The IDs of the batches in `active`, sorted.
    package func ids() throws(FileError) -> [String] { try ActiveFolder(of: spool).ids }

    /// Puts one folder in order.
    package func recover(_ id: String) throws(FileError) -> Finding {
        let folders = BatchFolders(spool: spool, id: id)
        let active: Directory
        do {
            active = try folders.active()
        } catch  where error.errno == .noSuchFileOrDirectory {
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
                try spool.active.removeTree(FileName(id))
                FaultPoint.recoveryEmptyRemoved.pass()
                return .empty
            }
            if status.state.isFinal { return try finish(folders, .json) }
            return try restoreManifest(folders, status, active)
        }
        if let status, status.state.isFinal, try !wasReopened(status, active) {
            return try finish(folders, format)
        }
        return try resume(folders, format, status, active)
    }

    private func finish(
        _ folders: BatchFolders, _ format: ManifestFormat
    ) throws(FileError) -> Finding {
        let givenBack = try Receipt.finish(folders, format: format, durably: durably)
        FaultPoint.recoveryFinished.pass()
        return .finished(givenBack: givenBack)
    }

    /// Answers what has no receipt yet: goes on with a claim as `Claim` does, from the file that was dropped, for a
    /// copy of it may be half written.
    private func answer(
        _ submitted: SubmittedFile, _ folders: BatchFolders, _ active: Directory
    ) throws(FileError) -> Finding {
        guard let information = try submitted.information(), information.isRegularFile,
            let format = ManifestFormat(fileName: submitted.name.text)
        else {
            let name = try submitted.giveBack(to: spool.openInbox())
            try spool.active.removeTree(FileName(folders.id))
            return .putBack(name)
        }
        let reading = try examination.read(submitted.name, format, in: submitted.folder)
        try reading.copy(to: active, format, durably: durably)
        let claimed = ClaimedManifest(
            folders: folders, name: submitted.name.text, format: format,
            received: Clock.timestamp, reading: reading, uid: information.st_uid,
            identity: try submitted.folder.droppedIdentity(of: submitted.name))
        if durably {
            let claim = Claim(
                spool: spool, inbox: try spool.openInbox(), examination: examination,
                durably: durably)
            try claim.sync([claimed])
        }
        return try resume(claimed, nil, active)
    }

    /// Prepares a batch that has its receipt.
    package func prepare(_ folders: BatchFolders) throws(FileError) -> Finding {
        try recover(folders.id)
    }

    /// Whether the folder is that of a batch taken up again after it ended with this status.
    private func wasReopened(_ status: Status, _ active: Directory) throws(FileError) -> Bool {
        guard case .reopened(let record) = try ItemJournal.first(in: active) else { return false }
        return record.isOf(status)
    }

    /// Takes back the copy of a manifest that was removed from `active`, or ends the batch without it.
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

    /// Ends a batch of which nothing is left but its answer and perhaps its journal.
    private func end(
        _ folders: BatchFolders, _ status: Status, _ format: ManifestFormat, _ active: Directory?
    ) throws(FileError) -> Finding {
        var status = try wholeAnswer(of: folders) ?? status
        var crashes: [Int: Crashes] = [:]
        if let active { _ = try applyJournal(to: &status, &crashes, folders, active) }
        let last = status.removed(from: folders)
        try folders.writeLastStatus(last, durably: durably)
        try Receipt.finish(folders, format: format, durably: durably)
        return .removed(last)
    }

    private func resume(
        _ folders: BatchFolders, _ format: ManifestFormat, _ status: Status?, _ active: Directory
    ) throws(FileError) -> Finding {
        guard let reading = try reading(folders, format, status, active) else {
            // What is there is not what was accepted, and nothing else is to be done in its name.
            guard let status else { return .empty }
            return try end(folders, status, format, active)
        }
        // Without its answer, and without the file that was dropped, nothing else tells what it was called.
        let claimed = ClaimedManifest(
            folders: folders, name: status?.manifest.name ?? "\(folders.id).\(format.rawValue)",
            format: format, received: status?.times.received ?? Clock.timestamp, reading: reading,
            uid: try status == nil
                ? active.information(of: BatchFile.manifest(format))?.st_uid : status?.manifest.uid,
            // Without a status nothing tells: what lies in `active` is a copy.
            identity: status?.manifest.identity)
        return try resume(claimed, status, active)
    }

    private func resume(
        _ claimed: ClaimedManifest, _ status: Status?, _ active: Directory
    ) throws(FileError) -> Finding {
        let folders = claimed.folders
        var fresh = Receipt.status(of: claimed)
        guard case .success(let manifest) = claimed.reading.outcome else {
            try answer(fresh, folders, manifest: nil)
            let givenBack = try Receipt.finish(
                folders, format: claimed.format, durably: durably)
            return .rejected(fresh, givenBack: givenBack)
        }
        if status == nil {
            try answer(fresh, folders, manifest: claimed.reading.bytes)
        }
        // It has its answer, and the daemon its own copy.
        try SubmittedFile(in: active)?.remove(from: active)
        fresh.times.started = status?.times.started
        let suspects = try journalCrashes(of: folders, active)
        var crashes: [Int: Crashes] = [:]
        let control = try applyJournal(to: &fresh, &crashes, folders, active)
        let handOvers = try clearScrap(of: fresh, active)
        if control == .held { fresh.state = .held }
        if let status { try correct(status, to: fresh, folders) }
        return .unfinished(
            PreparedBatch(
                folders: folders, manifest: manifest, status: fresh, control: control,
                crashes: crashes, suspects: suspects, handOvers: handOvers))
    }

    /// Has the status in the outbox say what is so from now on. It is written whole soon after where the batch had
    /// begun (`Board.accept`), and otherwise when it begins, which may be long after.
    private func correct(
        _ status: Status, to fresh: Status, _ folders: BatchFolders
    ) throws(FileError) {
        if status.state.isFinal || (status.state == .held) != (fresh.state == .held) {
            return try folders.writeStatus(fresh, durably: durably)
        }
        // The former daemon's work, and what it waited for.
        guard status.state != fresh.state || status.waiting != nil else { return }
        do {
            try folders.amendStatus { status in
                status.state = fresh.state
                status.waiting = nil
                return true
            }
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Someone has removed the answer in between; the next writing puts it back.
        }
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

    /// The manifest as it was taken. Should the file have changed since, as it may where an older version left its
    /// submitter's own there, the copy in the outbox counts; nil where that is another one, too.
    private func reading(
        _ folders: BatchFolders, _ format: ManifestFormat, _ status: Status?, _ active: Directory
    ) throws(FileError) -> ManifestReading? {
        let name = BatchFile.manifest(format)
        guard let status else { return try examination.read(name, format, in: active) }
        let reading = try examination.read(
            accepted: name, format, bytes: status.manifest.bytes, in: active)
        if status.manifest.sha256 == reading.sha256 { return reading }
        return try copy(of: name, format, folders, status)
    }

    /// The manifest beside its status, if it is there and the one that was taken. What keeps it from being read
    /// now is no reason to go on with another.
    private func copy(
        of name: FileName, _ format: ManifestFormat, _ folders: BatchFolders, _ status: Status
    ) throws(FileError) -> ManifestReading? {
        do {
            let copy = try examination.read(
                accepted: name, format, bytes: status.manifest.bytes, in: try folders.outbox())
            return copy.sha256 == status.manifest.sha256 ? copy : nil
        } catch  where error.fault == nil && error.errno != .canceled {
            return nil
        }
    }

    /// The status in the outbox, without its images, for what became of them the journal tells; nil where there is
    /// none that can be read.
    private func answer(of folders: BatchFolders) throws(FileError) -> Status? {
        do {
            return try Status(frameIn: folders.outbox())
        } catch  where error.errno == .noSuchFileOrDirectory {
            return nil
        }
    }

    /// The same with its images, of which nothing else tells where there is no manifest.
    private func wholeAnswer(of folders: BatchFolders) throws(FileError) -> Status? {
        do {
            return try Status(in: folders.outbox())
        } catch  where error.errno == .noSuchFileOrDirectory {
            return nil
        }
    }

    private func format(in active: Directory) throws(FileError) -> ManifestFormat? {
        for format in ManifestFormat.allCases {
            if try active.exists(BatchFile.manifest(format)) { return format }
        }
        return nil
    }

    /// Writes down in the batch's journal which of its pictures the former process died of, or with, and gives them.
    private func journalCrashes(
        of folders: BatchFolders, _ active: Directory
    ) throws(FileError) -> Set<Int> {
        let left = spool.attempts.left(of: folders.id)
        guard !left.isEmpty else { return [] }
        try ItemJournal.mend(in: active)
        let records = left.map {
            JournalRecord.crashed(index: $0.image, number: $0.number, $0.cause)
        }
        try ItemJournal.append(records, in: active, durably: durably)
        FaultPoint.recoveryCrashJournaled.pass()
        spool.attempts.settle(folders.id)
        return Set(left.map(\.image))
    }

    /// Takes over what the journal says, and finishes the renames it decided. Gives what control files have made
    /// of the batch.
    private func applyJournal(
        to status: inout Status, _ crashes: inout [Int: Crashes], _ folders: BatchFolders,
        _ active: Directory
    ) throws(FileError) -> ControlState {
        try ItemJournal.mend(in: active)
        var control = ControlState.free
        try ItemJournal.read(in: active) { record in
            switch record {
            case .cancelled: control = .cancelled
            case .commanded(let record):
                status.note(record)
                control.follow(record.command)
            case .reopened(let record):
                status.retries = record.retries
                status.commands = record.commands
            case .crashed(let index, let number, let cause):
                crashes[index, default: Crashes()].add(cause, number: number)
            case .ended(let index, let image):
                if status.images.indices.contains(index) { status.images[index] = image }
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
        return control
    }

    /// Clears away what was begun and not finished: fetched bytes, and pictures that no journal record vouches for.
    /// Gives the images whose pixels are handed over.
    private func clearScrap(
        of status: Status, _ active: Directory
    ) throws(FileError) -> Set<Int> {
        var handOvers: Set<Int> = []
        for name in try active.names() where Self.isScrap(name) {
            if let index = BatchFile.index(ofPixels: name), status.images.indices.contains(index),
                status.images[index].state == .filtered
            {
                handOvers.insert(index)
                continue
            }
            try active.remove(name)
            FaultPoint.recoveryScrapRemoved.pass()
        }
        return handOvers
    }

    /// Removes the fetched bytes of a batch that was put away; what cannot be removed now is removed when the
    /// batch is read again, or with its folder.
    package static func dropScratch(of folders: BatchFolders) {
        guard let active = try? folders.active(), let names = try? active.names() else { return }
        for name in names where name.text.hasPrefix("source-") { try? active.remove(name) }
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
            FaultPoint.recoveryOutputMoved.pass()
        } catch  where error.errno == .fileExists {
            image.fail(error)
            try ItemJournal.append([.ended(index: index, image)], in: active, durably: durably)
        }
    }

    private static func isScrap(_ name: FileName) -> Bool {
        BatchFile.isScratch(name)
            || ["status.new", "journal.new"].contains { name.text.hasPrefix($0) }
    }
}
