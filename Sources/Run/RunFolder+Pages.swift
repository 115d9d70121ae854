import DarkroomCore
import DarkroomManifest
import DarkroomSpool

extension RunFolder {
    /// The sources that had several pages when a run in this folder began; nil if none has counted any. Another shard
    /// takes these, and opens no file only to count; a run that has ended takes them for sources that are gone.
    package static func countedPages(in path: String) -> [FoundPages]? {
        guard let outputs = try? Directory(path: path) else { return nil }
        if let revision = revision(in: outputs),
            let shared = try? SourceRecord.read(in: revision.folder)
        {
            return shared.pages
        }
        return (try? SourceRecord.read(in: outputs))?.pages
    }

    /// Whether a shard has ended in this folder, so that it looks at its sources again.
    package static func hasEnded(_ request: ShardRequest, in path: String) -> Bool {
        guard let outputs = try? Directory(path: path), let revision = revision(in: outputs),
            let shards = revision.plan.shards, let shard = try? request.shard(by: shards)
        else { return false }
        return RunParts.hasEnded(shard, in: revision.folder)
    }

    private static func revision(in outputs: Directory) -> RunRevision? {
        guard let (plan, root) = RunPlan.find(in: outputs) else { return nil }
        return try? RunRevision(plan, in: root)
    }

    /// The manifest with the pages that another shard has counted first.
    static func manifest(
        of job: RunJob, by record: SourceRecord, _ examination: Examination
    ) throws(RunError) -> Manifest {
        switch examination.check(job.bytes, job.format, by: record) {
        case .success(let manifest): return manifest
        case .failure(let rejection):
            throw .unusable(
                folder: job.folder,
                reason:
                    "its manifest would not be accepted with the \(BatchFile.sources.text) that its shards share: "
                    + rejection.problems[0].message)
        }
    }
}
