import Foundation
import TestSupport
import Testing

@testable import DarkroomBatch
@testable import DarkroomConfiguration
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomRun
@testable import DarkroomSpool

/// The table in `RunFolder`: what a run finds in each state of its folder, and what it leaves there.
@Suite struct RunFolderTests {
    private static let text = Array(
        #"{"images": [{"name": "a", "source": "a.png"}, "b.png"]}"#.utf8)

    private let scratch: ScratchDirectory
    private let examination = Examination(limits: ManifestLimits(), defaultFilters: [], settle: 0)

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func job(
        _ text: [UInt8] = text, id: String = "x", base: String = "/", retries: Bool = false
    ) throws -> RunJob {
        RunJob(
            id: id, name: "\(id).json", format: .json, bytes: text,
            manifest: try ManifestReader.read(
                text, format: .json, limits: ManifestLimits(), defaultFilters: []),
            base: base, usesBase: true, folder: "\(scratch.path)/out", retries: retries)
    }

    private func open(_ job: RunJob) throws(RunError) -> RunFolder {
        try RunFolder(job, examination: examination, durably: true)
    }

    /// Opens the folder, and says what is to be done: the states of the images, or how it has ended.
    private func prepare(retries: Bool = false) throws -> String {
        let folder = try open(try job(retries: retries))
        switch try folder.prepare() {
        case .finished(let status): return status.state.rawValue
        case .unfinished(let batch):
            return batch.status.images.map(\.state.rawValue).joined(separator: " ")
        }
    }

    private func list(_ folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "\(scratch.path)/\(folder)")) ?? [])
            .sorted()
    }

    private var active: Directory {
        get throws { try Directory(path: "\(scratch.path)/out/.darkroom/active/x") }
    }

    private var outputs: Directory { get throws { try Directory(path: "\(scratch.path)/out") } }

    private func filtered(_ name: String, bytes: Int = 3) -> ImageStatus {
        ImageStatus(
            name: name, source: "\(name).png", state: .filtered,
            output: .init(
                file: "\(name).png", format: .png, sha256: "0", bytes: bytes, width: 1, height: 1,
                depth: 8, channels: 3), attempts: 1)
    }

    /// Ends the run: `a` is filtered, `b` has failed.
    private func finish() throws {
        let folder = try open(try job())
        guard case .unfinished(let batch) = try folder.prepare() else {
            Issue.record("it is finished")
            return
        }
        var status = batch.status
        status.state = .completedWithErrors
        status.times.finished = Clock.timestamp
        status.images[0] = filtered("a")
        status.images[1].state = .failed
        status.images[1].error = Failure(code: "source-missing", message: "b.png")
        status.images[1].attempts = 1
        status.counts = Status.Counts(of: status.images)
        try outputs.write([1, 2, 3], to: "a.png", durably: false)
        try batch.folders.writeLastStatus(status, durably: false)
        try Receipt.finish(batch.folders, format: .json, durably: false)
    }

    // MARK: The states

    @Test func anEmptyFolderGetsAPlanAndAStatus() throws {
        #expect(try prepare() == "new new")
        #expect(
            list("out") == [".darkroom", "manifest.json", "progress.json", "status.json"])
        #expect(list("out/.darkroom") == ["active", "attempts", "lock", "plan.json"])
        #expect(list("out/.darkroom/active/x") == ["manifest.json"])
        #expect(try Status(in: outputs)?.state == .pending)
        let plan = try #require(
            try RunPlan.read(in: Directory(path: "\(scratch.path)/out/.darkroom")))
        #expect(
            plan
                == RunPlan(
                    id: "x", manifest: "x.json", sha256: SHA256Digest.hex(of: Self.text), base: "/"
                ))
    }

    /// The copy of the manifest may be incomplete.
    @Test(arguments: [[], ["manifest.json"], ["manifest.json", "status.new", "manifest.new"]])
    func aPlannedRunBegins(files: [FileName]) throws {
        _ = try open(try job())
        try FileManager.default.createDirectory(
            atPath: "\(scratch.path)/out/.darkroom/active/x", withIntermediateDirectories: true)
        for name in files { try active.write(Array("{".utf8), to: name, durably: false) }
        #expect(try prepare() == "new new")
        #expect(list("out/.darkroom/active/x") == ["manifest.json"])
        #expect(try active.read("manifest.json") == Self.text)
    }

    @Test func aPendingRunContinues() throws {
        #expect(try prepare() == "new new")
        #expect(try prepare() == "new new")
    }

    @Test func anInterruptedRunRepeatsWhatIsNotInTheJournal() throws {
        #expect(try prepare() == "new new")
        try ItemJournal.append([.ended(index: 0, filtered("a"))], in: active, durably: false)
        // The rename was interrupted.
        try active.write([1, 2, 3], to: BatchFile.output(0), durably: false)
        try active.write([7], to: BatchFile.output(1), durably: false)
        #expect(try prepare() == "filtered new")
        #expect(try outputs.read("a.png") == [1, 2, 3])
        #expect(list("out/.darkroom/active/x") == ["journal", "manifest.json"])
    }

    @Test(arguments: [nil, []] as [[UInt8]?])
    func anInterruptedRunRepeatsImagesWhoseOutputsAreMissing(content: [UInt8]?) throws {
        #expect(try prepare() == "new new")
        let images = [filtered("a"), filtered("b")]
        try ItemJournal.append(
            images.enumerated().map { .ended(index: $0, $1) }, in: active, durably: false)
        try outputs.write([1, 2, 3], to: "b.png", durably: false)
        if let content { try outputs.write(content, to: "a.png", durably: false) }
        #expect(try prepare() == "new filtered")
        #expect(!list("out").contains("a.png"))
        // The journal has it.
        #expect(try prepare() == "new filtered")
    }

    /// Somebody has removed the answer of an unfinished run.
    @Test func aJournalCountsWithoutAStatus() throws {
        #expect(try prepare() == "new new")
        try ItemJournal.append([.ended(index: 0, filtered("a"))], in: active, durably: false)
        try outputs.write([1, 2, 3], to: "a.png", durably: false)
        for name: FileName in ["status.json", "progress.json", "manifest.json"] {
            try outputs.remove(name)
        }
        #expect(try prepare() == "filtered new")
        #expect(
            list("out") == [".darkroom", "a.png", "manifest.json", "progress.json", "status.json"])
    }

    @Test func aFinishedRunHasNothingToDo() throws {
        try finish()
        let before = try outputs.read("status.json")
        #expect(try prepare() == "completedWithErrors")
        #expect(try outputs.read("status.json") == before)
        #expect(list("out/.darkroom/active") == [])
    }

    @Test func leftoversOfAFinishedRunAreRemoved() throws {
        try finish()
        try FileManager.default.createDirectory(
            atPath: "\(scratch.path)/out/.darkroom/active/x", withIntermediateDirectories: true)
        try active.write(Self.text, to: "manifest.json", durably: false)
        #expect(try prepare() == "completedWithErrors")
        #expect(list("out/.darkroom/active") == [])
    }

    @Test(arguments: [nil, []] as [[UInt8]?])
    func aMissingOutputIsMadeAgain(content: [UInt8]?) throws {
        try finish()
        try outputs.remove("a.png")
        if let content { try outputs.write(content, to: "a.png", durably: false) }
        #expect(try prepare() == "new failed")
        #expect(list("out/.darkroom/active/x") == ["journal", "manifest.json"])
        // A reopened run continues.
        #expect(try prepare() == "new failed")
        #expect(try Status(in: outputs)?.retries == 1)
    }

    @Test func failedImagesAreRepeatedOnRequest() throws {
        try finish()
        #expect(try prepare(retries: true) == "filtered new")
    }

    @Test func anIncompleteReopeningIsRemoved() throws {
        try finish()
        try FileManager.default.createDirectory(
            atPath: "\(scratch.path)/out/.darkroom/active/.retry-x",
            withIntermediateDirectories: true)
        #expect(try prepare() == "completedWithErrors")
        #expect(list("out/.darkroom/active") == [])
    }

    /// The copy in the folder is needed by nobody but the user.
    @Test func aRemovedManifestIsRestored() throws {
        try finish()
        try outputs.remove("manifest.json")
        #expect(try prepare() == "completedWithErrors")
        #expect(try prepare(retries: true) == "filtered new")
        #expect(try outputs.read("manifest.json") == Self.text)
    }

    // MARK: What is refused

    private func refusal(_ job: RunJob) throws -> RunError? {
        do throws(RunError) {
            _ = try open(job).prepare()
            return nil
        } catch {
            return error
        }
    }

    @Test func aForeignStatusIsRefused() throws {
        try FileManager.default.createDirectory(
            atPath: "\(scratch.path)/out", withIntermediateDirectories: false)
        try outputs.write([1], to: "status.json", durably: false)
        #expect(try refusal(try job()) == .inTheWay("\(scratch.path)/out/status.json"))
        #expect(list("out") == ["status.json"])
    }

    @Test func anotherManifestIsRefused() throws {
        #expect(try prepare() == "new new")
        let other = try job(Array(#"{"images": ["c.png"]}"#.utf8), id: "y")
        let expected = RunError.otherManifest(folder: "\(scratch.path)/out", manifest: "x.json")
        #expect(try refusal(other) == expected)
        // The same under another name is the same.
        #expect(try refusal(try job(id: "z")) == nil)
        #expect(list("out/.darkroom/active") == ["x"])
    }

    @Test func anotherFolderOfSourcesIsRefusedWhileTheFormerExists() throws {
        for name in ["p", "q"] {
            try FileManager.default.createDirectory(
                atPath: "\(scratch.path)/\(name)", withIntermediateDirectories: false)
        }
        #expect(try refusal(try job(base: "\(scratch.path)/p")) == nil)
        #expect(try refusal(try job(base: "\(scratch.path)/q/../p")) == nil)
        #expect(
            try refusal(try job(base: "\(scratch.path)/q"))
                == .otherBase(folder: "\(scratch.path)/out", base: "\(scratch.path)/p"))
        try FileManager.default.removeItem(atPath: "\(scratch.path)/p")
        #expect(try refusal(try job(base: "\(scratch.path)/q")) == nil)
    }

    @Test func aSecondProcessIsRefused() throws {
        let first = try open(try job())
        guard case .inUse(let folder, let holder)? = try refusal(try job()) else {
            Issue.record("it is not refused")
            return
        }
        #expect(folder == "\(scratch.path)/out")
        #expect(holder.hasPrefix("darkroom run on \(Machine.name), process \(getpid()), since "))
        withExtendedLifetime(first) {}
    }

    @Test func aChangedOutputIsRefused() throws {
        try finish()
        try outputs.write([1, 2], to: "a.png", replacing: true, durably: false)
        #expect(
            try refusal(try job())
                == .outputChanged("\(scratch.path)/out/a.png", bytes: 2, expected: 3))
        #expect(try outputs.read("a.png") == [1, 2])
    }

    @Test(arguments: ["status.json", ".darkroom/plan.json"])
    func anUnreadableFileIsRefused(name: String) throws {
        try finish()
        try outputs.write([1], to: FileName(name), replacing: true, durably: false)
        #expect(try refusal(try job()) == .unreadable("\(scratch.path)/out/\(name)"))
    }
}
