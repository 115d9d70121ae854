import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Glibc
import SystemPackage

/// What the runs of all shards share (`RunRevision`), and the folder of one of them.
struct RunParts {
    let plan: RunPlan
    let revision: RunRevision
    /// Held until the shard has the lock of its folder.
    let lock: PlanLock
    let shard: Shard
    /// The shard's folder, which is also its spool.
    let answer: Directory
    let part: RunFolders.Part
    /// How many pages the sources have, for all shards; nil if no pages are counted.
    let record: SourceRecord?

    static func name(of shard: Shard) -> FileName {
        FileName("shard-\(shard.number)-of-\(shard.count)")
    }

    /// Finds or writes the plan, the copy of the manifest and what was looked up for it, and creates the folder of the
    /// shard. If the plan is that of another manifest, another count or other settings, its next revision begins.
    init(
        of job: RunJob, _ request: ShardRequest, in outputs: Directory,
        _ examination: Examination, durably: Bool
    ) throws(RunError) {
        let root = try runFolder(outputs.ownFolder(FileName(RunFolder.spoolName)))
        // The folder of another kind of run is refused before anything is written.
        if let known = try RunPlan.read(in: root), known.shards == nil {
            try known.requireComparable(
                with: job.plan(request.shards ?? .init(count: 1)), in: job.folder)
        }
        // Each repetition means that the plan was replaced.
        while true {
            switch try Self.present(job, request, root, outputs) {
            case .fitting(let revision, let shard, let lock):
                plan = revision.plan
                self.shard = shard
                self.revision = revision
                self.lock = lock
                try Self.share(job, in: revision.folder)
                record = try Self.settle(job.manifest.found, in: revision.folder)
                answer = try runFolder(revision.folder.ownFolder(Self.name(of: shard)))
                part = RunFolders.Part(shard: shard, shared: revision.folder)
                return
            case .other(let plan):
                try RevisionChange(
                    job: job, request: request, root: root, outputs: outputs,
                    examination: examination, durably: durably
                ).replace(plan)
            }
        }
    }

    private enum Present {
        case fitting(RunRevision, Shard, PlanLock)
        /// The plan must be replaced. It is not locked any more.
        case other(RunPlan)
    }

    private static func present(
        _ job: RunJob, _ request: ShardRequest, _ root: Directory, _ outputs: Directory
    ) throws(RunError) -> Present {
        let lock = try PlanLock(.shared, root, of: job.folder)
        let plan = try plan(job, request, in: root)
        let own = job.plan(request.shards ?? plan.shards)
        try plan.requireComparable(with: own, in: job.folder, isCountMeant: false)
        guard let shards = plan.shards else { throw .unreadable(root.path(of: RunPlan.fileName)) }
        let revision = try RunRevision(plan, in: root)
        let isCountMeant = request.isCountWritten
        // It is refused before anything is written.
        _ = try request.next(after: shards, of: revision, outputs, in: job.folder)
        let conflict = plan.conflict(with: own, in: job.folder, isCountMeant: isCountMeant)
        if conflict != nil { return .other(plan) }
        if try hasOtherPages(job, request, revision, shards) { return .other(plan) }
        return try .fitting(revision, shard(request, shards), lock)
    }

    /// Whether a shard that is run again has counted other pages of the sources than the shards share.
    private static func hasOtherPages(
        _ job: RunJob, _ request: ShardRequest, _ revision: RunRevision, _ shards: RunPlan.Shards
    ) throws(RunError) -> Bool {
        guard job.hasCountedAgain, let record = try settled(in: revision.folder),
            record != job.manifest.found
        else { return false }
        return hasEnded(try shard(request, shards), in: revision.folder)
    }

    /// Whether a shard has an answer.
    static func hasEnded(_ shard: Shard, in shared: Directory) -> Bool {
        guard let folder = try? Directory(name(of: shard), in: shared),
            let status = try? Status(frameIn: folder)
        else { return false }
        return status.state.isFinal && !status.isOfFormerRun
    }

    private static func plan(
        _ job: RunJob, _ request: ShardRequest, in root: Directory
    ) throws(RunError) -> RunPlan {
        if let known = try RunPlan.read(in: root) { return known }
        guard let shards = request.shards else { throw .noCount(in: job.folder) }
        // A part that the plan would not have is refused before there is a plan.
        _ = try shard(request, shards)
        return try job.plan(shards).settle(in: root)
    }

    static func shard(_ request: ShardRequest, _ shards: RunPlan.Shards) throws(RunError) -> Shard {
        do {
            return try request.shard(by: shards)
        } catch {
            throw .noShard(error)
        }
    }

    /// The beginning of the names of copies that are not complete.
    private static let newCopy = "manifest.new-"

    /// Writes the copy of the manifest, unless it is there. Several processes may do this at once; they write the same.
    static func share(_ job: RunJob, in root: Directory) throws(RunError) {
        let name = BatchFile.manifest(job.format)
        // Each repetition means that somebody else has written the copy, and removed this one as a leftover.
        for _ in 0..<100 {
            let isThere = try runError { () throws(FileError) -> Bool in
                // A crash of the machine leaves an empty file if the content was not on the disk.
                if let found = try root.information(of: name), found.isRegularFile,
                    found.length == 0
                {
                    return false
                }
                return try root.exists(name)
            }
            if isThere, try root.requireCopy(of: job.bytes, as: name, isBegun: true) {
                return try runError(of: root.removeFiles(withPrefix: newCopy))
            }
            let new = FileName(unique: newCopy)
            try runError { () throws(FileError) in
                try root.write(sparsely: job.bytes, to: new, durably: false)
                try root.closeManifest(new, of: job.bytes, job.manifest)
                FaultPoint.planManifestWritten.pass()
                do throws(FileError) {
                    try root.rename(new, to: root, as: name, replacing: true)
                } catch  where error.errno == .noSuchFileOrDirectory {
                    return
                }
                FaultPoint.planManifestMoved.pass()
            }
        }
        throw .copyChanged(root.path(of: name))
    }

    /// The beginning of the names of records that are not complete.
    private static let newRecord = "sources.new-"

    /// Writes how many pages the sources have, unless a shard has done it before: a file may have other pages by now.
    ///
    /// - Returns: the record that counts: this one, or the one that was there.
    static func settle(
        _ record: SourceRecord, in root: Directory
    ) throws(RunError) -> SourceRecord? {
        guard record.pages != nil else { return nil }
        return try root.settle(BatchFile.sources, prefix: newRecord, record.encoded()) {
            () throws(RunError) in try settled(in: root)
        }
    }

    /// What the shards share; nil if there is no such file.
    static func settled(in root: Directory) throws(RunError) -> SourceRecord? {
        let bytes = try runError(of: root.readSettled(BatchFile.sources, upTo: FileLimit.other))
        guard let bytes else { return nil }
        guard let found = SourceRecord(decoding: bytes) else {
            throw .unreadable(root.path(of: BatchFile.sources))
        }
        return found
    }
}

extension RunError {
    /// Nobody tells the number of shards.
    static func noCount(in folder: String) -> RunError {
        .noShard(
            ShardRequest.Problem(
                code: "no-shard",
                message:
                    "--shard auto: the environment does not tell the number of shards, and \(folder) has "
                    + "no plan yet. Write, for example, --shard auto/16"))
    }
}
