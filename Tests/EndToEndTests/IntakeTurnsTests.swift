import Foundation
import TestSupport
import Testing

/// Owners take turns in the intake: whoever has it busy keeps nobody else waiting.
@Suite(.fewAtATime, .enabled(if: geteuid() == 0, "only root can give a file to another user"))
struct IntakeTurnsTests {
    /// Legal for its size, and long to read.
    private static let long =
        "{" + repeatElement(#""a": 1"#, count: 30_000).joined(separator: ",") + "}"

    /// Many that are answered at once, and fewer that take long to read.
    @Test(arguments: [(6000, "{}"), (240, long)])
    func manyManifestsOfOneHoldUpNobody(count: Int, text: String) async throws {
        let (fixture, daemon) = try await DaemonFixture.running()
        try await fixture.withstands(daemon) {
            for number in 0..<count { try fixture.spool.drop("flood\(number).json", text) }
        }
    }

    /// Control files beside a manifest that may not be complete do not have it read again and again.
    @Test func manyControlsOfOneManifestHoldUpNobody() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(["inbox.settle": "10min"])
        let names = ["cancel", "hold", "release", "retry"].flatMap(Self.spellings)
        try await fixture.withstands(daemon) {
            try await fixture.spool.writeInPlace("job.json", parts: [Self.long], pause: .zero)
            for name in names { try fixture.spool.drop("job.\(name)", "") }
        }
        // Those that came to nothing are gone; the others wait for the manifest.
        #expect(fixture.spool.exists("inbox/job.json"))
        #expect(fixture.spool.exists("inbox/job.hold"))
    }

