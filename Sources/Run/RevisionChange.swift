import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Glibc

/// Shards begin with another manifest, another count or other settings than the plan of the folder has: the next revision
/// of the plan. `RunRevision` has the table of its steps.
///
/// No shard of the present revision may work meanwhile, and none begins before the plan is replaced (`PlanLock`). Another
/// count needs a merge before, so that a mistyped one does not make the others begin anew.
struct RevisionChange {
    let job: RunJob
    let request: ShardRequest
    let root: Directory
    let outputs: Directory
    let examination: Examination
    let durably: Bool

    /// Microseconds between two attempts to get the lock that a merge has.
    private static let pause: UInt32 = 50_000

    /// Replaces the plan, unless somebody has done so before.
    func replace(_ known: RunPlan) throws(RunError) {
        let lock = try locked()
        let planLock = try PlanLock(.exclusive, root, of: job.folder)
        defer { withExtendedLifetime((lock, planLock)) {} }
        guard try RunPlan.read(in: root) == known, let knownShards = known.shards else { return }
        let present = try RunRevision(known, in: root)
        let shards = try present.shards()
        try present.requireRest(of: job.folder)
        let next = try request.next(after: knownShards, of: present, outputs, in: job.folder)
        let plan = job.plan(next, id: known.id).next(after: known)
        for shard in shards { try end(shard, present.folder(of: shard), present) }
        try gatherFormer(shards, present)
        try build(plan, after: present, shards)
        try runError { () throws(FileError) in
            FaultPoint.revisionBuilt.pass()
            try plan.replace(in: root)
            if durably { try root.sync() }
        }
        try RunRevision(plan, in: root).removeOthers()
    }

    /// A merge, or another change, ends by itself.
    private func locked() throws(RunError) -> LockedFolder {
        while true {
            do throws(RunError) {
                return try LockedFolder(root, of: job.folder, for: "darkroom run")
            } catch {
                guard case .inUse = error, FolderRun.pendingSignal == nil else { throw error }
                usleep(Self.pause)
            }
        }
    }

    /// Has the status of a shard say all that it has made.
    private func end(
        _ shard: Shard, _ folder: Directory, _ revision: RunRevision
    ) throws(RunError) {
        let id = FileName(revision.plan.id)
        let active = FileName("active") / id
        let (status, work) = try runError { () throws(FileError) in
            let isThere = try folder.exists(BatchFile.status)
            let work = try ignoringMissing(folder.information(of: active))
            return (isThere ? try Status(frameIn: folder) : nil, work)
        }
        guard work != nil || status.map({ !$0.state.isFinal }) ?? false else { return }
        if let work, !work.isFolder { throw .link(folder.path(of: active)) }
        let part = RunFolders.Part(shard: shard, shared: revision.folder)
        let spool = try RunFolder.spool(
            in: folder, RunFolders(outputs: outputs, answer: folder, part: part), job.folder)
        let folders = BatchFolders(spool: spool, id: revision.plan.id)
        let first = try runError(of: ignoringMissing(ItemJournal.first(in: folders.active())))
        if let status, status.state.isFinal {
            // Nothing was done yet of what would follow it.
            if case .reopened(let record)? = first, record.isOf(status) { return }
        } else if status == nil, first == nil {
            return
        }
        var examination = examination
        examination.shard = shard
        try UnfinishedRun(folders: folders, examination: examination, durably: durably)
            .end(job.format)
    }

    private func gatherFormer(_ shards: [Shard], _ revision: RunRevision) throws(RunError) {
        let whole = FormerOutputs()
        try whole.require(in: root)
        for shard in shards { try whole.require(in: revision.folder(of: shard)) }
        try runError(of: whole.write(in: root, durably: durably))
    }

    private func build(
        _ plan: RunPlan, after present: RunRevision, _ shards: [Shard]
    ) throws(RunError) {
        var statuses = try present.formerStatuses(outputs)
        for place in shards.map(present.status) {
            let isThere = try runError(of: place.folder.exists(place.name))
            if isThere { statuses.append(place) }
        }
        let name = RunRevision.name(of: plan.revision ?? 1)
        try runError(of: ignoringMissing(root.removeTree(name)))
        let folder = try runFolder(root.ownFolder(name))
        try RunParts.share(job, in: folder)
        _ = try RunParts.settle(job.manifest.found, in: folder)
        try runError { () throws(FileError) in
            try folder.makeDirectory(RunRevision.formerName)
            let former = try Directory(RunRevision.formerName, in: folder)
            for (number, place) in statuses.enumerated() {
                try Self.link(place, to: former, as: Self.name(of: number))
            }
            if durably {
                try former.sync()
                try folder.sync()
            }
        }
    }

    private static func name(of number: Int) -> FileName {
        FileName(number.digits(width: 8) + ".json")
    }

    /// Statuses are replaced by renames and never written to, so that a further name keeps what they are now.
    private static func link(
        _ place: StatusPlace, to folder: Directory, as name: FileName
    ) throws(FileError) {
        do {
            try place.folder.link(place.name, to: folder, as: name)
        } catch {
            // Not all file systems have links.
            try folder.write(place.folder.read(place.name), to: name, durably: false)
        }
    }
}

extension ShardRequest {
    /// How the next revision is divided: as the present one, unless another count was written.
    func next(
        after known: RunPlan.Shards, of revision: RunRevision, _ outputs: Directory,
        in folder: String
    ) throws(RunError) -> RunPlan.Shards {
        guard isCountWritten, let count, count != known.count else { return known }
        guard try revision.isMerged(outputs) else {
            throw .otherCount(
                folder: folder, known: RunPlan.words(known), asked: RunPlan.words(shards))
        }
        return RunPlan.Shards(count: count, array: array)
    }
}
