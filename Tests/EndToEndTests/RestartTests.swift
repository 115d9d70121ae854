import DarkroomAnswer
import DarkroomCore
import Foundation
import Testing

/// A daemon that ends in the middle of a batch, and the next one that finishes it.
@Suite(.tags(.concurrency), .fewAtATime) struct RestartTests {
    enum End: CaseIterable, Sendable { case stopped, interrupted, killed }

    @Test(arguments: End.allCases) func theRestIsDoneAndNothingTwice(end: End) async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let first = try await fixture.run([
            "downloads.concurrency": "2", "status.interval": "0.05s",
        ])
        try fixture.drop("trip", images: fixture.slowImages())
        _ = try await fixture.spool.waitForStatus(of: "trip", first, filtered: 4)
        switch end {
        case .stopped: #expect(try await first.stop() == .exited(0))
        case .interrupted:
            first.send(SIGINT)
            #expect(try await first.waitForEnding() == .exited(0))
        case .killed: try await first.killAtOnce()
        }

        // What is in the outbox is whole, and stays as it is.
        let done = fixture.spool.list("outbox/trip").filter { $0.hasSuffix(".png") }
        #expect(done.count >= 4 && done.count < DaemonFixture.many)
        let identities = try done.map { try fixture.spool.identity("outbox/trip/\($0)") }
        let interrupted = try #require(try fixture.spool.status(of: "trip"))
        #expect(interrupted.state == .processing)
        #expect(interrupted.times.finished == nil)
        if end != .killed {
            // A clean stop leaves a status that knows all that was done.
            #expect(interrupted.counts.filtered == done.count)
            #expect(interrupted.counts.filtering == 0 && interrupted.counts.downloading == 0)
        }

        let second = try await fixture.run()
        let status = try await fixture.spool.finish("trip", second)
        try fixture.checkCompleted(status)
        for (file, identity) in zip(done, identities) {
            #expect(try fixture.spool.identity("outbox/trip/\(file)") == identity)
            // A kill can come between an output's rename and its line in the item journal; then the
            // attempt is counted again, but the file is never written over.
            let image = try status.image(String(file.dropLast(4)))
            if end != .killed { #expect(image.attempts == 1) }
            #expect(try fixture.requests(for: "/slow/\(file)") == 1)
        }
        #expect(status.times.received == interrupted.times.received)
        // The same picture and filter each time, so the same bytes, interrupted or not.
        #expect(Set(status.images.compactMap(\.output?.sha256)).count == 1)
        #expect(try await second.stop() == .exited(0))
    }

    /// The time without a daemon is part of the whole duration, and not of the time in work. All views say the same.
    @Test(arguments: End.allCases) func theTimeWithoutADaemonIsNoWork(end: End) async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let first = try await fixture.run(["downloads.concurrency": "2"])
        try fixture.drop(
            "trip",
            [
                "page": true,
                "images": fixture.slowImages().map { ["name": $0.name, "source": $0.source] },
            ])
        _ = try await fixture.spool.waitForStatus(of: "trip", first, filtered: 4)
        switch end {
        case .stopped: _ = try await first.stop()
        case .interrupted:
            first.send(SIGINT)
            _ = try await first.waitForEnding()
        case .killed: try await first.killAtOnce()
        }
        let left = Date()
        let second = try await fixture.run()
        let report = try JSONDecoder().decode(
            QueueReport.self, from: Data(try fixture.spool.bytes("queue.json")))
        let begin = try #require(Clock.date(report.daemon.started))
        let gap = UInt64(max(0, begin.timeIntervalSince(left) - 0.002) * 1e6)
        let status = try await fixture.spool.finish("trip", second)
        let duration = try #require(BatchDuration(status.times, status.commands))
        let work = try #require(duration.work)
        #expect(work > 0 && work + gap <= duration.microseconds)
        let show = try await fixture.client("show", "trip").output
        #expect(show.contains(", after \(duration.words)\n"), "\(show)")
        let wait = try await fixture.client("watch", "trip", "--progress", "plain")
        #expect((wait.output + wait.errors).contains(" in \(duration.words)"), "\(wait)")
        let html = String(
            decoding: try fixture.spool.bytes("outbox/trip/page/index.html"), as: UTF8.self)
        #expect(html.contains(duration.words))
        let list = try await fixture.client("list", "--all", "--json").output
        #expect(
            list.contains("\"workMilliseconds\":\(status.times.workMilliseconds ?? -1)"), "\(list)")
        #expect(try await second.stop() == .exited(0))
    }

    /// Who reads the journal of a start sees the daemon come before its work.
    @Test(arguments: [true, false]) func aStartIsToldInOrder(isKilled: Bool) async throws {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let first = try await fixture.run(["downloads.concurrency": "2"])
        try fixture.drop("trip", images: fixture.slowImages())
        _ = try await fixture.spool.waitForStatus(of: "trip", first, filtered: 4)
        if isKilled { try await first.killAtOnce() } else { _ = try await first.stop() }
        let second = try await fixture.run()
        var places: [String.Index] = []
        for words in ["Watching ", " watches ", "trip resumed: ", "trip continues: "] {
            try await second.says(words)
            places += second.outputText.firstRange(of: words).map { [$0.lowerBound] } ?? []
        }
        #expect(places.sorted() == places && places.count == 4)
    }

    @Test func manyKillsLoseNothing() async throws {
        let fixture = try DaemonFixture(pictures: 40)
        try fixture.spool.makeFolders()
        for batch in 0..<4 {
            try fixture.drop(
                "batch-\(batch)",
                images: (0..<40).map { ("\($0)", fixture.url("\($0).png")) })
        }
        // Each daemon lives a little longer than the one before.
        for life in 0..<12 {
            let daemon = try fixture.launch()
            try await Task.sleep(for: .milliseconds(20 + life * 25))
            try await daemon.killAtOnce()
        }
        let last = try await fixture.run()
        for batch in 0..<4 {
            let status = try await fixture.spool.finish("batch-\(batch)", last)
            try fixture.checkCompleted(status)
            #expect(Set(status.images.compactMap(\.output?.sha256)).count == 1)
        }
        #expect(fixture.spool.list("outbox").count == 4)
        #expect(fixture.spool.list("active") == [])
        #expect(try await last.stop() == .exited(0))
    }

    @Test func aFinishedBatchIsLeftAlone() async throws {
        let fixture = try DaemonFixture()
        let first = try await fixture.run()
        try await fixture.complete("done", images: [("a", fixture.url("0.png"))], first)
        #expect(try await first.stop() == .exited(0))
        let files = fixture.spool.list("outbox/done")
        let identities = try files.map { try fixture.spool.identity("outbox/done/\($0)") }

        let second = try await fixture.run()
        try await fixture.complete("other", images: [("a", fixture.url("0.png"))], second)
        #expect(fixture.spool.list("outbox/done") == files)
        #expect(try files.map { try fixture.spool.identity("outbox/done/\($0)") } == identities)
    }

    @Test func stopIsAnnounced() async throws {
        let fixture = try DaemonFixture()
        let daemon = try await fixture.run()
        #expect(try await daemon.stop() == .exited(0))
        #expect(daemon.notifications.last("STOPPING") == "1")
        try await daemon.says("Stopped")
    }
}
