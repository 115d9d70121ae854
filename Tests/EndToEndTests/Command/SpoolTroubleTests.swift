import Foundation
import TestSupport
import Testing

/// The command on a disk that is full, on a share that nobody may write to, and with names of all scripts.
@Suite(.fewAtATime) struct SpoolTroubleTests {
    // MARK: A full disk

    /// What is full.
    enum Full: CaseIterable { case files, space }

    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount"), arguments: Full.allCases)
    func nothingIsDroppedOnAFullDisk(full: Full) async throws {
        let disk = try SmallDisk(kilobytes: 4096)
        let fixture = try DaemonFixture(pictures: 1, spool: SpoolFixture(root: disk.root))
        try fixture.makeStations()
        // More than the pages that the disk has left.
        let comment = String(repeating: "#", count: 40_000)
        try fixture.write("images: {a: \(fixture.url("0.png"))}\n\(comment)\n", to: "x.yaml")
        switch full {
        case .files: try disk.setFreeFiles(0)
        case .space: try disk.fill(butFor: 8)
        }
        let result = try await fixture.client("submit", "x.yaml", "--anyway")
        #expect(result.exit == 74 && result.output == "")
        #expect(result.errors.hasPrefix("darkroom: "))
        #expect(result.errors.contains("No space left on device"), "\(result.errors)")
        for folder in ["tmp", "inbox"] { #expect(fixture.spool.list(folder) == []) }
        // With room, the same line works.
        disk.empty()
        try disk.setFreeFiles(nil)
        let daemon = try await fixture.run()
        try await fixture.client("submit", "x.yaml", "--wait").expect(exit: 0, output: "x\n")
        #expect(try await daemon.stop() == .exited(0))
    }

    // MARK: A share

    /// All that only reads works, and the rest says why it does not.
    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount"))
    func aReadOnlyShareIsRead() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try fixture.write("images: {a: \(fixture.url("0.png"))}\n", to: "x.yaml")
        #expect(try await fixture.client("submit", "x.yaml", "--wait").exit == 0)
        let share = try ReadOnlyShare(of: fixture.spool.path)
        func run(_ words: [String]) async throws -> ClientProcess.Result {
            try await ClientProcess.end(
                words, spool: share.path, folder: fixture.documents.path)
        }
        for (words, beginning) in [
            (["list", "--all"], "ID "), (["show", "x"], "x: completed\n"),
            (["status"], "running"), (["watch", "x"], "x: completed"), (["wait", "x"], ""),
            (["check", "x.yaml"], "x.yaml: 1 image\n"),
        ] {
            let result = try await run(words)
            #expect(result.exit == 0, "\(words): \(result)")
            // A wait says nothing at all.
            let isRight =
                beginning.isEmpty ? result.output.isEmpty : result.output.hasPrefix(beginning)
            #expect(isRight, "\(words): \(result)")
        }
        for words in [
            ["submit", "x.yaml"], ["submit", "0.png", "--copy"], ["retry", "x"], ["remove", "x"],
        ] {
            let result = try await run(words)
            #expect(result.exit == 77 && result.output == "", "\(words): \(result)")
            #expect(result.errors.contains("Read-only file system"), "\(words): \(result)")
        }
        #expect(fixture.spool.list("outbox") == ["x"])
        #expect(try await daemon.stop() == .exited(0))
        #expect(try await run(["status"]).output.hasPrefix("stopped"))
    }

    // MARK: Names

    /// A manifest, a picture and a batch of each name go through all commands.
    @Test func namesOfAllScriptsComeThrough() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let daemon = try await fixture.run(fixture.readsDocuments)
        var count = 0
        for stem in NamesTests.scripts {
            let bytes = stem.filled(to: 90)
            // Controls cannot be in the name of a manifest, and a name that is not UTF-8 has a test of its own.
            guard let name = String(validating: bytes, as: UTF8.self),
                !name.unicodeScalars.contains(where: \.isControl)
            else { continue }
            count += 1
            try fixture.addPicture("\(name).png")
            let submitted = try await fixture.client(
                "submit", "\(name).png", "--filter", "mono", "--name", name, "--wait")
            #expect(submitted.exit == 0 && submitted.errors == "", "\(stem): \(submitted)")
            // The ID, byte for byte.
            let id = String(submitted.output.dropLast())
            #expect(Array(submitted.output.utf8) == bytes + [UInt8(ascii: "\n")])
            #expect(try await fixture.client("wait", id).exit == 0)
            #expect(try await fixture.client("show", id).exit == 0)
            #expect(try await fixture.client("cancel", id).exit == 1)
            let list = try await fixture.client("list", "--all", "--json")
            #expect(list.output.utf8.split(separator: UInt8(ascii: "\n")).count == 2)
            #expect(try await fixture.client("remove", id).exit == 0)
            #expect(fixture.spool.list("outbox") == [])
        }
        #expect(count >= 13)
        #expect(try await daemon.stop() == .exited(0))
    }
}
