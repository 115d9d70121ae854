import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Glibc
import Synchronization
import SystemPackage

/// The folder of a run, and the spool in it, `.darkroom`. It is locked as long as this exists.
///
/// A run can be ended at any moment. The next one finds the folder in one of these states, and does the work of the last
/// column. Every step is a rename, as in the spool of a daemon (`Spool`), whose journal, recovery and retry these are:
///
/// | state      | plan.json | active/ID/          | status.json        | what the next run does                        |
/// |------------|-----------|---------------------|--------------------|-----------------------------------------------|
/// | empty      | –         | –                   | –                  | writes the plan                               |
/// | planned    | yes       | perhaps manifest    | –                  | copies the manifest again, writes the status  |
/// | pending    | yes       | manifest            | `pending`          | continues                                     |
/// | processing | yes       | manifest, journal   | `processing`       | repeats images that are not in the journal,   |
/// |            |           |                     |                    | then as finished (`renewContinued`)           |
/// | finished   | yes       | perhaps leftovers   | a final state      | removes the leftovers, looks at each image    |
/// |            |           |                     |                    | (`renew`)                                     |
/// | reopening  | yes       | also `.retry-ID`    | a final state      | removes `.retry-ID`, then as finished         |
/// | reopened   | yes       | manifest, journal   | the previous state | removes `active/ID`, then as finished         |
/// | another    | yes       | manifest, journal   | not final, of      | ends that run, then as finished               |
/// |            |           |                     | another manifest   |                                               |
/// | foreign    | –         | –                   | yes, or another    | nothing: no run in this folder wrote it       |
/// |            |           |                     | file of an answer  |                                               |
///
/// `plan.json` and `active` are in `.darkroom`, `status.json` is beside the outputs. Nobody else has a copy of what a
/// run has begun, but everybody still has its manifest. So nothing before the first output must survive a power cut,
/// and a folder without a status has nothing worth keeping, unless it has a journal.
///
/// The run of a shard has the same states, in a folder of its own. That of another manifest is another folder
/// (`RunRevision`), in which it begins with the former results of its images (`ShardBeginning`).
///
/// | what                       | a run of the whole | a shard                                |
/// |----------------------------|--------------------|----------------------------------------|
/// | outputs                    | the folder         | the folder                             |
/// | plan.json                  | `.darkroom`        | `.darkroom`, for all shards            |
/// | lock, active, attempts     | `.darkroom`        | `.darkroom/shard-3-of-16`              |
/// | status.json, progress.json | the folder         | `.darkroom/shard-3-of-16`              |
/// | the copy of the manifest   | the folder         | `.darkroom`; the shard has links to it |
///
/// In a later revision, `.darkroom/revision-2` is in the place of `.darkroom` in the last column, except for the plan.
///
/// The manifest is read as a whole, so that images without a name get the names that they have in the whole. Then the
/// images of other shards are left out (`Manifest.part`), and the shard's status and journal have only its own.
/// `ShardMerge` makes the whole status. The plan decides which of the two kinds a folder is.
package final class RunFolder: Sendable {
    static let spoolName = RunFolders.spoolName

    let spool: Spool
    let outputs: Directory
    /// The folder of `status.json`.
    let answer: Directory
    let folders: BatchFolders
    let job: RunJob
    /// The part of the manifest that this run works on; nil for the whole.
    let shard: Shard?
    let examination: Examination
    let durably: Bool
    /// The plan of this run, and that of the former one if the manifest or a setting that decides what the outputs are
    /// is another now.
    let plan: RunPlan
    let formerPlan: RunPlan?
    /// What a finished run that is run again has found; nil if this is not one.
    let changes = Mutex<RunChanges?>(nil)
    let formers = Mutex(FormerResults())
    /// Whether somebody wants to stop. Then no further source or output is looked at.
    let isStopping = Atomic(false)
    /// The images that an earlier run had made, when this one continues it; nil if there is nothing to be looked at.
    let continued = Mutex<Set<Int>?>(nil)

    /// The outputs of former runs that no image has any more.
    var formerOutputs: FormerOutputs { spool.run?.former ?? FormerOutputs() }

    enum Finding: Sendable {
        /// All images have ended, and all outputs are there.
        case finished(Status)
        case unfinished(PreparedBatch)
        /// Somebody wants to stop (`isStopping`).
        case stopped
    }

    /// Creates the folder if it does not exist, and locks it.
    init(_ job: RunJob, examination: Examination, durably: Bool) throws(RunError) {
        try runError(of: Spool.createRoot(job.folder))
        let outputs: Directory
        do {
            outputs = try Directory(path: job.folder)
        } catch  where error.errno == .tooManySymbolicLinkLevels {
            throw .cannotCreate(error)
        } catch {
            throw RunError(error)
        }
        try Self.requireOwn(outputs)
        self.outputs = outputs
        self.durably = durably
        var job = job
        var examination = examination
        if let request = job.shard {
            let parts = try RunParts(of: job, request, in: outputs, examination, durably: durably)
            plan = parts.plan
            formerPlan = nil
            shard = parts.shard
            answer = parts.answer
            let spool = try Self.spool(
                in: answer, RunFolders(outputs: outputs, answer: answer, part: parts.part),
                job.folder)
            self.spool = spool
            withExtendedLifetime(parts.lock) {}
            if let record = parts.record, record != job.manifest.found {
                job.manifest = try Self.manifest(of: job, by: record, examination)
            }
            examination.shard = parts.shard
            let whole = job.manifest
            job.manifest = whole.part(parts.shard)
            try ShardBeginning(
                revision: parts.revision, outputs: outputs, shard: parts.shard,
                folders: BatchFolders(spool: spool, id: plan.id), durably: durably
            ).takeFormer(of: job.manifest, in: whole)
        } else {
            // A folder of shards is refused before anything is written.
            let former = try Self.existingRoot(in: outputs)
            if let former, let known = try RunPlan.read(in: former) {
                try known.requireComparable(with: job.plan(nil), in: job.folder)
            }
            shard = nil
            answer = outputs
            let root: Directory
            if let former {
                root = former
            } else {
                root = try runFolder(outputs.ownFolder(FileName(Self.spoolName)))
            }
            spool = try Self.spool(
                in: root, RunFolders(outputs: outputs, answer: outputs), job.folder)
            let known = try job.plan(nil).settle(in: spool.root)
            let own = job.plan(nil, id: known.id)
            try known.requireComparable(with: own, in: job.folder)
            let isSame = known.conflict(with: own, in: job.folder) == nil
            plan = isSame ? known : own
            formerPlan = isSame ? nil : known
        }
        // The file may have been renamed since then.
        job.id = plan.id
        self.job = job
        self.examination = examination
        folders = BatchFolders(spool: spool, id: job.id)
    }

    static func spool(
        in root: Directory, _ run: RunFolders, _ folder: String
    ) throws(RunError) -> Spool {
        do {
            return try Spool(in: root, of: run)
        } catch {
            let shard = run.part.map { "\($0.shard) in " } ?? ""
            throw RunError(error, folder: shard + folder)
        }
    }

    /// The folder `.darkroom` of an earlier run; nil if there is none.
    static func existingRoot(in outputs: Directory) throws(RunError) -> Directory? {
        do {
            return try outputs.ownFolder(existing: FileName(spoolName))
        } catch .file(let error) where error.errno == .noSuchFileOrDirectory {
            return nil
        } catch {
            throw RunError(error)
        }
    }

    /// Refuses a folder with files of an answer that no run has written there, for example that of an outbox.
    static func requireOwn(_ outputs: Directory) throws(RunError) {
        let foreign = try runError { () throws(FileError) -> FileName? in
            let plan = FileName("\(spoolName)/\(RunPlan.fileName.text)")
            for name in [
                BatchFile.status, BatchFile.progress, BatchFile.sources, ResultSizes.fileName,
            ]
            where try outputs.exists(name) {
                // Looked for after the file: another run may have written both meanwhile.
                return try outputs.exists(plan) ? nil : name
            }
            return nil
        }
        if let foreign { throw .inTheWay(outputs.path(of: foreign)) }
    }

    /// Whether the run of a whole manifest has ended in this folder. It may begin again if an output is missing.
    package static func hasEnded(in path: String) -> Bool {
        guard let outputs = try? Directory(path: path),
            let (plan, _) = RunPlan.find(in: outputs), plan.shards == nil,
            let status = try? Status(frameIn: outputs)
        else { return false }
        return status.state.isFinal
    }

    // MARK: The states

    /// Finds out in which state the folder is, and does the work of the table. On a file system that is mounted read-only,
    /// a finished run with nothing to do is as elsewhere. Everything else fails there.
    func prepare() throws(RunError) -> Finding {
        let finding = try find()
        if case .unfinished = finding, spool.isReadOnly {
            throw .cannotCreate(
                FileError(.continue, answer.path(of: BatchFile.status), .readOnlyFileSystem))
        }
        return finding
    }

    private func find() throws(RunError) -> Finding {
        try refuseLinkToWork()
        try runError(of: removeUnfinished())
        try formerOutputs.require(in: spool.root)
        guard let status = try readAnswer() else {
            let hasJournal = try runError(of: folders.hasJournal())
            if let formerPlan, hasJournal {
                // Only its status could tell which image each line of the journal is about.
                throw formerPlan.conflict(with: plan, in: job.folder)
                    ?? RunError(unreadableStatusIn: answer)
            }
            if let formerPlan { try beginAnother(than: formerPlan) }
            return try findWithoutStatus(hasJournal)
        }
        // A shard has its copies from what all shards share, so they are mended in each state.
        if shard != nil { try mendCopies() }
        let isInWork = try runError(of: spool.active.exists(FileName(job.id)))
        if status.state.isFinal {
            if isInWork { try clearEnded(status) }
            return try renew()
        }
        let folder = isInWork ? try runError(of: folders.active()) : answer
        guard try isOfThis(status, in: folder) else {
            try endOther()
            return try renew()
        }
        if shard == nil { try mendCopies() }
        let finding = try recover()
        guard case .finished = finding else { return finding }
        return try renew()
    }

    private func findWithoutStatus(_ hasJournal: Bool) throws(RunError) -> Finding {
        if hasJournal {
            try mendCopies()
            return try recover()
        }
        if shard == nil {
            try outputs.requireCopy(
                of: job.bytes, as: BatchFile.manifest(job.format), isBegun: false)
        }
        let prepared = try runError(of: begin())
        return try prepared.manifest.images.isEmpty ? endEmpty(prepared) : .unfinished(prepared)
    }

    /// A run that had a plan and no status has made nothing. At most its manifest is beside the outputs.
    private func beginAnother(than former: RunPlan) throws(RunError) {
        try runError { () throws(FileError) in
            for copy in ManifestFormat.allCases.map(BatchFile.manifest)
            where try answer.sha256(of: copy) == former.sha256 {
                try answer.remove(copy)
            }
            try plan.replace(in: spool.root)
        }
    }

    /// Removes what is left in `active` of a run that has ended, or of the beginning of its renewal, in which nothing was
    /// done.
    private func clearEnded(_ status: Status) throws(RunError) {
        let first = try runError(of: ItemJournal.first(in: folders.active()))
        if case .reopened(let record)? = first, record.isOf(status) {
            return try runError(of: spool.ended.remove(FileName(job.id)))
        }
        _ = try recover()
    }

    /// Makes sure that no link is in the place of `active/ID`, whose files are reached by their paths from `active`. From
    /// here on, only this user can put one there.
    private func refuseLinkToWork() throws(RunError) {
        let found = try runError(of: spool.active.information(of: FileName(job.id)))
        guard let found, !found.isFolder else { return }
        throw .link(spool.active.path(of: FileName(job.id)))
    }

    /// The status without its images; nil if there is none.
    func readAnswer() throws(RunError) -> Status? {
        let exists = try runError(of: answer.exists(BatchFile.status))
        guard exists else { return nil }
        let status = try runError(of: Status(frameIn: answer))
        guard let status, FileName(status.id) == FileName(job.id),
            status.shards?.number == shard?.number
        else { throw RunError(unreadableStatusIn: answer) }
        return status
    }

    /// Removes a reopening that an earlier run has not completed.
    private func removeUnfinished() throws(FileError) {
        for name in try ActiveFolder(of: spool).unfinished {
            try spool.ended.remove(name)
            FaultPoint.recoveryRetryRemoved.pass()
        }
        if shard == nil, !spool.isReadOnly {
            for name in [BatchFile.newManifest, BatchFile.newSources, FormerOutputs.newFileName] {
                try ignoringMissing(spool.root.remove(name))
            }
            try RunPlan.removeIncomplete(in: spool.root)
        }
        // Those that had files which a process had open. What is still open now stays for the next run.
        _ = try? spool.ended.clear { false }
    }

    /// Makes sure that nobody has changed the copies of the manifest, which recovery and repetition read. The copies in
    /// `.darkroom` are written anew. The one beside the outputs is that of the user, who must move a changed one away.
    private func mendCopies() throws(RunError) {
        let copy = BatchFile.manifest(job.format)
        if shard == nil { try outputs.requireCopy(of: job.bytes, as: copy, isBegun: true) }
        try runError { () throws(FileError) in
            if shard != nil { _ = try folders.shareManifest(copy, of: job.bytes, in: answer) }
            guard try spool.active.exists(FileName(job.id)) else { return }
            let active = try folders.active()
            guard try active.exists(copy), try !active.holds(job.bytes, as: copy) else { return }
            // It may be a link to a file of others.
            try active.remove(copy)
            try active.write(sparsely: job.bytes, to: copy, durably: durably)
        }
    }
}
