import Foundation
import TestSupport
import Testing

/// Cancelling by a file in the inbox.
@Suite(.tags(.concurrency), .fewAtATime) struct CancelTests {
    @Test func endsABatchInWork() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let daemon = try await fixture.run(["downloads.concurrency": "2"])
        try fixture.drop("long", images: fixture.slowImages())
        _ = try await fixture.spool.waitForStatus(of: "long", daemon, "under way") {
            $0.counts.filtered >= 2
        }
        try fixture.spool.drop("long.cancel", "")
        let status = try await fixture.spool.finish("long", daemon)

        #expect(status.state == .cancelled)
        // What was done stays, what was not is cancelled.
        #expect(status.counts.filtered >= 2)
        #expect(status.counts.cancelled > 0)
        #expect(status.counts.finished == DaemonFixture.many)
        #expect(status.counts.failed == 0)
        try fixture.checkOutcome(status)
        // The request was consumed.
        try await daemon.waitUntil("the request to be consumed") { _ in
            fixture.spool.list("inbox") == []
        }

        try fixture.drop("next", images: [("a", fixture.url("0.png"))])
        try fixture.checkCompleted(try await fixture.spool.finish("next", daemon))
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func endsABatchThatWaitsWhilePaused() async throws {
        let fixture = try DaemonFixture()
        let daemon = try await fixture.run()
        daemon.send(SIGUSR1)
        try await daemon.waitForStatusText("Paused")
        try fixture.drop("waiting", images: [("a", fixture.url("0.png"))])
        _ = try await fixture.spool.waitForStatus(of: "waiting", daemon, "pending") {
            $0.state == .pending
        }
        try fixture.spool.drop("waiting.cancel", "")
        let status = try await fixture.spool.finish("waiting", daemon)
        #expect(status.state == .cancelled)
        #expect(status.counts.cancelled == 1)
        #expect(try fixture.origin.requests().isEmpty)
        try fixture.checkOutcome(status)
    }

    @Test func isRememberedOverAKill() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let first = try await fixture.run(["downloads.concurrency": "1"])
        try fixture.drop("long", images: fixture.slowImages())
        _ = try await fixture.spool.waitForStatus(of: "long", first, "under way") {
            $0.counts.filtered >= 1
        }
        try fixture.spool.drop("long.cancel", "")
        try await first.waitUntil("the request to be consumed") { _ in
            fixture.spool.list("inbox") == []
        }
        try await first.killAtOnce()
        let second = try await fixture.run()
        let status = try await fixture.spool.finish("long", second)
        #expect(status.state == .cancelled)
        try fixture.checkOutcome(status)
    }

    /// Transfers that would stall for an hour end at once, and so does what waits for them.
    @Test func endsTransfersThatStall() async throws {
        let fixture = try DaemonFixture()
        let origin = try MisbehavingOrigin()
        defer { origin.stop() }
        let daemon = try await fixture.run([
            "downloads.stallTime": "3600s", "downloads.timeout": "1h",
            "downloads.concurrency": "4",
        ])
        try fixture.drop(
            "x",
            images: (0..<40).map {
                ("\($0)", origin.url($0 % 2 == 0 ? .stalled : .silent) + "?\($0)")
            })
        // Of four places a manifest gets three.
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, "under way") {
            $0.counts.downloading == 3
        }
        try fixture.spool.drop("x.cancel", "")
        let status = try await fixture.spool.finish("x", daemon)
        #expect(status.state == .cancelled)
        #expect(status.counts.cancelled == 40)
        try fixture.checkOutcome(status)
    }

    @Test func findsAManifestThatIsNotClaimed() async throws {
        let fixture = try DaemonFixture()
        try fixture.spool.makeFolders()
        // The control file comes first in every order: by time and by name.
        try fixture.spool.drop("x.cancel", "")
        try fixture.drop("x", images: [("a", fixture.url("0.png"))])
        let daemon = try await fixture.run()
        let status = try await fixture.spool.finish("x", daemon)
        #expect(status.state == .cancelled)
        #expect(try fixture.origin.requests().isEmpty)
        try fixture.checkOutcome(status)
        try await daemon.waitUntil("the request to be consumed") { _ in
            fixture.spool.list("inbox") == []
        }
    }

    @Test func ofNoBatchIsConsumedAndSaid() async throws {
        let fixture = try DaemonFixture()
        let daemon = try await fixture.run()
        try fixture.spool.drop("nobody.cancel", "")
        try await daemon.waitUntil("an answer") { $0.outputText.contains("nobody.cancel") }
        try await daemon.waitUntil("the request to be consumed") { _ in
            fixture.spool.list("inbox") == []
        }
        #expect(fixture.spool.list("outbox") == [])
    }

    @Test func leavesAFinishedBatchAsItIs() async throws {
        let fixture = try DaemonFixture()
        let daemon = try await fixture.run()
        try fixture.drop("done", images: [("a", fixture.url("0.png"))])
        let before = try await fixture.spool.finish("done", daemon)
        try fixture.spool.drop("done.cancel", "")
        try await daemon.waitUntil("the request to be consumed") { _ in
            fixture.spool.list("inbox") == []
        }
        #expect(try fixture.spool.status(of: "done") == before)
    }
}
