import Foundation
import TestSupport
import Testing

/// Cancelling by a file in the inbox.
@Suite(.tags(.concurrency), .fewAtATime) struct CancelTests {
    @Test func isRememberedOverAKill() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let first = try await fixture.run(["downloads.concurrency": "1"])
        try fixture.drop("long", images: fixture.slowImages())
        _ = try await fixture.spool.waitForStatus(of: "long", first, filtered: 1)
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

    @Test func endsTransfersThatStall() async throws {
        let fixture = try DaemonFixture()
        let origin = try MisbehavingOrigin()
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
}
