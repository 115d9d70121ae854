import DarkroomAnswer
import DarkroomCore
import Foundation
import Testing

/// What the daemon removes, and what it does not.
@Suite(.fewAtATime) struct RetentionTests {
    /// Makes a finished entry of an earlier time: its status, its manifest and some pictures.
    private func make(_ fixture: DaemonFixture, _ id: String, finished: String, files: Int = 1)
        throws
    {
        let folder = fixture.spool.root.appending(path: "outbox/\(id)")
        try FileManager.default.makeFolder(at: folder)
        let status = Status(
            id: id,
            manifest: .init(name: "\(id).json", file: "manifest.json", sha256: "", bytes: 2),
            state: .completed, times: .init(received: finished, finished: finished))
        // Foundation waits for the disk with each file.
        let directory = try Directory(path: folder.path)
        try directory.write(Array("{}".utf8), to: "manifest.json", durably: false)
        for file in 0..<files { try directory.write([1], to: "\(file).png", durably: false) }
        try directory.write(status.encoded(), to: "status.json", durably: false)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_600_000_000)],
            ofItemAtPath: folder.appending(path: "status.json").path)
    }

    @Test func removesWhatIsTooOldAndKeepsTheRest() async throws {
        let fixture = try DaemonFixture()
        try make(fixture, "old", finished: "2020-09-13T12:26:40.000Z")
        try make(fixture, "young", finished: Clock.timestamp)
        let daemon = try await fixture.run(["retention.age": "1h"])
        try await fixture.complete("new", images: [("a", fixture.url("0.png"))], daemon)
        try await daemon.waitUntil("the removal") { _ in !fixture.spool.exists("outbox/old") }
        #expect(fixture.spool.list("outbox") == ["new", "young"])
        try await daemon.says("outbox/old removed")
        // The name is free again.
        try await fixture.complete("old", images: [("a", fixture.url("0.png"))], daemon)
    }

    @Test func removesWhenAnEntryComesOfAge() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(["retention.age": "2s"])
        try fixture.drop("brief", images: [("a", fixture.url("0.png"))])
        // Its last status may be gone before anyone has seen it.
        try await daemon.says("outbox/brief removed")
        #expect(fixture.spool.list("outbox").isEmpty)
        try await daemon.waitUntil("the rest's removal") { _ in fixture.spool.list("active").isEmpty
        }
    }

    @Test func aKillInTheMiddleLeavesNothingHalf() async throws {
        let fixture = try DaemonFixture()
        let count = 120
        for index in 0..<count {
            try make(fixture, "\(index)", finished: "2020-09-13T12:26:40.000Z", files: 20)
        }
        // Several deaths, each some way into the removals, between two files of one entry.
        for _ in 0..<3 {
            try await fixture.die(
                ["retention.age": "1h", "log.level": "notice"],
                environment: ["DARKROOM_FAULT": "expired-file-removed:\(22 * 10 + 5)"])
            let left = fixture.spool.list("outbox")
            #expect(left.count > 0)
            for id in left { #expect(fixture.spool.list("outbox/\(id)").count == 22) }
        }
        let last = try await fixture.run()
        try await last.waitUntil("the leftovers' removal") { _ in
            fixture.spool.list("active").isEmpty
        }
        let left = fixture.spool.list("outbox")
        // Without a retention nothing more is removed.
        try await fixture.complete("new", images: [("a", fixture.url("0.png"))], last)
        #expect(try await last.stop() == .exited(0))
        #expect(fixture.spool.list("outbox") == (left + ["new"]).sorted())
    }

    @Test func tellsOfWhatIsLeftOver() async throws {
        let fixture = try DaemonFixture()
        let active = fixture.spool.root.appending(path: "active")
        for name in ["empty", "notes", ".retry-x", ".expired-y", ".other"] {
            try FileManager.default.makeFolder(at: active.appending(path: name))
        }
        for name in ["file", "notes/a.txt", ".expired-y/a.png", ".retry-x/manifest.json"] {
            try Data([1]).write(to: active.appending(path: name))
        }
        let daemon = try await fixture.run()
        try await daemon.waitUntil("the leftovers' removal") { _ in
            fixture.spool.list("active") == [".other", "file", "notes"]
        }
        try await daemon.waitUntil("what is said of them") { daemon in
            [
                "empty removed", "notes is not touched", ".other is not touched",
                "file is not touched",
            ]
            .allSatisfy { daemon.outputText.contains("active/" + $0) }
        }
        #expect(fixture.spool.list("active/notes") == ["a.txt"])
        try await fixture.complete("new", images: [("a", fixture.url("0.png"))], daemon)
    }
}
