import TestSupport

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomRun
@testable import DarkroomSpool

/// A folder of shards whose images have been "filtered" without a picture.
final class ShardFixture {
    let scratch: ScratchDirectory
    let count: Int
    let text: [UInt8]
    let manifest: Manifest
    private let examination = Examination(limits: ManifestLimits(), defaultFilters: [], settle: 0)

    /// - Parameter helper: whether there is another image, `logo`, which is not published and is laid over all.
    init(images: Int, count: Int, helper: Bool = false) throws {
        scratch = try ScratchDirectory()
        self.count = count
        let logo = #"{"name": "logo", "source": "logo.png", "publish": false, "filters": []}"#
        let sources = (helper ? [logo] : []) + (0..<images).map { "\"\($0).png\"" }
        let filters = helper ? #""filters": [{"watermark": {"from": "logo"}}], "# : ""
        text = Array("{\(filters)\"images\": [\(sources.joined(separator: ","))]}".utf8)
        manifest = try ManifestReader.read(text, format: .json, defaultFilters: [])
    }

    var path: String { "\(scratch.path)/out" }

    func folder(_ name: String = "") throws -> Directory { try Directory(path: "\(path)/\(name)") }

    func shardFolder(_ number: Int) throws -> Directory {
        try folder(".darkroom/shard-\(number)-of-\(count)")
    }

    private func job(_ shard: ShardRequest?, in folder: String) -> RunJob {
        RunJob(
            id: "x", name: "x.json", format: .json, bytes: text, manifest: manifest, base: "/",
            usesBase: true, folder: folder, shard: shard)
    }

    static func content(of name: String) -> [UInt8] { Array("the output of \(name)".utf8) }

    /// Begins a shard, and ends it unless `ends` is false. `change` is called for each of its images.
    func run(
        _ number: Int, ends: Bool = true, array: RunPlan.TaskArray? = nil,
        change: (inout ImageStatus) -> Void = { _ in }
    ) throws {
        let request = ShardRequest(
            part: .number(number), count: count, isCountWritten: true, array: array)
        try run(job(request, in: path), ends: ends, change: change)
    }

    /// The same for a run of the whole manifest in another folder.
    func runWhole(change: (inout ImageStatus) -> Void = { _ in }) throws -> Status {
        let folder = "\(scratch.path)/whole"
        try run(job(nil, in: folder), ends: true, change: change)
        return try Status(in: Directory(path: folder)) ?? { throw Unfinished() }()
    }

    private struct Unfinished: Error {}

    private func run(
        _ job: RunJob, ends: Bool, change: (inout ImageStatus) -> Void
    ) throws {
        let folder = try RunFolder(job, examination: examination, durably: false)
        guard case .unfinished(let batch) = try folder.prepare(), ends else { return }
        var status = batch.status
        status.times.started = Clock.timestamp
        status.times.finished = Clock.timestamp
        for index in status.images.indices {
            let name = batch.manifest.images[index].outputFile
            let content = Self.content(of: name)
            status.images[index].state = .filtered
            status.images[index].attempts = 1
            status.images[index].sourceSHA256 = SHA256Digest.hex(of: Array(name.utf8))
            status.images[index].output = .init(
                file: name, format: .png, sha256: SHA256Digest.hex(of: content),
                bytes: content.count, width: 1, height: 1, depth: 8, channels: 3)
            if !batch.manifest.images[index].isPublished { status.images[index].output = nil }
            change(&status.images[index])
            if status.images[index].state == .filtered, status.images[index].output == nil {
                continue
            } else if status.images[index].state == .filtered {
                try folder.outputs.put(content, to: FileName(name))
            } else {
                status.images[index].output = nil
                status.images[index].sourceSHA256 = nil
            }
        }
        status.counts = Status.Counts(of: status.images)
        status.state = status.counts.failed > 0 ? .completedWithErrors : .completed
        let progress = BatchProgress(of: status)
        try folder.folders.writeLastStatus(
            status, durably: false, moved: { folder.folders.writeProgress(progress) })
        try Receipt.finish(folder.folders, format: .json, durably: false)
    }

    func merge(quick: Bool = false, prunes: Bool = false) throws(RunError) -> MergeReport {
        try ShardMerge(path, readsOutputs: !quick, prunes: prunes).run()
    }

    /// Changes the text of a shard's status.
    func edit(_ number: Int, _ change: (inout Status) -> Void) throws {
        let folder = try shardFolder(number)
        guard var status = try Status(in: folder) else { throw Unfinished() }
        change(&status)
        try folder.put(status.encoded(), to: BatchFile.status)
    }

    func names(of number: Int) throws -> [String] {
        guard let shard = Shard(number, of: count) else { return [] }
        return manifest.part(shard).images.map(\.name.string)
    }
}
