import DarkroomAnswer
import Foundation
import Testing

/// SIGUSR1 and SIGUSR2.
@Suite(.tags(.concurrency), .fewAtATime) struct PauseTests {
    @Test func nothingStartsWhilePaused() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let file = try ConfigurationText("downloads: {concurrency: 2}\n")
        let daemon = try await fixture.run(arguments: ["--config", file.path])
        try fixture.drop("work", images: fixture.slowImages())
        _ = try await fixture.spool.waitForStatus(of: "work", daemon, filtered: 3)

        try await daemon.pause()
        // Running operations finish; then the text counts none any more.
        try await daemon.waitUntil("all running operations to end") {
            !$0.statusText.contains("finishing")
        }
        // The status and the origin's log may come later than that.
        let paused = try await fixture.spool.waitForStatus(of: "work", daemon, "at rest") {
            $0.counts.downloading == 0 && $0.counts.filtering == 0
                && (try? fixture.origin.requests().count)
                    == $0.counts.filtered + $0.counts.downloaded
        }
        #expect(paused.state == .processing)
        #expect(paused.counts.finished < DaemonFixture.many)
        let requests = try fixture.origin.requests().count

        // A manifest is taken in meanwhile, and waits.
        try fixture.drop("meanwhile", images: [("a", fixture.url("0.png"))])
        let waiting = try await fixture.spool.waitForStatus(of: "meanwhile", daemon, "pending") {
            _ in
            true
        }
        #expect(waiting.state == .pending)
        #expect(waiting.times.started == nil)
        try await daemon.waitForStatusText("Paused: 2 batches waiting")
        #expect(fixture.spool.list("inbox") == [])

        // The daemon has examined a manifest, answered it and reported it since. No image has started.
        let still = try #require(try fixture.spool.status(of: "work"))
        #expect(still.counts == paused.counts)
        #expect(try fixture.spool.status(of: "meanwhile")?.state == .pending)
        #expect(try fixture.origin.requests().count == requests)
        #expect(fixture.spool.exists("paused"))

        // The rest goes faster.
        try file.write("downloads: {concurrency: 32}\n")
        try await daemon.reload()
        try await daemon.waitForStatusText("Paused: 2 batches waiting")
        daemon.send(SIGUSR2)
        try await fixture.complete("meanwhile", daemon)
        try await fixture.complete("work", daemon)
        try await daemon.waitForStatusText("Idle")
        #expect(!fixture.spool.exists("paused"))
        #expect(try await fixture.logged(DaemonFixture.many + 1).count == DaemonFixture.many + 1)
        #expect(try await daemon.stop() == .exited(0))
    }

    enum End: CaseIterable, Sendable { case stop, kill }

    /// What waits in work says for what, and since when that is known.
    @Test(arguments: End.allCases) func isToldInTheStatuses(end: End) async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let file = try ConfigurationText("downloads: {concurrency: 2}\n")
        let daemon = try await fixture.run(arguments: ["--config", file.path])
        for id in ["work", "held"] { try fixture.drop(id, images: fixture.slowImages()) }
        for id in ["work", "held"] {
            let status = try await fixture.spool.waitForStatus(of: id, daemon, filtered: 2)
            #expect(status.waiting == nil && status.state == .processing)
        }
        try fixture.spool.drop("held.hold", "")
        _ = try await fixture.spool.waitForStatus(of: "held", daemon, .held)

        daemon.send(SIGUSR1)
        let paused = try await fixture.spool.waitForStatus(of: "work", daemon, "paused") {
            $0.waiting?.code == "paused"
        }
        #expect(paused.state == .processing)
        let (since, written) = (try #require(paused.waiting?.since), try #require(paused.written))
        #expect(since <= written)
        _ = try await fixture.waitForReport(daemon, "the pause") { $0.paused && $0.claiming }

        daemon.send(SIGUSR2)
        let resumed = try await fixture.spool.waitForStatus(of: "work", daemon, "resumed") {
            $0.waiting == nil
        }
        #expect(try #require(resumed.written) >= written)
        _ = try await fixture.waitForReport(daemon, "the resumption") { !$0.paused }

        // The next daemon begins nothing, so that what it finds can be seen.
        try fixture.spool.write([], to: "paused")
        if end == .stop {
            #expect(try await daemon.stop() == .exited(0))
            let stopped = try #require(try fixture.spool.status(of: "work"))
            #expect(stopped.waiting?.code == "stopped" && stopped.state == .processing)
            #expect(try #require(stopped.waiting?.since) <= stopped.written ?? "")
            let report = try #require(try fixture.report())
            #expect(report.why?.code == "stopped" && !report.claiming)
            #expect(report.written >= resumed.written ?? "")
        } else {
            try await daemon.killAtOnce()
            #expect(try fixture.spool.status(of: "work")?.state == .processing)
        }
        let journaled = fixture.spool.list("outbox/work").count { $0.hasSuffix(".png") }
        #expect(try fixture.spool.status(of: "held")?.waiting == nil)

        let second = try await fixture.run()
        let waiting = try await fixture.spool.waitForStatus(of: "work", second, "paused again") {
            $0.state == .pending && $0.waiting?.code == "paused"
        }
        #expect(waiting.times.started == resumed.times.started)
        // What the journal has is done, and nothing else is under way.
        #expect(waiting.counts == Status.Counts(of: waiting.images))
        #expect(waiting.counts.filtered >= journaled && journaled >= 2)
        #expect(waiting.counts.filtered + waiting.counts.new == waiting.counts.total)
        #expect(try fixture.spool.status(of: "held")?.state == .held)
        _ = try await fixture.waitForReport(second, "the pause") { $0.paused && $0.claiming }
        second.send(SIGUSR2)
        try await fixture.complete("work", second)
    }

    /// What is held before its status has been written anew shows what the journal has.
    @Test func whatIsHeldAfterARestartShowsWhatIsDone() async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let file = try ConfigurationText(
            "downloads: {concurrency: 2}\nstatus: {interval: 100ms}\n")
        let first = try await fixture.run(arguments: ["--config", file.path])
        try fixture.drop("work", images: fixture.slowImages())
        _ = try await fixture.spool.waitForStatus(of: "work", first, filtered: 1)
        // From now on it is written once more at most.
        try file.write("downloads: {concurrency: 2}\nstatus: {interval: 1h}\n")
        try await first.reload()
        try await first.waitUntil("more images than the status shows") { _ in
            let shown = try fixture.spool.status(of: "work")?.counts.filtered ?? 0
            return fixture.spool.list("outbox/work").count { $0.hasSuffix(".png") } >= shown + 6
        }
        try fixture.spool.write([], to: "paused")
        try await first.killAtOnce()
        let shown = try #require(try fixture.spool.status(of: "work")).counts.filtered
        let second = try await fixture.run(arguments: ["--config", file.path])
        try await second.waitForStatusText("Paused: 1 batch")
        try fixture.spool.drop("work.hold", "")
        let held = try await fixture.spool.waitForStatus(of: "work", second, .held)
        #expect(held.counts.filtered > shown)
        #expect(held.counts == Status.Counts(of: held.images))
        #expect(held.counts.filtered + held.counts.new == held.counts.total)
    }

    @Test func theSignalsSetAStateAndDoNotToggleIt() async throws {
        let (fixture, daemon) = try await DaemonFixture.running()
        daemon.send(SIGUSR2)
        // Of different signals that wait to be taken, none is the first; a reload comes behind those before it.
        try await daemon.reload()
        for _ in 0..<20 { daemon.send(SIGUSR1) }
        try await daemon.waitForStatusText("Paused")
        try await daemon.reload()
        for _ in 0..<20 { daemon.send(SIGUSR2) }
        try await daemon.waitForStatusText("Idle")
        try await fixture.complete("after", images: [("a", fixture.url("0.png"))], daemon)
    }

    /// A stop may take as long as a picture does; nothing says meanwhile that the daemon has stopped.
    @Test func tellsAStopFromItsEnd() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        // Minutes, in pieces of 4 KiB.
        try fixture.documents.write(Data(count: 8 << 20), to: "long.png")
        let daemon = try await fixture.run(["stop.timeout": "3600s"])
        try fixture.drop(
            "work",
            images: [("long", fixture.slowURL("long.png")), ("0", fixture.slowURL("0.png"))])
        _ = try await fixture.spool.waitForStatus(of: "work", daemon, "under way") {
            $0.counts.filtered == 1 && $0.counts.downloading == 1
        }
        daemon.send(SIGTERM)
        let stopping = try await fixture.waitForReport(daemon, "the stop") { !$0.claiming }
        #expect(stopping.why?.code == "stopping")
        #expect(try fixture.spool.status(of: "work")?.waiting == nil)
        // The second one breaks the picture off.
        #expect(try await daemon.stop() == .exited(0))
        let stopped = try #require(try fixture.report())
        #expect(stopped.why?.code == "stopped" && stopped.written >= stopping.written)
        #expect(try fixture.spool.status(of: "work")?.waiting?.code == "stopped")
    }
}
