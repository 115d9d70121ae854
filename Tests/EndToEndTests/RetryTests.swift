import Foundation
import Synchronization
import TestSupport
import Testing

/// Downloads that do not go well at once, and hosts that are slow or ask to be left alone.
@Suite(.fewAtATime) struct RetryTests {
    /// Attempts follow each other quickly.
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
        defer { origin.stop() }
        let daemon = try await fixture.run(Self.quick)
        try fixture.drop("x", images: [("a", origin.url("a.png")), ("b", origin.url("a.png"))])
        let status = try await fixture.spool.finish("x", daemon)
        try fixture.checkCompleted(status)
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
        let status = try await fixture.spool.finish("x", daemon)
        try fixture.checkCompleted(status)
        #expect(status.images[0].download?.lastError?.code == "connect-failed")
    }

    @Test(arguments: [400, 401, 403, 404, 410, 451, 501])
    func doesNotRepeatWhatIsRefused(code: Int) async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let origin = try FlakyOrigin(picture: DaemonFixture.picture) { _, _ in .status(code) }
        defer { origin.stop() }
        let daemon = try await fixture.run(Self.quick)
        try fixture.drop("x", images: [("a", origin.url("a.png"))])
        let status = try await fixture.spool.finish("x", daemon)
        #expect(status.images[0].error?.code == "http-status")
        #expect(status.images[0].download?.attempts == 1)
        #expect(origin.requests.count == 1)
    }

    @Test func givesUpAfterItsAttempts() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let origin = try FlakyOrigin(picture: DaemonFixture.picture) { _, _ in .status(503) }
        defer { origin.stop() }
        let metrics = fixture.spool.root.deletingLastPathComponent().appending(path: "m.prom")
        var settings = Self.quick
        settings["metrics.textfile"] = metrics.path
        let daemon = try await fixture.run(settings)
        try fixture.drop(
            "x",
            images: (0..<100).map { ("\($0)", origin.url("\($0).png")) }
                + [("good", fixture.url("0.png"))])
        let status = try await fixture.spool.finish("x", daemon)
        #expect(status.counts.failed == 100 && status.counts.filtered == 1)
        for image in status.images where image.name != "good" {
            let error = try #require(image.error)
            #expect(error.code == "http-status" && error.isTransient)
            #expect(error.message.hasSuffix("503 Service Unavailable; tried 5 times"))
            #expect(image.download?.attempts == 5)
        }
        #expect(origin.requests.count == 500)
        try fixture.checkOutcome(status)
        #expect(try await daemon.stop() == .exited(0))
        let exposition = try Exposition(String(contentsOf: metrics, encoding: .utf8))
        #expect(try exposition.value("darkroom_download_retries_total") == 400)
        #expect(
            try exposition.value("darkroom_download_failures_total", ["code": "http-status"]) == 500
        )
    }

    /// The connection breaks in the middle, and what has arrived is not fetched again.
    @Test func goesOnWhereItBroke() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let picture = Starfield.png(width: 900, height: 900, seed: 3)
        try #require(picture.count > 600_000)
        let origin = try FlakyOrigin(picture: picture) { _, number in
            number == 1 ? .cut(400_000) : nil
        }
        defer { origin.stop() }
        let daemon = try await fixture.run(Self.quick)
        try fixture.drop("x", images: [("a", origin.url("a.png"))])
        let status = try await fixture.spool.finish("x", daemon)
        try fixture.checkCompleted(status)
        #expect(origin.requests.map(\.range) == [nil, "bytes=400000-"])
        #expect(status.images[0].download?.bytes == picture.count)
    }

    // MARK: What the server asks

    enum Form: CaseIterable, Sendable { case seconds, date }

    /// Of the images of a host that asks to wait, none is asked for meanwhile.
    @Test(arguments: Form.allCases) func waitsAsTheServerAsks(form: Form) async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let asked = Mutex(Date.distantFuture)
        let origin = try FlakyOrigin(picture: DaemonFixture.picture) { path, number in
            guard path == "/late.png", number == 1 else { return nil }
            // A date has whole seconds.
            let end = Date(
                timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 21).rounded(.down))
            asked.withLock { $0 = end }
            return .status(503, ["Retry-After: \(form == .seconds ? "20" : Self.httpDate(end))"])
        }
        defer { origin.stop() }
        var settings = Self.quick
        settings["downloads.perHost"] = "1"
        let daemon = try await fixture.run(settings)
        let others = (0..<5).map { (name: "\($0)", source: origin.url("\($0).png")) }
        try fixture.drop(
            "x",
            images: [("late", origin.url("late.png"))] + others + [("free", fixture.url("0.png"))])
        let waiting = try await fixture.spool.waitForStatus(of: "x", daemon, "waiting") {
            $0.images[0].download?.retryAt != nil && $0.counts.filtered == 1
        }
        // Another host is not concerned.
        #expect(try waiting.image("free").state == .filtered)
        #expect(try waiting.image("late").state == .downloading)
        let status = try await fixture.spool.finish("x", daemon)
        try fixture.checkCompleted(status)
        let requests = origin.requests
        #expect(requests.count == 7 && requests[0].path == "/late.png")
        let earliest = form == .seconds ? requests[0].time + 20 : asked.withLock { $0 }
        for request in requests.dropFirst() { #expect(request.time >= earliest) }
        #expect(try status.image("late").download?.attempts == 2)
        #expect(try status.image("0").download?.attempts == 1)
        try await daemon.says("/late.png: the server asks for a pause of")
    }

    /// Whoever waits for a host that another manifest has met says so.
    @Test func tellsEachManifestOfAPause() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let origin = try FlakyOrigin(picture: DaemonFixture.picture) { path, number in
            path == "/late.png" && number == 1 ? .status(429, ["Retry-After: 12"]) : nil
        }
        defer { origin.stop() }
        let daemon = try await fixture.run(Self.quick)
        try fixture.drop("x", images: [("late", origin.url("late.png"))])
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, "waiting") {
            $0.images[0].download?.retryAt != nil
        }
        try fixture.drop("y", images: [("other", origin.url("other.png"))])
        let y = try await fixture.spool.waitForStatus(of: "y", daemon, "the pause") {
            $0.waiting != nil
        }
        #expect(y.waiting?.code == "host-paused")
        #expect(
            y.waiting?.message.contains(": the server has asked for a pause")
                == true)
        for id in ["x", "y"] {
            let status = try await fixture.spool.finish(id, daemon)
            try fixture.checkCompleted(status)
            #expect(status.waiting == nil)
        }
    }

    /// Not the host that has only shown the way.
    @Test func pausesTheHostThatAsks() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let target = try FlakyOrigin(picture: DaemonFixture.picture) { _, number in
            number == 1 ? .status(503, ["Retry-After: 12"]) : nil
        }
        defer { target.stop() }
        let there = target.url("there.png")
        let origin = try FlakyOrigin(picture: DaemonFixture.picture) { path, _ in
            path == "/moved.png" ? .status(302, ["Location: \(there)"]) : nil
        }
        defer { origin.stop() }
        let daemon = try await fixture.run(Self.quick)
        try fixture.drop("x", images: [("moved", origin.url("moved.png"))])
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, "waiting") {
            $0.images[0].download?.retryAt != nil
        }
        try fixture.drop("y", images: [("direct", origin.url("direct.png"))])
        try fixture.drop("z", images: [("other", target.url("other.png"))])
        try fixture.checkCompleted(try await fixture.spool.finish("y", daemon))
        #expect(try fixture.spool.status(of: "x")?.state == .processing)
        #expect(target.requests.count == 1)
        for id in ["x", "z"] {
            try fixture.checkCompleted(try await fixture.spool.finish(id, daemon))
        }
    }

    private static func httpDate(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }

    @Test func doesNotWaitForTooLong() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let origin = try FlakyOrigin(picture: DaemonFixture.picture) { path, _ in
            path == "/late.png" ? .status(429, ["Retry-After: 3600"]) : nil
        }
        defer { origin.stop() }
        let daemon = try await fixture.run()
        try fixture.drop(
            "x", images: [("late", origin.url("late.png")), ("good", origin.url("good.png"))])
        let status = try await fixture.spool.finish("x", daemon)
        let error = try #require(try status.image("late").error)
        #expect(error.code == "http-status" && error.isTransient)
        #expect(
            error.message.hasSuffix(
                "the server asks for a pause of 3600 s, more than the 10min of downloads.retryAfterMax"
            ))
        #expect(try status.image("good").state == .filtered)
        #expect(origin.requests.count == 2)
    }

    // MARK: Slow hosts

    /// One host that does not answer takes its places and no others, in its own batch too.
    @Test func aSlowHostHoldsNobodyUp() async throws {
        let fixture = try DaemonFixture(pictures: 40)
        let slow = try FlakyOrigin(picture: DaemonFixture.picture) { _, _ in .held }
        defer { slow.stop() }
        let daemon = try await fixture.run(DaemonFixture.patient)
        let images = (0..<100).map { (name: "slow-\($0)", source: slow.url("\($0).png")) }
        try fixture.drop(
            "x", images: images + (0..<40).map { ("fast-\($0)", fixture.url("\($0).png")) })
        let status = try await fixture.spool.waitForStatus(of: "x", daemon, "done but for the slow")
        {
            $0.counts.filtered == 40
        }
        #expect(status.counts.new == 94 && status.counts.downloading == 6)
        try fixture.drop("y", images: (0..<40).map { ("\($0)", fixture.url("\($0).png")) })
        try fixture.checkCompleted(try await fixture.spool.finish("y", daemon))
        #expect(slow.requests.count == 6)
        slow.release()
        try fixture.checkCompleted(try await fixture.spool.finish("x", daemon))
        #expect(slow.requests.count == 100)
    }

    // MARK: Interruptions

    enum Interruption: CaseIterable, Sendable { case cancel, holdAndRelease, kill, stop }

    /// What waits for its next attempt waits for nothing else, and nothing waits for it.
    @Test(arguments: Interruption.allCases) func doesNotWaitForAnAttempt(interruption: Interruption)
        async throws
    {
        let fixture = try DaemonFixture(pictures: 1)
        let mending = Mending()
        let origin = try FlakyOrigin(picture: DaemonFixture.picture) { _, _ in
            mending.isDone ? nil : .status(503)
        }
        defer { origin.stop() }
        var settings = Self.late
        settings["stop.timeout"] = "3600s"
        var daemon = try await fixture.run(settings)
        try fixture.drop("x", images: [("late", origin.url("a.png")), ("b", fixture.url("0.png"))])
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, "waiting for an attempt") {
            $0.images[0].download?.retryAt != nil && $0.counts.filtered == 1
        }
        switch interruption {
        case .cancel:
            try fixture.spool.drop("x.cancel", "")
            let status = try await fixture.spool.finish("x", daemon)
            #expect(status.state == .cancelled && status.counts.cancelled == 1)
            return
        case .holdAndRelease:
            try fixture.spool.drop("x.hold", "")
            let held = try await fixture.spool.waitForStatus(of: "x", daemon, "held") {
                $0.state == .held && $0.counts.new == 1
            }
            #expect(held.images[0].download?.retryAt == nil)
            mending.finish()
            try fixture.spool.drop("x.release", "")
        case .kill, .stop:
            if interruption == .kill {
                try await daemon.killAtOnce()
            } else {
                #expect(try await daemon.stop() == .exited(0))
            }
            mending.finish()
            daemon = try await fixture.run(settings)
        }
        let status = try await fixture.spool.finish("x", daemon)
        try fixture.checkCompleted(status)
        // It has begun anew.
        #expect(status.images[0].download == .init(attempts: 1, bytes: DaemonFixture.picture.count))
    }

    @Test func aPauseMayComeBetweenTwoAttempts() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let origin = try FlakyOrigin(picture: DaemonFixture.picture) { _, number in
            number == 1 ? .status(503, ["Retry-After: 1"]) : nil
        }
        defer { origin.stop() }
        let daemon = try await fixture.run(Self.quick)
        try fixture.drop("x", images: [("a", origin.url("a.png")), ("b", origin.url("b.png"))])
        try await daemon.waitUntil("a request") { _ in !origin.requests.isEmpty }
        daemon.send(SIGUSR1)
        try await daemon.waitForStatusText("Paused")
        // What runs may still be about to ask.
        try await daemon.waitUntil("all running operations to end") {
            !$0.statusText.contains("finishing")
        }
        // `SchedulerPauseTests` shows that the time of the next attempt may pass meanwhile.
        daemon.send(SIGUSR2)
        try fixture.checkCompleted(try await fixture.spool.finish("x", daemon))
    }
}
