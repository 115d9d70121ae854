import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomRun
@testable import DarkroomSpool

/// What tests have that open the folder of a run: its name is `out`, in a scratch folder.
class RunFolderSuite {
    let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    /// The manifest of a job for which no other one is given.
    class var text: [UInt8] { [] }

    var out: String { scratch.path("out") }

    func list(_ folder: String) -> [String] { scratch.list(folder) }

    func folder(_ name: String) throws -> Directory { try Directory(path: scratch.path(name)) }

    func job(
        _ other: [UInt8]? = nil, id: String = "x", base: String = "/", retries: Bool = false,
        roots: [String]? = nil, filters: String? = nil, finder: SourceFinder = .none,
        shard: String? = nil
    ) throws -> RunJob {
        let text = other ?? type(of: self).text
        var job = RunJob(
            id: id, name: "\(id).json", format: .json, bytes: text,
            manifest: try ManifestReader.read(
                text, format: .json, defaultFilters: [], finder: finder),
            base: base, usesBase: true, folder: out, retries: retries,
            shard: try shard.map { try ShardRequest($0) { _ in nil } })
        job.roots = roots
        job.defaultFilters = filters
        return job
    }

    func open(_ job: RunJob) throws(RunError) -> RunFolder {
        let examination = Examination(limits: ManifestLimits(), defaultFilters: [], settle: 0)
        return try RunFolder(job, examination: examination, durably: true)
    }

    /// Opens the folder for a run that has work to do.
    func unfinished(_ job: RunJob) throws -> (batch: PreparedBatch, folder: RunFolder) {
        let folder = try open(job)
        guard case .unfinished(let batch) = try folder.prepare() else { throw Finished() }
        return (batch, folder)
    }

    private struct Finished: Error {}

    /// Why the run cannot begin or continue; nil if it can.
    func refusal(_ job: RunJob) throws -> RunError? {
        do throws(RunError) {
            _ = try open(job).prepare()
            return nil
        } catch {
            return error
        }
    }
}
