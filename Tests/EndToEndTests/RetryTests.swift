import Foundation
import Synchronization
import TestSupport
import Testing

/// Downloads that do not go well at once. What the scheduler makes of them is in `SchedulerRetryTests` and
/// `SchedulerHostTests`.
@Suite(.fewAtATime) struct RetryTests {
    private static let quick = ["downloads.retryDelay": "20ms"]
    /// They follow each other in an hour at most, which is as good as never.
    private static let late = ["downloads.retryDelay": "1h", "downloads.retryDelayMax": "1h"]

    /// Until a test says that the origin is mended, it fails.
    private final class Mending: Sendable {
        private let flag = Atomic(false)

        var isDone: Bool { flag.load(ordering: .relaxed) }

        func finish() { flag.store(true, ordering: .relaxed) }
    }

    // MARK: Again

    enum Trouble: CaseIterable, Sendable { case status, reset, cut }

    @Test(arguments: Trouble.allCases) func makesUpForTrouble(trouble: Trouble) async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let origin = try FlakyOrigin(picture: DaemonFixture.picture) { _, number in
            guard number <= 2 else { return nil }
            switch trouble {
            case .status: return .status(500 + 2 * number - 2)
            case .reset: return .reset
            case .cut: return .cut(50)
            }
        }
        let daemon = try await fixture.run(Self.quick)
        let status = try await fixture.complete(
            "x", images: [("a", origin.url("a.png")), ("b", origin.url("a.png"))], daemon)
        #expect(origin.requests.count == 3)
        for image in status.images {
            #expect(image.attempts == 1)
            let download = try #require(image.download)
            #expect(download.attempts == 3 && download.bytes == DaemonFixture.picture.count)
            #expect(download.retryAt == nil)
            let times = try #require(image.times)
            let (began, ended) = try (#require(times.downloading), #require(times.downloaded))
            #expect(try began <= ended && ended <= #require(times.filtering))
            let error = try #require(download.lastError)
            #expect(error.isTransient)
            switch trouble {
            case .status: #expect(error.code == "http-status" && error.message.contains("502"))
            case .reset: #expect(["connection-reset", "connection-lost"].contains(error.code))
            case .cut: #expect(error.code == "truncated")
            }
        }
        try await daemon.says("x: attempt 1 of 5 failed: ")
        try await daemon.says("x: attempt 2 of 5 failed: ")
    }

    @Test func findsAServerThatComesLate() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let port = try unusedPort()
        var settings = Self.quick
        settings["downloads.retries"] = "100"
        settings["downloads.retryDelayMax"] = "1s"
        let daemon = try await fixture.run(settings)
        try fixture.drop("x", images: [("a", "http://127.0.0.1:\(port)/a.png")])
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, "tried again") {
            $0.images[0].download?.attempts ?? 0 >= 2
        }
        let origin = try FlakyOrigin(picture: DaemonFixture.picture, port: port) { _, _ in nil }
        defer { origin.stop() }
        let status = try await fixture.complete("x", daemon)
        #expect(status.images[0].download?.lastError?.code == "connect-failed")
    }

    // MARK: Interruptions

    /// What waits for its next attempt keeps no daemon from stopping, and begins anew with the next.
    @Test(arguments: [true, false]) func doesNotWaitForAnAttempt(isKilled: Bool) async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let mending = Mending()
        let origin = try FlakyOrigin(picture: DaemonFixture.picture) { _, _ in
            mending.isDone ? nil : .status(503)
        }
        var settings = Self.late
        settings["stop.timeout"] = "3600s"
        var daemon = try await fixture.run(settings)
        try fixture.drop("x", images: [("late", origin.url("a.png")), ("b", fixture.url("0.png"))])
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, "waiting for an attempt") {
            $0.images[0].download?.retryAt != nil && $0.counts.filtered == 1
        }
        if isKilled {
            try await daemon.killAtOnce()
        } else {
            #expect(try await daemon.stop() == .exited(0))
        }
        mending.finish()
        daemon = try await fixture.run(settings)
        let status = try await fixture.complete("x", daemon)
        // It has begun anew.
        #expect(status.images[0].download == .init(attempts: 1, bytes: DaemonFixture.picture.count))
    }
}
