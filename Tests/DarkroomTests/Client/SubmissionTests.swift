import Foundation
import Testing

@testable import DarkroomClient
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSpool

/// Files that clients put into the inbox.
struct SubmissionTests {
    private let outbox: ClientSpool

    init() throws {
        outbox = try ClientSpool()
    }

    private func submit(
        _ stem: String, _ format: ManifestFormat = .json, isHeld: Bool = false
    ) throws -> Submission {
        try Submission(
            StagedFile(Array("{}".utf8), in: outbox.open()), stem: stem,
            ending: ".\(format.fileExtensions[0])", isHeld: isHeld, in: outbox.open())
    }

    @Test func takesTheFirstFreeName() throws {
        #expect(try submit("x").name == "x.json")
        #expect(try submit("x").name == "x-2.json")
        #expect(try submit("x", .yaml).name == "x.yaml")
        #expect(try outbox.names("inbox") == ["x-2.json", "x.json", "x.yaml"])
        #expect(try outbox.names("tmp") == [])
    }

    /// With the number of a batch, its ID would get a second one.
    @Test func leavesOutTheNumbersOfBatches() throws {
        try outbox.writeStatus("x", identity: nil)
        try outbox.writeStatus("x-2", identity: nil)
        #expect(try submit("x").name == "x.json")
        #expect(try submit("x").name == "x-3.json")
    }

    @Test func hasTheIdentityOfTheFile() throws {
        let staged = try StagedFile(Array("{}".utf8), in: outbox.open())
        _ = try Submission(staged, stem: "x", ending: ".json", isHeld: false, in: outbox.open())
        let inbox = try outbox.open().inbox()
        #expect(try inbox.droppedIdentity(of: "x.json") == staged.identity)
        #expect(try staged.isWaiting(as: "x.json"))
        try inbox.rename("x.json", to: try outbox.open().outbox(), as: "moved")
        #expect(try !staged.isWaiting(as: "x.json"))
    }

    /// The hold belongs to the manifest, so another one neither gets it nor its name.
    @Test func holdsAManifestThatItCameWith() throws {
        try outbox.writeStatus("x", identity: nil)
        #expect(try submit("x", isHeld: true).name == "x-2.json")
        #expect(try submit("x", isHeld: true).name == "x-3.json")
        #expect(
            try outbox.names("inbox") == ["x-2.hold", "x-2.json", "x-3.hold", "x-3.json"])
        #expect(try submit("x-2").name == "x-2-2.json")
    }

    @Test func leavesNoHoldWithoutItsManifest() throws {
        _ = try submit("x")
        let error = #expect(throws: ClientError.self) { try submit("x", isHeld: true) }
        #expect(error?.exit == .tryAgain)
        #expect(try outbox.names("inbox") == ["x.json"])
    }

    /// It has a name in `tmp` only if the one in the inbox is taken.
    @Test func aFileIsRenamed() throws {
        var staged: StagedFile? = try StagedFile(Array("{}".utf8), in: outbox.open())
        #expect(try outbox.names("tmp") == [])
        #expect(try staged?.drop(as: "x.json") == true)
        #expect(try outbox.names("tmp") == [] && outbox.names("inbox") == ["x.json"])
        staged = try StagedFile(Array("{}".utf8), in: outbox.open())
        #expect(try staged?.drop(as: "x.json") == false)
        #expect(try outbox.names("tmp").map { $0.hasPrefix(".darkroom-\(getpid())-") } == [true])
        // Its owner has it open.
        let tmp = try Directory("tmp", in: outbox.open().root)
        #expect(try StagedFolders.removeLeftovers(in: tmp) == 0)
        staged = nil
        #expect(try outbox.names("tmp") == [] && outbox.names("inbox") == ["x.json"])
    }

    @Test func aFileIsLinkedIfThereIsNoOtherFolder() throws {
        try FileManager.default.removeItem(atPath: outbox.path + "/tmp")
        #expect(try submit("x").name == "x.json")
        #expect(try outbox.names("inbox") == ["x.json"])
    }

    // MARK: Names

    @Test(arguments: [
        ("holiday.yaml", "holiday"), ("a.b.json", "a.b"), (".hidden.json", "_hidden"),
        ("new\nline.json", "new\u{FFFD}line"), ("x", "x"),
    ]) func namesManifestsByTheirFiles(file: String, name: String) {
        #expect(SubmissionName.of(FileName(file)) == name)
    }

    @Test(arguments: [
        (["photos/a.jpg", "photos/b.jpg"], "photos"), (["photos/a.jpg"], "a"),
        (["photos/a.jpg", "more/b.jpg"], "a"), (["http://h/a.jpg", "http://h/b.jpg"], "a"),
    ]) func namesPicturesByTheirFolder(files: [String], name: String) throws {
        for file in files where !file.contains("://") { try outbox.scratch.write("", file) }
        let pictures = try files.map { try PictureSource($0, in: outbox.path) }
        #expect(SubmissionName.of(pictures) == name)
    }

    @Test(arguments: [
        ("", "is empty"), (".x", "begins with a dot"), ("a/b", "contains a slash"),
        ("a\nb", "contains a control character"),
        (String(repeating: "x", count: 201), "has 201 bytes; the limit is 200"),
    ]) func refusesNames(name: String, fault: String) throws {
        let error = #expect(throws: ClientError.self) { try SubmissionName.checked(name) }
        #expect(error?.message.hasSuffix(": the name \(fault)") == true)
        #expect(error?.exit == .usage)
    }
}
