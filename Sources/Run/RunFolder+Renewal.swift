import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import Foundation
import Glibc
import Synchronization
import SystemPackage

/// A finished run that is run again: what has changed is made, and the rest stands (`ImageComparison`).
///
/// The manifest may be another one. What the former run made is known from its status alone, so a renewal can be repeated
/// from its beginning until there is a new status:
///
/// | step                                              | after a kill, the next run                            |
/// |---------------------------------------------------|-------------------------------------------------------|
/// | `former.json` lists the outputs that go or change | lists them again                                      |
/// | `plan.json` replaced, if the manifest is another  | compares with its own manifest, whatever the plan is  |
/// | `active/.retry-ID` built, with manifest, journal, | removes it, and begins anew                           |
/// | the former results (`FormerResults`)              |                                                       |
/// | renamed to `active/ID`                            | the status is final, so nothing was begun: the same   |
/// | the copies of the manifest and `sources.json`     | takes the copy of either manifest for its own; with a |
/// |                                                   | third manifest, `plan.json` says which copy is there  |
/// | `status.json` replaced                            | continues, as any run, with the former results        |
/// | images end: output renamed over its former one    | the journal has the image; `former.json` the old file |
/// | last status; `former.json` written anew           | prunes, and writes the list anew                      |
///
/// A run that continues an unfinished one has not looked at what that had made before. When all its images have ended, it
/// does so in the same process (`FolderRun.run`), except for those that it has made itself.
///
/// If no image has to be made, the new status is the last one, and the third and the fourth step are left out.
extension RunFolder {
    /// The kernel takes the times of files from its last tick, which is up to 10 ms old; in seconds.
    static let tick = 0.02

    /// Whether a status is of this manifest, with these recipes and settings, whatever its patterns mean.
    private func hasSameText(_ status: Status) -> Bool {
        formerPlan == nil && status.manifest.sha256 == SHA256Digest.hex(of: job.bytes)
            && status.recipes == job.manifest.recipeReferences
    }

    /// Whether a status is of this manifest, with these recipes and settings, and its patterns mean the same.
    ///
    /// - Parameter folder: where its sources are recorded.
    func isOfThis(_ status: Status, in folder: Directory) throws(RunError) -> Bool {
        guard hasSameText(status) else { return false }
        let found = try runError(of: SourceRecord.read(in: folder))
        return (found ?? SourceRecord()) == job.manifest.found
    }

    /// Ends the unfinished run of another manifest: what it has made is kept for the comparison.
    func endOther() throws(RunError) {
        try UnfinishedRun(folders: folders, examination: examination, durably: durably)
            .end(job.format)
    }

    /// Looks at each image of a finished run.
    ///
    /// - Parameter fresh: images that this process has just made.
    func renew(fresh: Set<Int> = []) throws(RunError) -> Finding {
        let status = try runError { () throws(FileError) -> Status? in
            if let status = job.prefetch?.take(in: answer) { return status }
            return try Status(in: answer)
        }
        guard let status else { throw RunError(unreadableStatusIn: answer) }
        let isSame = try isOfThis(status, in: answer)
        let copy = try requireCopies(of: status)
        let comparison = ImageComparison(
            sources: job.sources, former: status, isSameManifest: hasSameText(status),
            retries: job.retries, prunes: job.prunes, readsAll: job.checks, remote: job.remote,
            settings: job.settings, fresh: fresh,
            isStopped: { [self] in isStopping.load(ordering: .relaxed) })
        let found = try comparison.compare(job.manifest) { images throws(RunError) in
            try missing(images, after: Self.end(of: status), readsAll: job.checks && fresh.isEmpty)
        }
        guard let result = found else { return .stopped }
        let changes = RunChanges(result)
        let isFileGone = try runError(of: lacksFile(beside: status))
        // On a file system that is mounted read-only, what was noted of the sources is not needed either.
        let isComplete = spool.isReadOnly || !result.isAmended && !isFileGone
        if changes.made == 0, isSame, isComplete {
            self.changes.withLock { $0 = changes }
            return .finished(status)
        }
        if spool.isReadOnly {
            throw .cannotCreate(
                FileError(.continue, answer.path(of: BatchFile.status), .readOnlyFileSystem))
        }
        try listFormer(status, result)
        self.changes.withLock { $0 = changes }
        let noted = FormerResults(result)
        formers.withLock { $0 = noted }
        return try beginAnew(result, after: status, isSame, replacing: copy)
    }

