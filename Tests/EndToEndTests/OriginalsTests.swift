import DarkroomCore
import Foundation
import Glibc
import TestSupport
import Testing

/// The pictures of submitted folders that stay in their answers (`retention.originals`).
@Suite(.fewAtATime) struct OriginalsTests {
    private static let settings = ["retention.originals": "true"]

    private func drop(_ fixture: DaemonFixture) throws {
        try fixture.dropFolder(
            "job", images: [("a", "a.png"), ("b", "/x/y/b.png"), ("c", "c.png")],
            pictures: ["a.png", "x/y/b.png"])
    }

    private static let files: Set<String> = [
        "manifest.json", "a.png", "x", "x/y", "x/y/b.png",
    ]

    /// Waits until the batch has left `active`, and expects the whole folder in its answer.
    private func expectOriginals(_ fixture: DaemonFixture) async throws {
        try await fixture.waitForRemoval()
        let path = "\(fixture.spool.path)/outbox/job/originals"
        #expect(Set(try FileManager.default.subpathsOfDirectory(atPath: path)) == Self.files)
        #expect(try fixture.spool.bytes("outbox/job/originals/x/y/b.png") == DaemonFixture.picture)
    }

    /// A retry finds them again, and what their owner has put right there.
    @Test func areKeptForARetryAndGoWithTheAnswer() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 0, Self.settings)
        try drop(fixture)
        let first = try await fixture.spool.finish("job", daemon)
        #expect(first.images.map(\.state) == [.filtered, .filtered, .failed])
        try await expectOriginals(fixture)
        try fixture.spool.write(DaemonFixture.picture, to: "outbox/job/originals/c.png")
        try fixture.spool.drop("job.retry", "")
        let second = try await fixture.spool.waitForRetry(1, of: "job", daemon)
        #expect(second.images.map(\.state) == [.filtered, .filtered, .filtered])
        try await fixture.waitForRemoval()
        #expect(fixture.spool.exists("outbox/job/originals/a.png"))
        try fixture.spool.drop("job.remove", "")
        try await daemon.waitUntil("the removal") { _ in !fixture.spool.exists("outbox/job") }
        try await fixture.waitForRemoval()
    }

    @Test func goWhenTheAnswerIsTooOld() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        var daemon = try await fixture.run(Self.settings)
        try drop(fixture)
        _ = try await fixture.spool.finish("job", daemon)
        try await expectOriginals(fixture)
        #expect(try await daemon.stop() == .exited(0))
        daemon = try await fixture.run(["retention.age": "1ms"])
        try await daemon.waitUntil("the removal") { _ in !fixture.spool.exists("outbox/job") }
        try await fixture.waitForRemoval()
    }

    /// Its manifest has an error, so nothing of it was filtered.
    @Test func aRejectedFolderIsKeptToo() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 0, Self.settings)
        try fixture.makeFolder(
            "job", files: [("manifest.yaml", Array("imagse: []\n".utf8)), ("a.png", [1])])
        try fixture.dropMade("job")
        let status = try await fixture.spool.finish("job", daemon)
        #expect(status.state == .rejected)
        try await fixture.waitForRemoval()
        #expect(fixture.spool.list("outbox/job/originals") == ["a.png", "manifest.yaml"])
    }

    @Test(arguments: [
        FaultPoint.claimMoved, .receiptMoved, .finalStatusMoved, .originalsMoved, .originalsSynced,
        .activeRemoved,
    ])
    func aCrashLosesNothing(point: FaultPoint) async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let first = try await fixture.run(Self.settings, environment: point.environment)
        try drop(fixture)
        #expect(try await first.waitForEnding() == .killed(signal: SIGKILL))
        let second = try await fixture.run(Self.settings)
        let status = try await fixture.spool.finish("job", second)
        #expect(status.images.map(\.state) == [.filtered, .filtered, .failed])
        try await expectOriginals(fixture)
    }

    /// Links that their owner puts there are not followed: neither by a retry nor by the removal.
    @Test func linksInThemLeadNowhere() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1, Self.settings)
        try drop(fixture)
        _ = try await fixture.spool.finish("job", daemon)
        try await expectOriginals(fixture)
        let path = "\(fixture.spool.path)/outbox/job/originals"
        let secret = fixture.documents.path + "/0.png"
        try #require(symlink(secret, path + "/c.png") == 0)
        try #require(symlink(fixture.documents.path, path + "/documents") == 0)
        try fixture.spool.drop("job.retry", "")
        let status = try await fixture.spool.waitForRetry(1, of: "job", daemon)
        let error = try #require(try status.image("c").error)
        #expect(error.code == "source-forbidden")
        #expect(
            error.message
                == "c.png: a symbolic link; links in a submitted folder are not followed")
        try await fixture.waitForRemoval()
        try fixture.spool.drop("job.remove", "")
        try await daemon.waitUntil("the removal") { _ in !fixture.spool.exists("outbox/job") }
        try await fixture.waitForRemoval()
        #expect(FileManager.default.fileExists(atPath: secret))
    }

    private static func folderOfAnotherUser() async throws -> (DaemonFixture, DaemonProcess) {
        let fixture = try DaemonFixture(pictures: 0)
        let daemon = try await fixture.runAsAnotherUser(settings)
        try fixture.makeFolderOfAnotherUser("job")
        return (fixture, daemon)
    }

    /// Their owner does not let the daemon move them: the batch ends, and it is said.
    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func whatIsNotKeptIsSaid() async throws {
        let (fixture, daemon) = try await Self.folderOfAnotherUser()
        try fixture.spool.drop("job.hold", "")
        try fixture.dropMade("job")
        _ = try await fixture.spool.waitForStatus(of: "job", daemon, .held)
        try #require(chmod("\(fixture.spool.path)/active/job/submitted/job", 0o550) == 0)
        try fixture.spool.drop("job.release", "")
        try await fixture.complete("job", daemon, mayRemove: false)
        try await daemon.says(
            "The pictures that came with batch job are not kept in its answer (retention.originals): "
        )
        #expect(!fixture.spool.exists("outbox/job/originals"))
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Their owner takes away every permission: the answer is removed nevertheless, and its ID is free.
    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func theirOwnerCannotPreventTheRemoval() async throws {
        let (fixture, daemon) = try await Self.folderOfAnotherUser()
        try fixture.dropMade("job")
        try await fixture.complete("job", daemon)
        try await fixture.waitForRemoval()
        let path = "\(fixture.spool.path)/outbox/job/originals"
        var information = stat()
        try #require(lstat(path, &information) == 0)
        #expect(information.st_uid == DaemonFixture.submitter)
        try #require(chmod(path, 0) == 0)
        try fixture.spool.drop("job.remove", "")
        try await daemon.waitUntil("the removal") { _ in !fixture.spool.exists("outbox/job") }
        let left = try await eventually(
            "the folder that cannot be removed",
            context: { fixture.spool.list("active").joined(separator: " ") }
        ) { fixture.spool.list("active").first { $0.hasPrefix(".ended-.expired-job.") } }
        try #require(chmod("\(fixture.spool.path)/active/\(left)/originals", 0o770) == 0)
        #expect(try await daemon.stop() == .exited(0))
        let next = try fixture.launch(user: DaemonFixture.daemonUser)
        try await fixture.waitForRemoval()
        #expect(try await next.stop() == .exited(0))
    }
}
