import Foundation
import TestSupport
import Testing

/// The answer names the file that the manifest came in, by what its submitter can know of it before.
@Suite(.fewAtATime) struct IdentityTests {
    /// Puts a manifest into tmp, and says which file it is.
    private func stage(_ fixture: DaemonFixture, _ name: String, _ text: String) throws -> String {
        let path = fixture.spool.root.appending(path: "tmp/\(name)").path
        try Data(text.utf8).write(to: URL(filePath: path))
        return try printedIdentity(path)
    }

    /// How it comes from there into the inbox.
    enum Way: CaseIterable, Sendable { case rename, linkAndUnlink, link }

    private func drop(_ fixture: DaemonFixture, _ name: String, _ way: Way = .rename) throws {
        let from = fixture.spool.root.appending(path: "tmp/\(name)").path
        let to = fixture.spool.root.appending(path: "inbox/\(name)").path
        if way == .rename { return try #require(rename(from, to) == 0) }
        try #require(link(from, to) == 0)
        if way == .linkAndUnlink { try #require(unlink(from) == 0) }
    }

    private func manifest(_ fixture: DaemonFixture) throws -> String {
        try DaemonFixture.json(["images": ["a": fixture.url("0.png")]])
    }

    @Test(arguments: Way.allCases) func isThatOfTheFile(way: Way) async throws {
        let fixture = try DaemonFixture(pictures: 1)
        try fixture.spool.makeFolders()
        let good = try stage(fixture, "x.json", manifest(fixture))
        let bad = try stage(fixture, "bad.yaml", "images: {")
        #expect(good != bad)
        for name in ["x.json", "bad.yaml"] { try drop(fixture, name, way) }
        let daemon = try await fixture.run()
        let status = try await fixture.spool.finish("x", daemon)
        #expect(status.manifest.identity == good)
        let rejected = try await fixture.spool.finish("bad", daemon)
        #expect(rejected.state == .rejected && rejected.manifest.identity == bad)
    }

    /// A crash at each step of the claim and the answer, of a manifest that is accepted and of one that is not.
    @Test(arguments: [
        "claim-moved", "claim-folder-synced", "claim-inbox-synced", "receipt-folder-made",
        "receipt-status-written", "receipt-synced", "receipt-moved",
    ])
    func outlivesACrash(step: String) async throws {
        let fixture = try DaemonFixture(pictures: 1)
        try fixture.spool.makeFolders()
        for (name, text, id) in [
            ("x.json", try manifest(fixture), "x"), ("bad.json", "{}", "bad"),
        ] {
            let identity = try stage(fixture, name, text)
            try drop(fixture, name)
            try await fixture.die(environment: ["DARKROOM_FAULT": "\(step):1"])
            let second = try await fixture.run()
            let status = try await fixture.spool.finish(id, second)
            #expect(status.manifest.identity == identity)
            #expect(try await second.stop() == .exited(0))
        }
    }

    /// What is read again, after a restart or to be done again, is a copy by then.
    @Test func staysWithTheBatch() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        try fixture.spool.makeFolders()
        let identity = try stage(
            fixture, "x.json",
            DaemonFixture.json([
                "images": ["a": fixture.url("0.png"), "b": fixture.url("none.png")]
            ]))
        try drop(fixture, "x.json")
        var daemon = try await fixture.run()
        _ = try await fixture.spool.finish("x", daemon)
        for retries in 1...2 {
            try await daemon.pause()
            try fixture.spool.drop("x.retry", "")
            let again = try await fixture.spool.waitForStatus(of: "x", daemon, "taken up again") {
                $0.retries == retries
            }
            #expect(again.manifest.identity == identity)
            try await daemon.killAtOnce()
            daemon = try await fixture.run()
            daemon.send(SIGUSR2)
            let status = try await fixture.spool.finish("x", daemon)
            #expect(status.manifest.identity == identity && status.retries == retries)
        }
    }
}
