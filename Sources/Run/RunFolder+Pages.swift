import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// The pages of the sources of a run.
extension RunFolder {
    /// The sources that had several pages when a run in this folder began; nil if none has counted any. Another shard
    /// takes these, and opens no file only to count; another run of the whole takes them for sources that are gone.
    package static func countedPages(in path: String) -> [FoundPages]? {
        guard let outputs = try? Directory(path: path) else { return nil }
        if let root = try? Directory(FileName(spoolName), in: outputs),
            let shared = try? SourceRecord.read(in: root)
        {
            return shared.pages
        }
        return (try? SourceRecord.read(in: outputs))?.pages
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
