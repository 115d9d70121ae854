import DarkroomCore
import DarkroomDaemon
import DarkroomFetch
import DarkroomManifest
import DarkroomSelfTest
import DarkroomSpool
import Foundation
import TestSupport
import Testing

/// Cancelling by a file in the inbox.
@Suite(.tags(.concurrency), .fewAtATime) struct CancelTests {
    @Test func endsABatchInWork() async throws {
        let bench = try Bench(pictures: Bench.many)
        let daemon = try await bench.run(["downloads.concurrency": "2"])
        try bench.drop("long", images: bench.slowImages())
        _ = try await bench.spool.waitForStatus(of: "long", daemon, "under way") {
            $0.counts.filtered >= 2
        }
        try bench.spool.drop("long.cancel", "")
        let status = try await bench.spool.finish("long", daemon)

        #expect(status.state == .cancelled)
        // What was done stays, what was not is cancelled.
        #expect(status.counts.filtered >= 2)
        #expect(status.counts.cancelled > 0)
        #expect(status.counts.finished == Bench.many)
        #expect(status.counts.failed == 0)
        try bench.checkOutcome(status)
        // The request was consumed.
        try await daemon.waitUntil("the request to be consumed") { _ in
            bench.spool.list("inbox") == []
        }

        try bench.drop("next", images: [("a", bench.url("0.png"))])
        try bench.checkCompleted(try await bench.spool.finish("next", daemon))
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func endsABatchThatWaitsWhilePaused() async throws {
        let bench = try Bench()
        let daemon = try await bench.run()
        daemon.send(SIGUSR1)
        try await daemon.waitForStatusText("Paused (SIGUSR1)")
        try bench.drop("waiting", images: [("a", bench.url("0.png"))])
        _ = try await bench.spool.waitForStatus(of: "waiting", daemon, "pending") {
            $0.state == .pending
        }
        try bench.spool.drop("waiting.cancel", "")
        let status = try await bench.spool.finish("waiting", daemon)
        #expect(status.state == .cancelled)
        #expect(status.counts.cancelled == 1)
        #expect(try bench.origin.requests().isEmpty)
        try bench.checkOutcome(status)
    }

    @Test func isRememberedOverAKill() async throws {
        let bench = try Bench(pictures: Bench.many)
        let first = try await bench.run(["downloads.concurrency": "1"])
        try bench.drop("long", images: bench.slowImages())
        _ = try await bench.spool.waitForStatus(of: "long", first, "under way") {
            $0.counts.filtered >= 1
        }
        try bench.spool.drop("long.cancel", "")
        try await first.waitUntil("the request to be consumed") { _ in
            bench.spool.list("inbox") == []
        }
        try await first.killAtOnce()
        let second = try await bench.run()
        let status = try await bench.spool.finish("long", second)
        #expect(status.state == .cancelled)
        try bench.checkOutcome(status)
    }

    /// Transfers that would stall for an hour end at once, and so does what waits for them.
    @Test func endsTransfersThatStall() async throws {
        let bench = try Bench()
        let origin = try MisbehavingOrigin()
        defer { origin.stop() }
        let daemon = try await bench.run([
            "downloads.stallTime": "3600s", "downloads.timeout": "1h",
            "downloads.concurrency": "4",
        ])
        try bench.drop(
            "x",
            images: (0..<40).map {
                ("\($0)", origin.url($0 % 2 == 0 ? .stalled : .silent) + "?\($0)")
            })
        // Of four places a manifest gets three.
        _ = try await bench.spool.waitForStatus(of: "x", daemon, "under way") {
            $0.counts.downloading == 3
        }
        try bench.spool.drop("x.cancel", "")
        let status = try await bench.spool.finish("x", daemon)
        #expect(status.state == .cancelled)
        #expect(status.counts.cancelled == 40)
        try bench.checkOutcome(status)
    }

    @Test func findsAManifestThatIsNotClaimed() async throws {
        let bench = try Bench()
        try bench.spool.makeFolders()
        // The control file comes first in every order: by time and by name.
        try bench.spool.drop("x.cancel", "")
        try bench.drop("x", images: [("a", bench.url("0.png"))])
        let daemon = try await bench.run()
        let status = try await bench.spool.finish("x", daemon)
        #expect(status.state == .cancelled)
        #expect(try bench.origin.requests().isEmpty)
        try bench.checkOutcome(status)
        try await daemon.waitUntil("the request to be consumed") { _ in
            bench.spool.list("inbox") == []
        }
    }

    @Test func ofNoBatchIsConsumedAndSaid() async throws {
        let bench = try Bench()
        let daemon = try await bench.run()
        try bench.spool.drop("nobody.cancel", "")
        try await daemon.waitUntil("an answer") { $0.outputText.contains("nobody.cancel") }
        try await daemon.waitUntil("the request to be consumed") { _ in
            bench.spool.list("inbox") == []
        }
        #expect(bench.spool.list("outbox") == [])
    }

    @Test func leavesAFinishedBatchAsItIs() async throws {
        let bench = try Bench()
        let daemon = try await bench.run()
        try bench.drop("done", images: [("a", bench.url("0.png"))])
        let before = try await bench.spool.finish("done", daemon)
        try bench.spool.drop("done.cancel", "")
        try await daemon.waitUntil("the request to be consumed") { _ in
            bench.spool.list("inbox") == []
        }
        #expect(try bench.spool.status(of: "done") == before)
    }
}
