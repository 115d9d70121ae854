import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import SystemPackage

/// What the shards of a plan share, and their folders. Shards that begin with another manifest, another count or other
/// settings are the next revision of the plan. Each revision has folders of its own, so nothing of an earlier one is ever
/// taken for an answer of this one.
///
/// | what                              | first revision            | revision 2                                   |
/// |-----------------------------------|---------------------------|----------------------------------------------|
/// | plan.json, plan.lock, lock        | `.darkroom`               | `.darkroom`                                  |
/// | manifest, sources.json            | `.darkroom`               | `.darkroom/revision-2`                       |
/// | folders of shards                 | `.darkroom/shard-3-of-16` | `.darkroom/revision-2/shard-3-of-16`         |
/// | statuses of earlier revisions     | –                         | `.darkroom/revision-2/former`, until a merge |
/// | outputs that no image has any more| `.darkroom/former.json`   | `.darkroom/former.json`                      |
///
/// `RevisionChange` makes the next revision, r + 1 of r. It has the locks of `.darkroom` and of the plan, and no shard of r
/// works:
///
/// | step                                        | plan | r + 1      | r         | after a kill                         |
/// |---------------------------------------------|------|------------|-----------|--------------------------------------|
/// | unfinished shards of r ended                | r    | –          | yes       | the same again                       |
/// | `former.json` gets the lists of the shards  | r    | –          | yes       | the same again                       |
/// | `revision-(r+1)` built: former statuses,    | r    | incomplete | yes       | removed and built again              |
/// | manifest, sources.json                      |      |            |           |                                      |
/// | (built)                                     | r    | yes        | yes       | removed and built again              |
/// | `plan.json` replaced                        | r+1  | yes        | yes       | shards of r + 1 begin; the next      |
/// |                                             |      |            |           | change or merge removes r            |
/// | r removed                                   | r+1  | yes        | –         | nothing to do                        |
///
/// The former statuses are links to the last statuses of r, and to those that r had from earlier revisions. Sorted by name,
/// the oldest is first, and what a later one says of an image counts. If r was merged, `status.json` is the first of them. A
/// merge of r + 1 makes them needless, because each shard has an answer then: it removes `former` after it has written
/// `status.json`. From then on, a shard that has lost its folder begins with `status.json`.
struct RunRevision: Sendable {
    let plan: RunPlan
    /// `.darkroom`.
    let root: Directory
    /// What the shards share.
    let folder: Directory

    static let formerName: FileName = "former"
    private static let prefix = "revision-"
    private static let shardPrefix = "shard-"

    static func name(of revision: Int) -> FileName { FileName("\(prefix)\(revision)") }

    init(_ plan: RunPlan, in root: Directory) throws(RunError) {
        self.plan = plan
        self.root = root
        guard let revision = plan.revision else {
            folder = root
            return
        }
        do {
            folder = try root.ownFolder(existing: Self.name(of: revision))
        } catch .file(let error) where error.errno == .noSuchFileOrDirectory {
            throw .unreadable(
                root.path(of: Self.name(of: revision)),
                reason: "the folder that the plan names is not there")
        } catch {
            throw RunError(error)
        }
    }

    /// The shards whose folders are there. There may be more of them than descriptors.
    func shards() throws(RunError) -> [Shard] {
        guard let count = plan.shards?.count else { return [] }
        let names = try runError { () throws(FileError) in Set(try folder.names()) }
        return (1...count).compactMap { Shard($0, of: count) }
            .filter { names.contains(RunParts.name(of: $0)) }
    }

    func folder(of shard: Shard) throws(RunError) -> Directory {
        try runFolder(folder.ownFolder(existing: RunParts.name(of: shard)))
    }

    func status(of shard: Shard) -> StatusPlace {
        StatusPlace(folder: folder, name: RunParts.name(of: shard) / BatchFile.status)
    }

    /// Makes sure that no process works on a shard.
    ///
    /// - Parameter path: of the run, for messages.
    func requireRest(of path: String) throws(RunError) {
        for shard in try shards() {
            let folder = try folder(of: shard)
            guard SpoolLock.isHeld(folder) else { continue }
            throw .inUse(folder: "\(shard) in \(path)", holder: SpoolLock.holder(folder))
        }
    }

    /// The statuses of earlier runs with which its shards begin, the oldest first.
    ///
    /// - Parameter outputs: the folder of the run.
    func formerStatuses(_ outputs: Directory) throws(RunError) -> [StatusPlace] {
        let names = try runError(
            of: ignoringMissing(Directory(Self.formerName, in: folder).names()))
        if let names {
            // NFS gives other names to files that are removed while a process reads them.
            return names.map(\.text).filter { $0.hasSuffix(".json") }.sorted().map {
                StatusPlace(folder: folder, name: Self.formerName / FileName($0))
            }
        }
        return try hasWhole(outputs)
            ? [StatusPlace(folder: outputs, name: BatchFile.status)] : []
    }

    /// Whether all shards of this revision were merged, so that there is a whole status.
    func isMerged(_ outputs: Directory) throws(RunError) -> Bool {
        let hasFormer = try runError(of: folder.exists(Self.formerName))
        return hasFormer ? false : try hasWhole(outputs)
    }

    private func hasWhole(_ outputs: Directory) throws(RunError) -> Bool {
        let isThere = try runError(of: outputs.exists(BatchFile.status))
        guard isThere else { return false }
        let frame = try runError(of: Status(frameIn: outputs))
        guard let frame else { throw RunError(unreadableStatusIn: outputs) }
        return frame.isWhole(of: plan)
    }

    /// Removes the former statuses, when each shard has an answer.
    func removeFormer() throws(RunError) {
        try runError(of: Self.remove(Self.formerName, in: folder))
    }

    /// What a process has open on NFS stays, and goes the next time.
    private static func remove(_ name: FileName, in folder: Directory) throws(FileError) {
        do {
            try folder.removeTree(name)
        } catch  where error.errno == .noSuchFileOrDirectory || error.errno == .resourceBusy {
            return
        }
    }

    /// Removes what other revisions have left. `.darkroom` is locked.
    func removeOthers() throws(RunError) {
        guard let revision = plan.revision else { return }
        let own = Self.name(of: revision)
        try runError { () throws(FileError) in
            for name in try root.names() {
                let text = name.text
                if text.hasPrefix(Self.shardPrefix) || text.hasPrefix(Self.prefix) && name != own {
                    try Self.remove(name, in: root)
                } else if text.hasPrefix("manifest.") || text.hasPrefix("sources.") {
                    try ignoringMissing(root.remove(name))
                }
            }
        }
    }
}

extension Status {
    /// Whether it is that of all shards of a run with this plan, whatever their count and their manifest were.
    func isWhole(of plan: RunPlan) -> Bool {
        guard let shards, shards.number == nil else { return false }
        return FileName(id) == FileName(plan.id) && state.isFinal
    }
}
