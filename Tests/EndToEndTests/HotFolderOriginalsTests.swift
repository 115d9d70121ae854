import DarkroomCore
import Foundation
import Glibc
import TestSupport
import Testing

/// Originals that are not what they seem to be: nothing is removed but the picture that was answered.
@Suite(.fewAtATime) struct HotFolderOriginalsTests {
    /// A picture that gets another content while its batch is in work, and its old size and time, stays.
    @Test(arguments: ["move", "remove"])
    func anOriginalWithTheOldTimeIsNotTheOldOne(originals: String) async throws {
        let fixture = try HotFolderFixture(originals: originals)
        try fixture.put("a.png", 1)
        try fixture.pause()
        var daemon = try await fixture.run()
        try await fixture.waitForRecords(1, daemon)
        let changed = Data(HotFolderFixture.picture(1).reversed())
        try FileManager.default.exchange(contentOf: fixture.path("a.png"), with: changed)
        daemon.send(SIGUSR2)
        let answers = try await fixture.expectAnswers(["a.png"], daemon)
        #expect(answers.allSatisfy { $0.state == .filtered })
        let report = try await fixture.waitForReport(daemon, "the original") {
            $0.files.map(\.reason) == [.originalKept]
        }
        #expect(
            report.files.map(\.message) == [
                "batch \(answers[0].id) has its outputs, but the original stays: "
                    + "its content is another one now"
            ])
        #expect(fixture.left == ["a.png"])
        #expect(FileManager.default.contents(atPath: fixture.path("a.png")) == changed)
        // The answer has what was filtered.
        #expect(
            (try? fixture.spool.bytes("outbox/\(answers[0].id)/a.original.png"))
                == (originals == "move" ? Array(HotFolderFixture.picture(1)) : nil))
        #expect(try await daemon.stop() == .exited(0))
        // It is reported until somebody takes it away.
        daemon = try await fixture.run()
        try await fixture.waitForReport(daemon, "the original") {
            $0.files.map(\.reason) == [.originalKept]
        }
        #expect(try await daemon.stop() == .exited(0))
        #expect(unlink(fixture.path("a.png")) == 0)
        daemon = try await fixture.run()
        try await fixture.waitForNoRecords(daemon)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// An original that cannot be copied does not keep the others out of the answer.
    @Test func oneDoesNotHinderTheOthers() async throws {
        let fixture = try HotFolderFixture(originals: "move")
        for (seed, name) in ["a.png", "b.png"].enumerated() { try fixture.put(name, seed) }
        try fixture.pause()
        let first = try await fixture.run(environment: FaultPoint.finalStatusStaged.environment)
        let id = try await eventually("an answer") { fixture.spool.list("outbox").first }
        // Something that is no file has its name.
        let name = "outbox/\(id)/a.original.png"
        try fixture.spool.makeFolder(name)
        first.send(SIGUSR2)
        #expect(try await first.waitForEnding() == .killed(signal: SIGKILL))
        #expect(fixture.spool.exists("outbox/\(id)/b.original.png"))
        try fixture.spool.remove(name)
        let second = try await fixture.run()
        _ = try await fixture.expectAnswers(["a.png", "b.png"], second)
        try await fixture.waitForNoRecords(second)
        #expect(fixture.spool.exists(name))
        #expect(fixture.left == [])
        #expect(try await second.stop() == .exited(0))
    }

    /// Who waits for the end finds the original: it is there before the last status, whenever the daemon is killed.
    @Test(arguments: [
        (FaultPoint.hotOriginalCopied, false), (.hotOriginalAnswered, true),
        (.finalStatusStaged, true),
    ]) func theOriginalComesBeforeTheEnd(point: FaultPoint, isThere: Bool) async throws {
        let fixture = try HotFolderFixture(originals: "move")
        try fixture.put("a.png", 1)
        try await fixture.die(at: "\(point.rawValue):1")
        let id = try #require(fixture.spool.list("outbox").first)
        #expect(try fixture.spool.status(of: id)?.state.isFinal == false)
        #expect(fixture.spool.exists("outbox/\(id)/a.original.png") == isThere)
        let daemon = try await fixture.run()
        try await fixture.expectAnswers(["a.png"], daemon)
        #expect(
            Data(try fixture.spool.bytes("outbox/\(id)/a.original.png"))
                == HotFolderFixture.picture(1))
        try await fixture.waitForNoRecords(daemon)
        #expect(fixture.left == [])
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func theOtherHardLinkIsNotTakenAgain() async throws {
        let fixture = try HotFolderFixture(originals: "remove")
        try fixture.put("k1.png", 1)
        #expect(link(fixture.path("k1.png"), fixture.path("k2.png")) == 0)
        var daemon = try await fixture.run()
        // The one that has settled first is taken.
        let left = try await eventually("one of the links is removed") {
            fixture.left.count == 1 ? fixture.left : nil
        }
        let taken = left == ["k2.png"] ? "k1.png" : "k2.png"
        try await fixture.expectAnswers([taken], daemon)
        try await fixture.waitForNoRecords(daemon)
        #expect(fixture.left == left)
        #expect(try await daemon.stop() == .exited(0))
        daemon = try await fixture.run()
        try fixture.put("last.png", 2)
        try await fixture.expectAnswers([taken, "last.png"], daemon)
        try await fixture.waitForNoRecords(daemon)
        #expect(fixture.left == left)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A file with the name that a former daemon would have used is no obstacle, and stays.
    @Test func aNameThatCanBeGuessedIsNoObstacle() async throws {
        let fixture = try HotFolderFixture(originals: "remove")
        try fixture.put("a.png", 1)
        let folder = try Directory(path: fixture.folder)
        let identity = try #require(try folder.droppedIdentity(of: "a.png"))
        let hidden = ".darkroom-\(identity)"
        try fixture.put(hidden, 2)
        let daemon = try await fixture.run()
        try await fixture.expectAnswers(["a.png"], daemon)
        try await fixture.waitForNoRecords(daemon)
        #expect(fixture.left == [hidden])
        #expect(
            FileManager.default.contents(atPath: fixture.path(hidden))
                == HotFolderFixture.picture(2))
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Characters that the status does not show: soft hyphen, joiner, no break, byte order mark, separator, tag.
    @Test(arguments: ["move", "remove"])
    func namesWithInvisibleCharactersGoToo(originals: String) async throws {
        let fixture = try HotFolderFixture(originals: originals)
        let characters = ["\u{AD}", "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{2028}", "\u{E0041}"]
        for (index, character) in characters.enumerated() {
            try fixture.put("\(index)\(character)x.png", index)
        }
        let daemon = try await fixture.run()
        try await fixture.expectAnswers(characters.indices.map { "\($0)_x.png" }, daemon)
        try await fixture.waitForNoRecords(daemon)
        #expect(fixture.left == [])
        #expect(try await daemon.stop() == .exited(0))
    }
}
