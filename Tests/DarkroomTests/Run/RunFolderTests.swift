import Foundation
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomRun
@testable import DarkroomSpool

/// The table in `RunFolder`: what a run finds in each state of its folder, and what it leaves there.
final class RunFolderTests: RunFolderSuite {
    override class var text: [UInt8] {
        Array(#"{"images": [{"name": "a", "source": "a.png"}, "b.png"]}"#.utf8)
    }

    /// Opens the folder, and says what is to be done: the states of the images, or how it has ended.
    private func prepare(retries: Bool = false) throws -> String {
        let folder = try open(try job(retries: retries))
        switch try folder.prepare() {
        case .finished(let status): return status.state.rawValue
        case .unfinished(let batch):
            return batch.status.images.map(\.state.rawValue).joined(separator: " ")
        case .stopped: return "stopped"
        }
    }

    private var active: Directory { get throws { try folder("out/.darkroom/active/x") } }

    private var outputs: Directory { get throws { try folder("out") } }

    private func filtered(_ name: String) -> ImageStatus {
        ImageStatus(
            name: name, source: "\(name).png", state: .filtered,
            output: .init(
                file: "\(name).png", format: .png, sha256: SHA256Digest.hex(of: [1, 2, 3]),
                bytes: 3, width: 1, height: 1,
                depth: 8, channels: 3), attempts: 1)
    }

    /// Ends the run: `a` is filtered, `b` has failed.
    private func finish(_ other: RunJob? = nil) throws {
        let (batch, folder) = try unfinished(other ?? job())
        var status = batch.status
        status.state = .completedWithErrors
        status.times.finished = Clock.timestamp
        status.images[0] = filtered("a")
        status.images[1].state = .failed
        status.images[1].error = Failure(code: "source-missing", message: "b.png")
        status.images[1].attempts = 1
        for index in status.images.indices {
            status.images[index].settingsSHA256 = batch.manifest.settingsSHA256(of: index)
        }
        status.counts = Status.Counts(of: status.images)
        try outputs.write([1, 2, 3], to: "a.png", durably: false)
        try folder.folders.writeLastStatus(status, durably: false)
        try Receipt.finish(folder.folders, format: .json, durably: false)
    }

    // MARK: The states

    @Test func anEmptyFolderGetsAPlanAndAStatus() throws {
        #expect(try prepare() == "new new")
        #expect(
            list("out") == [".darkroom", "manifest.json", "progress.json", "status.json"])
        #expect(list("out/.darkroom") == ["active", "attempts", "lock", "plan.json"])
        #expect(list("out/.darkroom/active/x") == ["manifest.json"])
        #expect(try Status(in: outputs)?.state == .pending)
        #expect(
            try RunPlan.read(in: folder("out/.darkroom"))
                == RunPlan(
                    id: "x", manifest: "x.json", sha256: SHA256Digest.hex(of: Self.text), base: "/"
                ))
    }

    /// The copy of the manifest may be incomplete.
    @Test(arguments: [[], ["manifest.json"], ["manifest.json", "status.new", "manifest.new"]])
    func aPlannedRunBegins(files: [FileName]) throws {
        _ = try open(try job())
        try scratch.makeFolder("out/.darkroom/active/x")
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
        try scratch.makeFolder("out/.darkroom/active/x")
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
        try scratch.makeFolder("out/.darkroom/active/.retry-x")
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

    /// The same manifest, whose pattern means these files.
    private func patternJob(_ files: [ByteString]) throws -> RunJob {
        try job(
            Array(#"{"images": ["*.png"], "filters": []}"#.utf8),
            finder: .recorded(SourceRecord([FoundSources(pattern: "*.png", files: files)])))
    }

    /// What the pattern meant is written again as long as it means the same.
    @Test func removedSourcesAreRestored() throws {
        let job = try patternJob(["a.png", "b.png"])
        let other = try patternJob(["a.png", "c.png"])
        try finish(job)
        let text = try outputs.read(BatchFile.sources)
        try outputs.remove(BatchFile.sources)
        #expect(try refusal(job) == nil)
        #expect(try outputs.read(BatchFile.sources) == text)
        #expect(list("out/.darkroom/active") == [])
        // The other one is gone, and this one is new.
        #expect(try refusal(other) == nil)
        #expect(try Status(in: outputs)?.images.map(\.name) == ["a", "c"])
        #expect(try Status(in: outputs)?.images.map(\.state) == [.filtered, .new])
        #expect(list("out/.darkroom/active/x") == ["journal", "manifest.json", "sources.json"])
    }

    // MARK: What is refused

    @Test(arguments: ["status.json", "progress.json", "sources.json"])
    func aForeignAnswerIsRefused(name: String) throws {
        try scratch.makeFolder("out")
        try outputs.write([1], to: FileName(name), durably: false)
        #expect(try refusal(try job()) == .inTheWay("\(out)/\(name)"))
        #expect(list("out") == [name])
        #expect(try outputs.read(FileName(name)) == [1])
    }

    @Test func anotherManifestIsRefused() throws {
        #expect(try prepare() == "new new")
        let other = try job(Array(#"{"images": ["c.png"]}"#.utf8), id: "y")
        let expected = RunError.otherManifest(folder: out, manifest: "x.json")
        #expect(try refusal(other) == expected)
        // The same under another name is the same.
        #expect(try refusal(try job(id: "z")) == nil)
        #expect(list("out/.darkroom/active") == ["x"])
    }

    @Test func anotherFolderOfSourcesIsRefusedWhileTheFormerExists() throws {
        for name in ["p", "q"] { try scratch.makeFolder(name) }
        #expect(try refusal(try job(base: "\(scratch.path)/p")) == nil)
        #expect(try refusal(try job(base: "\(scratch.path)/q/../p")) == nil)
        #expect(
            try refusal(try job(base: "\(scratch.path)/q"))
                == .otherBase(folder: out, base: "\(scratch.path)/p"))
        try scratch.remove("p")
        #expect(try refusal(try job(base: "\(scratch.path)/q")) == nil)
    }

    /// Also one of the same length and with the former time.
    @Test(
        arguments: [
            ([1, 2], OutputFault.length(2, expected: 3)),
            ([3, 2, 1], .digest(SHA256Digest.hex(of: [3, 2, 1]))),
        ] as [([UInt8], OutputFault)]) func aChangedOutputIsRefused(
            content: [UInt8], fault: OutputFault
        ) throws
    {
        let expected = RunError.outputChanged("\(out)/a.png", fault)
        func change() throws {
            let folder = try outputs
            let time = try #require(try folder.information(of: "a.png")).st_mtim
            try folder.put(content, to: "a.png")
            #expect(utimensat(folder.number, "a.png", [time, time], 0) == 0)
        }
        // In an unfinished run.
        #expect(try prepare() == "new new")
        try ItemJournal.append([.ended(index: 0, filtered("a"))], in: active, durably: false)
        try outputs.write([1, 2, 3], to: "a.png", durably: false)
        #expect(try prepare() == "filtered new")
        try change()
        #expect(try refusal(try job()) == expected)
        // In a finished one.
        try scratch.remove("out")
        try finish()
        #expect(try prepare() == "completedWithErrors")
        try change()
        #expect(try refusal(try job()) == expected)
        #expect(try outputs.read("a.png") == content)
        #expect(!expected.isTransient && expected.code == "output-changed")
    }

    /// The file is read, and is the output.
    @Test func aCopiedOutputIsTheOutput() throws {
        try finish()
        try outputs.remove("a.png")
        try outputs.write([1, 2, 3], to: "a.png", durably: false)
        #expect(try prepare() == "completedWithErrors")
    }

    @Test(arguments: ["status.json", ".darkroom/plan.json"])
    func anUnreadableFileIsRefused(name: String) throws {
        try finish()
        let text = try outputs.read(FileName(name))
        for content in [[1], Array(text.dropLast(20))] {
            try outputs.put(content, to: FileName(name))
            #expect(try refusal(try job()) == .unreadable("\(out)/\(name)"))
        }
        try outputs.write(text, to: "elsewhere", durably: false)
        try outputs.remove(FileName(name))
        #expect(symlink("\(out)/elsewhere", "\(out)/\(name)") == 0)
        #expect(try refusal(try job()) == .link("\(out)/\(name)"))
    }

    /// The copy of the manifest is the user's, as the outputs are.
    @Test func aChangedCopyOfTheManifestIsRefused() throws {
        let path = "\(out)/manifest.json"
        var other = Self.text
        other[0] = 0
        for isFinished in [false, true] {
            if isFinished { try finish() } else { #expect(try prepare() == "new new") }
            try outputs.put(other, to: "manifest.json")
            #expect(try refusal(try job()) == .copyChanged(path))
            try outputs.rename("manifest.json", to: outputs, as: "mine")
            #expect(symlink("mine", path) == 0)
            #expect(try refusal(try job()) == .copyChanged(path))
            try outputs.remove("manifest.json")
            #expect(try refusal(try job()) == nil)
            try scratch.remove("out")
        }
    }

    /// Nobody but the run has the copy in `active`.
    @Test func aChangedCopyOfAnUnfinishedRunIsWrittenAnew() throws {
        #expect(try prepare() == "new new")
        var other = Self.text
        other[0] = 0
        try active.put(other, to: "manifest.json")
        #expect(try prepare() == "new new")
        #expect(try active.read("manifest.json") == Self.text)
    }

    /// Whatever the file is, a run that has not begun replaces nothing.
    @Test(arguments: [[1, 2], Array(text.reversed())] as [[UInt8]])
    func aManifestInTheWayIsRefused(content: [UInt8]) throws {
        try scratch.makeFolder("out")
        let path = "\(out)/manifest.json"
        try outputs.write(content, to: "manifest.json", durably: false)
        #expect(try refusal(try job()) == .inTheWay(path))
        #expect(try outputs.read("manifest.json") == content)
        try outputs.remove("manifest.json")
        try outputs.write(Self.text, to: "real.json", durably: false)
        #expect(symlink("real.json", path) == 0)
        #expect(try refusal(try job()) == .inTheWay(path))
        #expect(try outputs.read("real.json") == Self.text)
    }

    // MARK: Settings that decide what the outputs are

    /// Each image says with what it was made.
    @Test func otherDefaultFiltersMakeImagesAgain() throws {
        #expect(try refusal(try job(filters: "[flip]")) == nil)
        #expect(try refusal(try job(filters: "- flop\n- flip\n")) == nil)
        let plan = try RunPlan.read(in: folder("out/.darkroom"))
        #expect(plan?.defaultFilters == "- flop\n- flip\n")
    }

    /// They decide nothing if the manifest has filters for each image.
    @Test(arguments: [
        #"{"filters": [], "images": ["a.png"]}"#,
        #"{"images": [{"source": "a.png", "filters": ["flip"]}]}"#,
    ]) func defaultFiltersThatNobodyUsesDoNotMatter(text: String) throws {
        for filters in ["[flip]", "[flop]"] {
            #expect(try refusal(try job(Array(text.utf8), filters: filters)) == nil)
        }
    }

    /// Relative paths are looked for in them.
    @Test func otherRootsAreAnotherRun() throws {
        for name in ["p", "q"] { try scratch.makeFolder(name) }
        let (p, q) = (scratch.path("p"), scratch.path("q"))
        #expect(try refusal(try job(roots: [p])) == nil)
        #expect(try refusal(try job(roots: ["\(q)/../p"])) == nil)
        for (roots, asked) in [
            ([q], "[\(q)]"), ([p, q], "[\(p), \(q)]"), ([], "[]"), (nil, "not set"),
        ] as [([String]?, String)] {
            #expect(
                try refusal(try job(roots: roots))
                    == .otherSetting(
                        folder: out, key: "sources.roots", known: "[\(p)]",
                        asked: asked))
        }
        // The folder was moved.
        try FileManager.default.removeItem(atPath: p)
        #expect(try refusal(try job(roots: [q])) == nil)
    }

    // MARK: Outputs that are there already

    /// The status and the journal were removed by hand, or another file has the name.
    @Test(
        arguments: [
            ([1, 2, 3], true), ([1, 2, 4], false), ([1, 2], false), ([], false),
        ] as [([UInt8], Bool)])
    func anOutputWithTheSameBytesIsTheOutput(content: [UInt8], isSame: Bool) throws {
        #expect(try prepare() == "new new")
        try ItemJournal.append([.ended(index: 0, filtered("a"))], in: active, durably: false)
        try active.write([1, 2, 3], to: BatchFile.output(0), durably: false)
        try outputs.write(content, to: "a.png", durably: false)
        let before = try outputs.information(of: "a.png")?.st_ino
        #expect(try prepare() == (isSame ? "filtered new" : "failed new"))
        #expect(try outputs.read("a.png") == content)
        #expect(try outputs.information(of: "a.png")?.st_ino == before)
        #expect(list("out/.darkroom/active/x") == ["journal", "manifest.json"])
        guard !isSame else { return }
        let batch = try unfinished(job()).batch
        #expect(
            batch.status.images[0].error
                == Failure(
                    code: "file-exists",
                    message:
                        "\(out)/a.png: another file is in the place of this output; move it away"
                ))
    }

    /// What only looks like the file.
    @Test func aLinkIsNotTheOutput() throws {
        #expect(try prepare() == "new new")
        try ItemJournal.append([.ended(index: 0, filtered("a"))], in: active, durably: false)
        try active.write([1, 2, 3], to: BatchFile.output(0), durably: false)
        try outputs.write([1, 2, 3], to: "other.png", durably: false)
        #expect(symlink("other.png", "\(out)/a.png") == 0)
        #expect(try prepare() == "failed new")
    }
}