    /// Drops a manifest of another user than the tests'.
    private func dropOthers(_ id: String, _ text: String, _ fixture: DaemonFixture) throws {
        let staged = fixture.spool.root.appending(path: "tmp/\(id).json").path
        try Data(text.utf8).write(to: URL(filePath: staged))
        try #require(chown(staged, 2000, 2000) == 0 && chmod(staged, 0o644) == 0)
        try #require(
            rename(staged, fixture.spool.root.appending(path: "inbox/\(id).json").path) == 0)
    }

    /// A daemon in whose room one batch of the tests' user waits, `a`, and which begins nothing; `b` stays in the inbox.
    private func full(_ fixture: DaemonFixture, paused text: String) async throws -> DaemonProcess {
        let daemon = try await fixture.run(["batches.maxWaiting": "1", "inbox.settle": "500ms"])
        try await daemon.pause()
        try fixture.spool.drop("a.json", text)
        try await daemon.waitForStatusText("Paused: 1 batch")
        try fixture.spool.drop("b.json", text)
        _ = try await fixture.waitForReport(daemon, "too many batches") {
            $0.counts["over-limit"] == 1
        }
        return daemon
    }

    /// Who has no batch waiting is not kept out by one who has as many as may wait, however the manifest comes.
    @Test func aFullRoomIsNobodyElses() async throws {
        let fixture = try DaemonFixture()
        let text = try DaemonFixture.json(["images": ["p": fixture.url("0.png")]])
        let daemon = try await full(fixture, paused: text)
        try dropOthers("other", text, fixture)
        _ = try await fixture.spool.waitForStatus(of: "other", daemon, "claimed") { _ in true }
        // Nor is who has one there already anybody's first.
        try dropOthers("more", text, fixture)
        let report = try await fixture.waitForReport(daemon, "two over the limit") {
            $0.counts["over-limit"] == 2 && $0.files.map(\.name) == ["b.json", "more.json"]
        }
        #expect(report.why?.code == "over-limit")
        daemon.send(SIGUSR2)
        for id in ["a", "b", "other", "more"] {
            try await fixture.complete(id, daemon)
        }
    }

    @Test func whatIsWrittenInPlaceSettlesBesideAFullRoom() async throws {
        let fixture = try DaemonFixture()
        let daemon = try await full(
            fixture, paused: DaemonFixture.json(["images": ["p": fixture.url("0.png")]]))
        let yaml = "images: {p: \(fixture.url("1.png"))}\n"
        try await fixture.spool.writeInPlace("other.yaml", parts: [yaml], pause: .zero)
        let path = fixture.spool.root.appending(path: "inbox/other.yaml").path
        try #require(chown(path, 2000, 2000) == 0)
        _ = try await fixture.spool.waitForStatus(of: "other", daemon, "claimed") { _ in true }
        #expect(fixture.spool.exists("inbox/b.json"))
    }

    /// What a control file would have wait besides waits in the inbox, and goes on when there is room.
    @Test func controlsTakeNoMoreThanThereIsRoomFor() async throws {
        let fixture = try DaemonFixture()
        let before = try await fixture.run()
        try await fixture.complete("done", images: [("p", fixture.url("0.png"))], before)
        #expect(try await before.stop() == .exited(0))
        try fixture.spool.remove("outbox/done/p.png")

        let text = try DaemonFixture.json(["images": ["p": fixture.url("0.png")]])
        let daemon = try await full(fixture, paused: text)
        try fixture.spool.drop("c.json", text)
        let controls = ["b.release", "c.hold", "done.retry"]
        for name in controls { try fixture.spool.drop(name, "") }
        let report = try await fixture.waitForReport(daemon, "three controls") {
            $0.counts["waits-for-its-manifest"] == 3
        }
        let waiting = report.files.filter { controls.contains($0.name) }
        #expect(
            waiting.map(\.message)
                == Array(
                    repeating:
                        "batches.maxWaiting is reached, by the waiting batches or by the held batches of its owner",
                    count: 3))
        // What ends at once takes no room.
        try fixture.spool.drop("c.cancel", "")
        #expect(try await fixture.spool.finish("c", daemon).state == .cancelled)
        for name in ["b.json", "b.release", "done.retry"] {
            #expect(fixture.spool.exists("inbox/\(name)"))
        }
        #expect(!fixture.spool.exists("outbox/done/p.png"))

        daemon.send(SIGUSR2)
        for id in ["a", "b"] {
            try await fixture.complete(id, daemon)
        }
        try await daemon.waitUntil("done to be done again") { _ in
            fixture.spool.exists("outbox/done/p.png")
        }
        _ = try await fixture.waitForReport(daemon, "an empty inbox") { $0.total == 0 }
    }

    /// What is held takes nobody's room, but may be released.
    @Test func asManyAreHeldAsMayWait() async throws {
        let (fixture, daemon) = try await DaemonFixture.running([
            "batches.maxWaiting": "1", "inbox.settle": "60s",
        ])
        let text = try DaemonFixture.json(["images": ["p": fixture.url("0.png")]])
        try fixture.spool.drop("a.hold", "")
        try fixture.spool.drop("a.json", text)
        _ = try await fixture.spool.waitForStatus(of: "a", daemon, .held)
        try fixture.spool.drop("b.json", text)
        let report = try await fixture.waitForReport(daemon, "as many held as may be") {
            $0.counts["over-limit"] == 1
        }
        #expect(report.claiming)
        #expect(
            report.files.map(\.message)
                == ["1 batch of its owner is held, as many as batches.maxWaiting allows"])
        try dropOthers("other", text, fixture)
        try await fixture.complete("other", daemon)
        try fixture.spool.drop("a.release", "")
        for id in ["a", "b"] {
            try await fixture.complete(id, daemon)
        }
    }

    /// Large ones are taken one after the other, and their owners in turn.
    @Test func manyLargeManifestsOfOneHoldUpNobodys() async throws {
        let (fixture, daemon) = try await DaemonFixture.running()
        let long = Self.long + String(repeating: " ", count: 256 << 10)
        let count = 40
        for number in 0..<count { try fixture.spool.drop("flood\(number).json", long) }
        // One at least has been taken; the others wait for their turn by now or soon.
        try await daemon.waitUntil("the first answer") { _ in
            !fixture.spool.list("outbox").isEmpty
        }
        let text = try DaemonFixture.json(["images": ["p": fixture.url("0.png")]])
        try dropOthers("other", text + String(repeating: " ", count: 256 << 10), fixture)
        try await fixture.complete("other", daemon)
        #expect(fixture.spool.list("outbox").count < count)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A word with each of its letters in either case.
    private static func spellings(of word: String) -> [String] {
        word.reduce([""]) { beginnings, letter in
            beginnings.flatMap { ["\($0)\(letter)", "\($0)\(letter.uppercased())"] }
        }
    }
}
