import Foundation
import Testing

/// What the service manager sees: readiness, reload, watchdog, status text.
@Suite(.fewAtATime) struct ServiceTests {
    @Test func isReadyWhenTheInboxIsWatched() async throws {
        let (fixture, daemon) = try await DaemonFixture.running()
        // Dropped right after READY=1: neither the scan nor the watch may miss it.
        try await fixture.complete("first", images: [("a", fixture.url("0.png"))], daemon)
        #expect(daemon.notifications.lines.count { $0 == "READY=1" } == 1)
        try await daemon.waitForStatusText("Idle")
    }

    @Test func saysWhatItIsDoing() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: DaemonFixture.many, ["downloads.concurrency": "2"])
        for batch in ["one", "two"] {
            try fixture.drop(batch, images: fixture.slowImages())
        }
        try await daemon.waitForStatusText("Processing 2 batches, ")
        try await daemon.waitUntil("the number of all images") {
            $0.statusText.contains(" of \(2 * DaemonFixture.many) images")
        }
    }

    @Test(.tags(.concurrency)) func reloadsAGoodConfiguration() async throws {
        let file = try ConfigurationText("manifests: {maxImages: 1}\n")
        let (fixture, daemon) = try await DaemonFixture.running(arguments: ["--config", file.path])
        try fixture.drop("two", images: [("a", fixture.url("0.png")), ("b", fixture.url("1.png"))])
        #expect(try await fixture.spool.finish("two", daemon).state == .rejected)

        try file.write("manifests: {maxImages: 2}\n")
        try await daemon.reload()
        try await fixture.complete(
            "again", images: [("a", fixture.url("0.png")), ("b", fixture.url("1.png"))], daemon)
    }

    @Test func keepsTheOldConfigurationForABadOne() async throws {
        let file = try ConfigurationText("manifests: {maxImages: 1}\n")
        let (fixture, daemon) = try await DaemonFixture.running(arguments: ["--config", file.path])
        // One good key beside one bad: nothing of it counts.
        try file.write("manifests: {maxImages: 2}\nlog: {level: loud}\n")
        try await daemon.reload()
        try await daemon.says("loud")
        try fixture.drop("two", images: [("a", fixture.url("0.png")), ("b", fixture.url("1.png"))])
        #expect(try await fixture.spool.finish("two", daemon).state == .rejected)
        try await fixture.complete("one", images: [("a", fixture.url("0.png"))], daemon)
    }

    @Test(.tags(.concurrency)) func reloadsInTheMiddleOfABatch() async throws {
        let file = try ConfigurationText("downloads: {concurrency: 1}\n")
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 60, arguments: ["--config", file.path])
        try fixture.drop("work", images: (0..<60).map { ("\($0)", fixture.slowURL("\($0).png")) })
        _ = try await fixture.spool.waitForStatus(of: "work", daemon, filtered: 1)
        try file.write("downloads: {concurrency: 32}\nfilters: {concurrency: 1}\n")
        try await daemon.reload()
        try await fixture.complete("work", daemon)
    }

    @Test func feedsTheWatchdog() async throws {
        let fixture = try DaemonFixture()
        // Two seconds, in microseconds, as systemd passes it on.
        let daemon = try await fixture.run(environment: ["WATCHDOG_USEC": "2000000"])
        try await daemon.waitUntil("three pings") {
            $0.notifications.lines.count { $0 == "WATCHDOG=1" } >= 3
        }
        // Also while paused, for then the queues have nothing to do.
        try await daemon.pause()
        let count = daemon.notifications.lines.count { $0 == "WATCHDOG=1" }
        try await daemon.waitUntil("two more pings") {
            $0.notifications.lines.count { $0 == "WATCHDOG=1" } >= count + 2
        }
    }

    @Test func hasNoWatchdogWhereNoneIsAskedFor() async throws {
        let (fixture, daemon) = try await DaemonFixture.running()
        try await fixture.complete("one", images: [("a", fixture.url("0.png"))], daemon)
        #expect(try await daemon.stop() == .exited(0))
        #expect(!daemon.notifications.lines.contains("WATCHDOG=1"))
    }

}
