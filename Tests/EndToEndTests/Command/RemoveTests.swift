import DarkroomCore
import Foundation
import TestSupport
import Testing

/// `darkroom remove` and `ID.remove` with the real daemon.
@Suite(.fewAtATime) struct RemoveTests {
    private func waitUntilIdle(_ fixture: DaemonFixture, _ daemon: DaemonProcess) async throws {
        try await eventually("an idle spool", context: { daemon.describe() }) {
            ["inbox", "active"].allSatisfy { fixture.spool.list($0) == [] } ? true : nil
        }
    }

    private static let quick = ["downloads.retries": "0"]

    // MARK: The command

    @Test func saysWhatBecomesOfEach() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let daemon = try await fixture.run(
            ["downloads.retries": "0", "downloads.concurrency": "2"])
        try await fixture.finish(["holiday", "my trip", "poor", "full"], daemon)
        try fixture.drop("work", images: fixture.slowImages())
        _ = try await fixture.spool.waitForStatus(of: "work", daemon, .processing)
        let mine = fixture.spool.root.appending(path: "outbox/full/mine")
        try FileManager.default.makeFolder(at: mine)

        try await fixture.client("remove", "holiday", "my trip").expect(
            exit: 0, output: "holiday removed\nmy trip removed\n")
        try await fixture.client("remove", "work").expect(
            exit: 1,
            errors:
                "darkroom: work is still in work: end it first with darkroom cancel work\n")
        try await fixture.client("remove", "full").expect(
            exit: 1,
            errors: "darkroom: full stays: it contains a folder, mine\n")
        try await fixture.client("remove", "poor", "--json").expect(
            exit: 0,
            output: """
                {"command":"remove","effect":"done","id":"poor","message":"poor removed","type":"control"}
                {"batches":1,"exit":0,"type":"summary"}

                """)
        let gone = try await fixture.client("remove", "holiday")
        #expect(gone.exit == 66 && gone.output == "")
        #expect(gone.errors.hasPrefix("darkroom: holiday: there is no such batch\n"))
        #expect(fixture.spool.list("outbox") == ["full", "work"])
        #expect(fixture.spool.list("outbox/full").contains("a.png"))
        #expect(fixture.spool.list("inbox") == [])
        try await daemon.says("my trip removed (by user \(geteuid()))")
        try await daemon.killAtOnce()
    }

    // MARK: The control file

    @Test(.enabled(if: geteuid() == 0, "only root can make files of other users"))
    func obeysNoStranger() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        func drop(_ name: String, _ content: String, by uid: uid_t) throws {
            let staged = fixture.spool.root.appending(path: "tmp/\(name)").path
            try content.write(toFile: staged, atomically: false, encoding: .utf8)
            #expect(chown(staged, uid, uid) == 0)
            #expect(rename(staged, fixture.spool.root.appending(path: "inbox/\(name)").path) == 0)
        }
        let manifest = try DaemonFixture.json(["images": ["a": fixture.url("0.png")]])
        try drop("x.json", manifest, by: 1000)
        let status = try await fixture.spool.finish("x", daemon)
        try drop("x.remove", "", by: 1001)
        try await daemon.waitUntil("a refusal") { $0.outputText.contains("x.remove is refused") }
        try await waitUntilIdle(fixture, daemon)
        #expect(try fixture.spool.status(of: "x") == status)
        try drop("x.remove", "", by: 1000)
        try await waitUntilIdle(fixture, daemon)
        #expect(fixture.spool.list("outbox") == [])
    }

    /// A crash between any two steps: the next daemon ends the removal, and the next answer with this ID stays.
    @Test(arguments: [
        FaultPoint.expiredMoved, .removeSynced, .controlRecorded, .controlMoved, .controlConsumed,
        .expiredFileRemoved,
    ]) func aCrashLosesNothing(point: FaultPoint) async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let first = try await fixture.run(
            environment: [FaultPoint.variable: point.rawValue])
        try await fixture.finish(["x", "y"], first)
        try fixture.spool.drop("x.remove", "")
        #expect(try await first.waitForEnding() == .killed(signal: SIGKILL))
        #expect(!fixture.spool.exists("outbox/x") && fixture.spool.exists("outbox/y/a.png"))
        // It comes beside what is left of the removal.
        try fixture.drop("x", images: [("b", fixture.url("0.png"))])
        let second = try await fixture.run()
        let status = try await fixture.spool.finish("x", second)
        try await waitUntilIdle(fixture, second)
        try fixture.checkCompleted(status)
        #expect(try fixture.spool.status(of: "x") == status)
        #expect(fixture.spool.list("outbox") == ["x", "y"])
        _ = try await second.stop()
    }

    /// Whichever comes first, nothing is done by halves.
    @Test(arguments: [["retry", "remove"], ["remove", "retry"]])
    func aRetryAtTheSameMoment(verbs: [String]) async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1, Self.quick)
        try await fixture.finish(["poor"], daemon)
        for verb in verbs { try fixture.spool.drop("poor.\(verb)", "") }
        try await waitUntilIdle(fixture, daemon)
        guard let status = try fixture.spool.status(of: "poor") else {
            #expect(fixture.spool.list("outbox") == [])
            return
        }
        #expect(status.state == .completedWithErrors && status.retries == 1)
    }

    @Test func aNewManifestAtTheSameMoment() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try await fixture.finish(["x"], daemon)
        let old = try #require(try fixture.spool.status(of: "x")?.manifest.identity)
        try fixture.drop("x", images: [("b", fixture.url("0.png"))])
        try fixture.spool.drop("x.remove", "")
        try await waitUntilIdle(fixture, daemon)
        let ids = fixture.spool.list("outbox")
        #expect(ids == ["x"] || ids == ["x-2"])
        let status = try await fixture.spool.finish(try #require(ids.first), daemon)
        try fixture.checkCompleted(status)
        #expect(status.manifest.identity != old && status.images.map(\.name) == ["b"])
    }

    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
    func aFullDiskGetsSpace() async throws {
        let disk = try SmallDisk(kilobytes: 4096)
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 1, spool: SpoolFixture(root: disk.root))
        try await fixture.finish(["x"], daemon)
        try Data().write(to: fixture.spool.root.appending(path: "tmp/x.remove"))
        try disk.fill(butFor: 0)
        try FileManager.default.moveItem(
            at: fixture.spool.root.appending(path: "tmp/x.remove"),
            to: fixture.spool.root.appending(path: "inbox/x.remove"))
        try await waitUntilIdle(fixture, daemon)
        #expect(fixture.spool.list("outbox") == [])
        #expect(!daemon.outputText.contains("No space left"))
    }
}
