import Foundation
import Glibc
import Synchronization
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomRun
@testable import DarkroomSpool

/// The folder of a run that is divided into shards: the plan, and the folder of a shard.
final class ShardFolderTests: RunFolderSuite {
    override class var text: [UInt8] {
        Array(
            #"{"images": [{"name": "a", "source": "a.png"}, "b.png", {"name": "c", "from": "a"}]}"#
                .utf8)
    }

    /// a and c are together; the hash puts them into shard 1 of 2 or 2 of 2.
    private var numberOfA: Int {
        get throws {
            ShardAssignment(
                of: try ManifestReader.read(Self.text, format: .json, defaultFilters: []), count: 2
            )[0]
        }
    }

    @Test func aShardHasAFolderOfItsOwn() throws {
        let number = try numberOfA
        let batch = try unfinished(job(shard: "\(number)/2")).batch
        let name = "shard-\(number)-of-2"
        #expect(list("out") == [".darkroom"])
        #expect(list("out/.darkroom") == ["manifest.json", "plan.json", "plan.lock", name])
        #expect(
            list("out/.darkroom/\(name)")
                == ["active", "attempts", "lock", "manifest.json", "progress.json", "status.json"])
        #expect(batch.manifest.images.map(\.name).contains("a"))
        #expect(batch.manifest.images.map(\.name).contains("c"))
        let status = try #require(try Status(in: folder("out/.darkroom/\(name)")))
        #expect(status.images.map(\.name) == batch.manifest.images.map(\.name.string))
        #expect(status.shards == Status.Shards(count: 2, number: number))
        #expect(status.versions == [.present])
        // One copy of the manifest.
        let links = try ["", "\(name)/", "\(name)/active/x/"].map {
            try folder("out/.darkroom").information(of: FileName($0 + "manifest.json"))?.st_ino
        }
        #expect(Set(links).count == 1)
        #expect(links[0] != nil)
    }

    /// Opens the shard, and closes it with its lock.
    private func prepare(
        _ shard: String, then body: (PreparedBatch, BatchFolders) throws -> Void = { _, _ in }
    ) throws -> Manifest {
        let (batch, folder) = try unfinished(job(shard: shard))
        try body(batch, folder.folders)
        return batch.manifest
    }

    /// The journal's numbers are those of the shard's images, also after a start that reads the manifest anew.
    @Test func aShardContinues() throws {
        let shard = "\(try numberOfA)/2"
        let manifest = try prepare(shard) { batch, folders in
            let last = batch.status.images.count - 1
            var image = batch.status.images[last]
            image.state = .failed
            image.error = Failure(code: "source-missing", message: "m")
            try ItemJournal.append(
                [.ended(index: last, image)], in: folders.active(), durably: false)
        }
        let again = try prepare(shard) { batch, _ in
            #expect(batch.status.images.dropLast().allSatisfy { $0.state == .new })
            #expect(batch.status.images.last?.state == .failed)
            #expect(batch.status.images.last?.name == "c")
        }
        #expect(again == manifest)
    }

    @Test func aShardWithoutImagesIsFinished() throws {
        let manifest = try ManifestReader.read(Self.text, format: .json, defaultFilters: [])
        let assignment = ShardAssignment(of: manifest, count: 50)
        let taken = Set(manifest.images.indices.map { assignment[$0] })
        let empty = try #require((1...50).first { !taken.contains($0) })
        for _ in 0..<2 {
            guard case .finished(let status) = try open(try job(shard: "\(empty)/50")).prepare()
            else {
                Issue.record("it is not finished")
                return
            }
            #expect(status.state == .completed)
            #expect(status.counts.total == 0)
        }
        #expect(list("out/.darkroom/shard-\(empty)-of-50/active") == [])
    }

    @Test func theOtherKindIsRefused() throws {
        #expect(try refusal(try job(shard: "1/2")) == nil)
        #expect(
            try refusal(try job())
                == .otherShards(
                    folder: out, known: "in 2 shards", asked: "without --shard"))
        // Nothing was written.
        #expect(
            list("out/.darkroom") == ["manifest.json", "plan.json", "plan.lock", "shard-1-of-2"])
        try scratch.remove("out")
        #expect(try refusal(try job()) == nil)
        #expect(
            try refusal(try job(shard: "1/2"))
                == .otherShards(
                    folder: out, known: "without --shard", asked: "in 2 shards"))
        #expect(list("out/.darkroom") == ["active", "attempts", "lock", "plan.json"])
    }

    @Test func anotherManifestIsRefused() throws {
        #expect(try refusal(try job(shard: "1/2")) == nil)
        let other = try job(Array(#"{"images": ["c.png"]}"#.utf8), id: "y", shard: "2/2")
        #expect(
            try refusal(other)
                == .otherManifest(folder: out, manifest: "x.json"))
        // The same under another name is the same.
        #expect(try refusal(try job(id: "z", shard: "2/2")) == nil)
        #expect(try Status(in: folder("out/.darkroom/shard-2-of-2"))?.id == "x")
    }

    /// The folder of a shard has links to the shared copy, so they change with it.
    @Test func aChangedCopyOfTheManifestIsRefused() throws {
        let shard = "\(try numberOfA)/2"
        _ = try prepare(shard)
        let root = try folder("out/.darkroom")
        let names: [FileName] = [
            "manifest.json", "shard-\(try numberOfA)-of-2/manifest.json",
            "shard-\(try numberOfA)-of-2/active/x/manifest.json",
        ]
        var other = Self.text
        other[0] = 0
        // Into the same inode.
        let file = try #require(FileHandle(forWritingAtPath: root.path(of: names[0])))
        try file.write(contentsOf: other)
        try file.close()
        for name in names { #expect(try root.read(name) == other) }
        for number in 1...2 {
            #expect(
                try refusal(try job(shard: "\(number)/2"))
                    == .copyChanged("\(out)/.darkroom/manifest.json"))
        }
        try root.rename(names[0], to: root, as: "mine")
        _ = try prepare(shard)
        for name in names { #expect(try root.read(name) == Self.text) }
        #expect(try root.read("mine") == other)
    }

    /// A crash of the machine leaves an empty file; a killed process leaves one with a name of its own.
    @Test func anIncompleteCopyOfTheManifestIsWrittenAnew() throws {
        _ = try prepare("\(try numberOfA)/2")
        let root = try folder("out/.darkroom")
        try root.remove("manifest.json")
        try root.write([], to: "manifest.json", durably: false)
        try root.write([1, 2], to: "manifest.new-host-1-2", durably: false)
        _ = try prepare("\(try numberOfA)/2")
        #expect(try root.read("manifest.json") == Self.text)
        #expect(!list("out/.darkroom").contains { $0.hasPrefix("manifest.new") })
        try root.write([1, 2], to: "manifest.new-host-1-2", durably: false)
        _ = try prepare("\(try numberOfA)/2")
        #expect(!list("out/.darkroom").contains { $0.hasPrefix("manifest.new") })
    }

    @Test(arguments: ["manifest.json", "plan.json", "shard-1-of-2/status.json"])
    func aLinkInTheirPlaceIsRefused(name: String) throws {
        #expect(try refusal(try job(shard: "1/2")) == nil)
        let root = try folder("out/.darkroom")
        try root.rename(FileName(name), to: root, as: "elsewhere")
        let path = "\(out)/.darkroom/\(name)"
        #expect(symlink("\(out)/.darkroom/elsewhere", path) == 0)
        #expect(
            try refusal(try job(shard: "1/2"))
                == (name == "manifest.json" ? .copyChanged(path) : .link(path)))
    }

    @Test func autoNeedsAPlan() throws {
        var job = try job(shard: "1/2")
        job.shard = try ShardRequest("auto") { $0 == "JOB_COMPLETION_INDEX" ? "1" : nil }
        guard case .noShard(let problem)? = try refusal(job) else {
            Issue.record("it is not refused")
            return
        }
        #expect(problem.code == "no-shard")
        #expect(list("out/.darkroom") == ["plan.lock"])
        #expect(try refusal(try self.job(shard: "1/2")) == nil)
        #expect(try refusal(job) == nil)
        #expect(list("out/.darkroom").contains("shard-2-of-2"))
    }

    // MARK: The plan

    private static func plan(_ count: Int?, id: String = "x") -> RunPlan {
        RunPlan(
            id: id, manifest: "x.json", sha256: "00", base: nil,
            shards: count.map { RunPlan.Shards(count: $0) }, format: .json)
    }

    /// Of many that begin at once, one decides, and all know it.
    @Test func onePlanCounts() throws {
        for round in 0..<20 {
            let root = try folder(".").ownFolder(FileName("race-\(round)"))
            let found = Mutex<[Int?]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { number in
                let plan = try? Self.plan(number + 1).settle(in: root)
                found.withLock { $0.append(plan?.shards?.count) }
            }
            let plan = try #require(try RunPlan.read(in: root))
            #expect(found.withLock { $0 } == [Int?](repeating: plan.shards?.count, count: 8))
            _ = try Self.plan(1).settle(in: root)
            #expect(list("race-\(round)") == ["plan.json"])
        }
    }

    @Test func anEarlierPlanIsRead() throws {
        let root = try folder(".")
        let text = #"{"id": "x", "manifest": "x.json", "schemaVersion": 1, "sha256": "00"}"#
        try root.write(Array(text.utf8), to: "plan.json", durably: false)
        #expect(try RunPlan.read(in: root) == Self.plan(nil))
        #expect(try Self.plan(3).settle(in: root) == Self.plan(nil))
    }

    /// A version that knows no shards would work on the whole manifest.
    @Test func aPlanWithShardsIsAnotherVersion() throws {
        let root = try folder(".")
        #expect(try Self.plan(3).settle(in: root) == Self.plan(3))
        let text = String(decoding: try root.read("plan.json"), as: UTF8.self)
        #expect(text.contains("\"schemaVersion\" : 3"))
        for version in [1, 2, 4] {
            let other = text.replacing(
                "\"schemaVersion\" : 3", with: "\"schemaVersion\" : \(version)")
            try root.put(Array(other.utf8), to: "plan.json")
            #expect(throws: RunError.unreadable("\(scratch.path)/./plan.json")) {
                try RunPlan.read(in: root)
            }
        }
    }

    /// Its name is not the plan's, so it is never read; the next start removes it.
    @Test func halfAPlanIsNone() throws {
        let root = try folder(".")
        try root.write(Array("{".utf8), to: "plan.new-host-1-2", durably: false)
        #expect(try RunPlan.read(in: root) == nil)
        #expect(try Self.plan(3).settle(in: root) == Self.plan(3))
        #expect(list(".") == ["plan.json"])
    }
}
