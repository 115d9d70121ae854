import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Foundation
import Glibc
import TestSupport
import Testing

/// Folders in the inbox that have pictures and no manifest.
@Suite(.fewAtATime) struct PictureFolderTests {
    private let fixture: DaemonFixture
    private let scratch: ScratchDirectory
    private var configuration: String { "\(scratch.path)/darkroomd.yaml" }

    static let pictures = ["a.png", "sub/a.png", "sub/deep/b.png"]
    static let names = ["a", "a-2", "b"]

    init() throws {
        fixture = try DaemonFixture(pictures: 0)
        scratch = try ScratchDirectory()
        try scratch.makeFolder("recipes")
        try "".write(toFile: configuration, atomically: false, encoding: .utf8)
        try write("filters: {resize: 8}\n")
    }

    private func write(_ recipe: String, _ name: String = "small") throws {
        try recipe.write(
            toFile: "\(scratch.path)/recipes/\(name).yaml", atomically: true, encoding: .utf8)
    }

    private func run(
        _ settings: [String: String] = [:], environment: [String: String] = [:]
    ) async throws -> DaemonProcess {
        try await fixture.run(
            settings, arguments: ["--config", configuration], environment: environment)
    }

    private func drop(_ name: String, _ others: [String] = ["small.recipe"]) throws {
        try fixture.makeFolder(
            name,
            files: Self.pictures.map { ($0, DaemonFixture.picture) } + others.map { ($0, []) })
        try fixture.dropMade(name)
    }

    private func expectAll(_ status: Status, _ recipe: String = "small") throws {
        try fixture.checkCompleted(status)
        #expect(status.images.map(\.name) == Self.names)
        #expect(status.images.map(\.source) == Self.pictures.map { "./\($0)" })
        #expect(status.images.map(\.output?.width) == [8, 8, 8])
        #expect(status.recipes?.map(\.name) == [recipe])
        #expect(status.manifest.isFolder == true && status.manifest.file == "manifest.json")
    }

    @Test func everyPictureBecomesAnImage() async throws {
        let daemon = try await run()
        try drop("holiday", ["small.recipe", "notes.txt", ".hidden.png", "sub/other.recipe"])
        try expectAll(try await fixture.spool.finish("holiday", daemon))
        #expect(fixture.spool.list("inbox") == [])
    }

    @Test func theConfigurationHasARecipeForAll() async throws {
        try write("filters: {resize: 8}\n", "other")
        let daemon = try await run(["inbox.recipe": "other"])
        try drop("a", [])
        try expectAll(try await fixture.spool.finish("a", daemon), "other")
        try drop("b")
        try expectAll(try await fixture.spool.finish("b", daemon))
    }

    /// At each step of the claim, and after the receipt, when the recipe is not there any more.
    @Test(arguments: [FaultPoint.claimMoved, .claimCopied, .receiptMoved])
    func aKillLosesNothing(point: FaultPoint) async throws {
        let first = try await run(environment: point.environment)
        try drop("holiday")
        #expect(try await first.waitForEnding() == .killed(signal: SIGKILL))
        if point == .receiptMoved {
            try scratch.remove("recipes/small.yaml")
        }
        let second = try await run()
        try expectAll(try await fixture.spool.finish("holiday", second))
        #expect(fixture.spool.list("outbox") == ["holiday"])
    }

    /// A file of the same path in the roots is another picture.
    @Test func aRetryTakesNoOtherPicture() async throws {
        let root = "\(scratch.path)/root"
        try FileManager.default.makeFolder(atPath: "\(root)/sub")
        try Data(DaemonFixture.picture).write(to: URL(filePath: "\(root)/sub/a.png"))
        let daemon = try await run(["sources.roots": root])
        try fixture.makeFolder(
            "holiday",
            files: [
                ("a.png", DaemonFixture.picture), ("sub/a.png", [1]), ("small.recipe", []),
            ])
        try fixture.dropMade("holiday")
        let first = try await fixture.spool.finish("holiday", daemon)
        #expect(first.images.map(\.state) == [.filtered, .failed])
        try await fixture.waitForRemoval()
        try fixture.spool.drop("holiday.retry", "")
        try await daemon.says("nothing of the batch can be repeated")
        #expect(try fixture.spool.status(of: "holiday") == first)
    }

    /// What the recipe's name says wrong is answered, and the folder comes back.
    @Test func aRejectedOneIsMovedBack() async throws {
        let daemon = try await run()
        try drop("holiday", ["smal.recipe"])
        let status = try await fixture.spool.finish("holiday", daemon)
        #expect(status.state == .rejected && status.manifest.file == nil)
        #expect(status.errors?.map(\.code) == ["unknown-recipe"])
        #expect(status.errors?.map(\.suggestion) == ["small"])
        try await eventually("the folder in tmp", context: { "" }) {
            fixture.spool.list("tmp").contains("holiday") ? true : nil
        }
        let back = "\(fixture.spool.path)/tmp/holiday"
        #expect(
            Set(try FileManager.default.subpathsOfDirectory(atPath: back))
                == Set(Self.pictures + ["smal.recipe", "sub", "sub/deep"]))
        // With another name of that file, the same folder is taken.
        #expect(rename("\(back)/smal.recipe", "\(back)/small.recipe") == 0)
        try fixture.dropMade("holiday")
        try expectAll(try await fixture.spool.finish("holiday-2", daemon))
    }

    /// Which folders are left alone, and that `darkroom check` says the same of them, and of those that are taken.
    @Test func checkSaysWhatTheDaemonSays() async throws {
        let daemon = try await run(["inbox.settle": "0s"])
        let cases: [(name: String, files: [String], error: String?)] = [
            ("none", ["a.png"], SkipReason.folder(.noManifest).words),
            ("two", ["a.png", "a.recipe", "b.recipe"], SkipReason.folder(.severalRecipes).words),
            (
                "empty", ["small.recipe"],
                SkipReason.folder(.noPictures("there is no picture in it")).words
            ),
        ]
        for (name, files, _) in cases {
            try fixture.makeFolder(name, files: files.map { ($0, []) })
        }
        for (name, _, error) in cases {
            try await fixture.client("check", "\(fixture.spool.path)/tmp/\(name)").shows(
                exit: 65, errors: .has("SPOOL/tmp/\(name): \(error ?? "")"))
            try fixture.dropMade(name)
        }
        let report = try await fixture.waitForReport(daemon, "the folders") {
            $0.counts["folder"] == cases.count
        }
        for (name, _, error) in cases {
            #expect(report.files.first { $0.name == name }?.message == error)
        }
        try fixture.makeFolder(
            "right",
            files: Self.pictures.map { ($0, DaemonFixture.picture) } + [("small.recipe", [])])
        let right = try await fixture.client(
            "check", "--sources", "\(fixture.spool.path)/tmp/right")
        right.shows(exit: 0, output: .has("SPOOL/tmp/right: 3 images"))
        try fixture.dropMade("right")
        try expectAll(try await fixture.spool.finish("right", daemon))
    }
}
