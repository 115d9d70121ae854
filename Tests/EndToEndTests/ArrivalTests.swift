import Foundation
import Testing

/// Ways into the inbox that inotify does not tell of as such, and a crash on the way.
@Suite(.fewAtATime) struct ArrivalTests {
    enum Way: String, CaseIterable, Sendable {
        /// It keeps its other name.
        case link
        /// By the time of the look it has one name only.
        case linkAndUnlink
        /// It never had another name.
        case unnamed
        /// The same, of a file made in the inbox itself, whose events have the name of a number.
        case unnamedInTheInbox
    }

    @Test(arguments: Way.allCases, ["json", "yaml"])
    func takesWhatIsLinked(way: Way, ending: String) async throws {
        let (fixture, daemon) = try await DaemonFixture.running(["inbox.settle": "0.2s"])
        let root = fixture.spool.root.path
        let text = Array(try DaemonFixture.json(["images": ["a": fixture.url("0.png")]]).utf8)
        let target = "\(root)/inbox/linked.\(ending)"
        switch way {
        case .link, .linkAndUnlink:
            let draft = "\(root)/tmp/draft"
            try fixture.spool.write(text, to: "tmp/draft")
            try #require(link(draft, target) == 0)
            if way == .linkAndUnlink { try fixture.spool.remove("tmp/draft") }
        case .unnamed, .unnamedInTheInbox:
            let folder = way == .unnamed ? "tmp" : "inbox"
            // O_TMPFILE, which Swift does not import.
            let file = open(
                "\(root)/\(folder)", O_WRONLY | O_CLOEXEC | 0o20_000_000 | O_DIRECTORY, 0o644)
            try #require(file >= 0)
            defer { close(file) }
            try #require(write(file, text, text.count) == text.count)
            try #require(
                linkat(AT_FDCWD, "/proc/self/fd/\(file)", AT_FDCWD, target, AT_SYMLINK_FOLLOW) == 0)
        }
        try await fixture.complete("linked", daemon)
        #expect(try await daemon.stop() == .exited(0))
        #expect(!daemon.outputText.contains("is not taken"))
        #expect(fixture.spool.exists("tmp/draft") == (way == .link))
    }

    /// Until it is closed, however long that takes.
    @Test func waitsForAWriterThatHasItOpen() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(["inbox.settle": "1h"])
        // What settles for long does not keep others from being looked at.
        try await fixture.spool.writeInPlace("slow.yaml", parts: ["images: [a]"], pause: .zero)
        _ = try await fixture.waitForReport(daemon, "one that settles") {
            $0.counts["settling"] == 1
        }
        let path = fixture.spool.root.appending(path: "inbox/open.json").path
        let file = creat(path, 0o644)
        let text = Array(try DaemonFixture.json(["images": ["a": fixture.url("0.png")]]).utf8)
        try #require(write(file, text, 5) == 5)
        _ = try await fixture.waitForReport(daemon, "the writer") {
            $0.counts["being-written"] == 1
        }
        // What comes later is done before either.
        for id in ["later", "latest"] {
            try await fixture.complete(id, images: [("a", fixture.url("0.png"))], daemon)
        }
        #expect(fixture.spool.list("inbox") == ["open.json", "slow.yaml"])
        try #require(write(file, Array(text[5...]), text.count - 5) == text.count - 5)
        close(file)
        try await fixture.complete("open", daemon)
    }

    /// Between the claim and the receipt the manifest keeps its own name, and what lies beside it counts.
    @Test(arguments: [
        "claim-moved", "claim-copied", "claim-inbox-synced", "receipt-status-written",
    ])
    func aClaimKeepsItsNameAcrossACrash(point: String) async throws {
        let fixture = try DaemonFixture()
        let first = try await fixture.run()
        try await fixture.complete("dup1", images: [("a", fixture.url("0.png"))], first)
        #expect(try await first.stop() == .exited(0))

        try fixture.drop("dup1", images: [("b", fixture.url("1.png"))])
        try await fixture.die(environment: ["DARKROOM_FAULT": point])
        try fixture.spool.drop("dup1.hold", "")

        let third = try await fixture.run()
        let held = try await fixture.spool.waitForStatus(of: "dup1-2", third, .held)
        #expect(held.manifest.name == "dup1.json")
        #expect(held.counts.new == 1)
        try fixture.spool.drop("dup1-2.release", "")
        let status = try await fixture.spool.finish("dup1-2", third)
        try fixture.checkCompleted(status)
        #expect(status.manifest.name == "dup1.json")
    }
}