    /// Whether somebody has removed one of the files that a run writes beside its status.
    private func lacksFile(beside status: Status) throws(FileError) -> Bool {
        var names = [BatchFile.manifest(job.format), BatchFile.progress]
        // That of shards is written by their merge.
        if shard == nil, ResultSizes.areUseful(for: status.images) {
            names.append(ResultSizes.fileName)
        }
        for name in names where try !answer.exists(name) { return true }
        return false
    }

    /// nil if nothing tells it: then all outputs are read. A clock that was ahead at the end would hide later changes.
    static func end(of status: Status) -> Double? {
        guard let finished = status.times.finished.flatMap({ Moment($0) }) else { return nil }
        let end = Double(finished.milliseconds) / 1000
        return end > Clock.wall ? nil : end - tick
    }

    /// Makes sure that the manifest beside the outputs is that of the former run, of this one, or of one between them that
    /// was ended before its status was there: it is replaced.
    ///
    /// - Returns: its SHA-256; nil if there is none.
    private func requireCopies(of status: Status) throws(RunError) -> String? {
        let copy = BatchFile.manifest(job.format)
        let found = try runError { () throws(FileError) -> String? in
            // What is no file has no SHA-256.
            try answer.exists(copy) ? answer.sha256(of: copy) ?? "" : nil
        }
        guard let found else { return nil }
        let known =
            [status.manifest.copySHA256, formerPlan?.sha256, SHA256Digest.hex(of: job.bytes)]
            + ((formerPlan ?? plan).copies ?? [])
        guard known.contains(found) else { throw .copyChanged(answer.path(of: copy)) }
        return found
    }

    // MARK: The new beginning

    private func beginAnew(
        _ result: ImageComparison.Result, after former: Status, _ isSame: Bool,
        replacing copy: String?
    ) throws(RunError) -> Finding {
        if formerPlan != nil {
            let replacement = plan.replacing(copy)
            try runError(of: replacement.replace(in: spool.root))
        }
        let hasWork = result.images.contains { !$0.state.isFinal }
        var status = former
        if !isSame { status = try newStatus(after: former) }
        status.images = result.images
        status.counts = Status.Counts(of: result.images)
        status.versions = Self.versions(after: former)
        if hasWork {
            status.note(ControlRecord(.retry, uid: geteuid()))
            status.retries = (former.retries ?? 0) &+ 1
            status.state = .pending
            status.times.started = Clock.timestamp
            status.times.finished = nil
            status.times.workMilliseconds = nil
            status.waiting = nil
            try build(status, after: former, FormerResults(result))
        } else {
            status.state = status.counts.finalState
        }
        let last = status
        try runError { () throws(FileError) in
            if !isSame || hasWork || copy == nil { try replaceCopies(of: former) }
            if hasWork {
                try folders.writeStatus(last, durably: durably)
                folders.writeProgress(BatchProgress(of: last))
            } else {
                try folders.writeEnd(last, durably: durably)
                try spool.ended.remove(FileName(job.id))
            }
        }
        guard hasWork else { return .finished(last) }
        return .unfinished(
            PreparedBatch(
                id: job.id, manifest: job.manifest, status: last, formers: result.formers))
    }

    /// The status of this manifest, before any image is in it.
    private func newStatus(after former: Status) throws(RunError) -> Status {
        let claimed = ClaimedManifest(
            folders: folders, name: job.name, format: job.format,
            received: former.times.received,
            reading: ManifestReading(job.bytes, accepted: job.manifest), uid: geteuid())
        var status = Receipt.status(of: claimed)
        status.commands = former.commands
        status.times = former.times
        return status
    }

    /// The versions that have made what stands are those of now, as far as they decide: others do not stand.
    private static func versions(after former: Status) -> [PictureVersions] {
        let present = PictureVersions.present
        let others = (former.versions ?? []).filter { other in
            zip(other.named, present.named).allSatisfy { $0 == $1 }
        }
        return [present].joined(by: others)
    }

    /// Builds `active/ID`, in which nothing has begun.
    private func build(
        _ status: Status, after former: Status, _ results: FormerResults
    ) throws(RunError) {
        let name = FileName(job.id)
        let new = FileName(Reopening.prefix + job.id)
        let reading = ManifestReading(job.bytes, accepted: job.manifest)
        let record = ReopenedRecord(
            of: former.times.finished ?? "", retries: status.retries ?? 0,
            commands: status.commands ?? [])
        try runError { () throws(FileError) in
            if try spool.active.exists(name) { try spool.ended.remove(name) }
            if try spool.active.exists(new) { try spool.ended.remove(new) }
            try spool.active.makeDirectory(new, mode: 0o700)
            let folder = try Directory(new, in: spool.active)
            if try folders.shareManifest(BatchFile.manifest(job.format), of: job.bytes, in: folder)
            {
                try reading.copyRecord(to: folder, durably: durably)
            } else {
                try reading.copy(to: folder, job.format, durably: durably)
            }
            try results.write(in: folder, durably: durably)
            try ItemJournal.begin(in: folder, reopening: record, status.images, durably: durably)
            if durably { try folder.sync() }
            FaultPoint.retryBuilt.pass()
            try spool.active.rename(new, to: spool.active, as: name)
            FaultPoint.retryMoved.pass()
            if durably { try spool.active.sync() }
        }
    }

    /// Puts the manifest and what was looked up for it in the place of the former ones.
    private func replaceCopies(of former: Status) throws(FileError) {
        let copy = BatchFile.manifest(job.format)
        if try !answer.holds(job.bytes, as: copy) {
            try spool.root.write(
                sparsely: job.bytes, to: BatchFile.newManifest, replacing: true, durably: durably)
            try spool.root.closeManifest(BatchFile.newManifest, of: job.bytes, job.manifest)
            FaultPoint.receiptManifestWritten.pass()
            try spool.root.rename(BatchFile.newManifest, to: answer, as: copy, replacing: true)
            FaultPoint.receiptManifestMoved.pass()
        }
        if let file = former.manifest.file, FileName(file) != copy,
            let found = try answer.sha256(of: FileName(file)), found == former.manifest.copySHA256
        {
            try answer.remove(FileName(file))
        }
        guard let record = ManifestReading(job.bytes, accepted: job.manifest).sourceRecord else {
            try ignoringMissing(answer.remove(BatchFile.sources))
            return
        }
        if try SourceRecord.read(in: answer) == record { return }
        try spool.root.write(
            record.encoded(), to: BatchFile.newSources, replacing: true, durably: durably)
        try spool.root.rename(
            BatchFile.newSources, to: answer, as: BatchFile.sources, replacing: true)
    }
}

extension RunChanges {
    init(_ result: ImageComparison.Result) {
        for (index, verdict) in result.verdicts.enumerated() {
            switch verdict {
            case .stands:
                kept += 1
                if result.images[index].state == .failed { failed += 1 }
            case .standsAlone(let reason):
                kept += 1
                alone[reason, default: []].append(result.images[index].name)
            case .made(let reason): reasons[reason, default: 0] += 1
            }
        }
        keepsAll = result.keepsAll
        outdated = result.outdated
    }
}
