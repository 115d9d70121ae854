import DarkroomCore
import DarkroomDaemon
import DarkroomManifest
import DarkroomSelfTest
import DarkroomSpool
import Foundation
import TestSupport
import Testing

/// A daemon that ends in the middle of a batch, and the next one that finishes it.
@Suite(.tags(.concurrency), .fewAtATime) struct RestartTests {
    enum End: CaseIterable, Sendable { case stopped, interrupted, killed }

    @Test(arguments: End.allCases) func theRestIsDoneAndNothingTwice(end: End) async throws {
        let bench = try Bench(pictures: Bench.many)
        let first = try await bench.run(["downloads.concurrency": "2", "status.interval": "0.05s"])
        try bench.drop("trip", images: bench.slowImages())
        _ = try await bench.spool.waitForStatus(of: "trip", first, "under way") {
            $0.counts.filtered >= 4
        }
        switch end {
        case .stopped: #expect(try await first.stop() == .exited(0))
        case .interrupted:
            first.send(SIGINT)
            #expect(try await first.waitForEnding() == .exited(0))
        case .killed: try await first.killAtOnce()
        }

        // What is in the outbox is whole, and stays as it is.
        let done = bench.spool.list("outbox/trip").filter { $0.hasSuffix(".png") }
        #expect(done.count >= 4 && done.count < Bench.many)
        let identities = try done.map { try bench.spool.identity("outbox/trip/\($0)") }
        let interrupted = try #require(try bench.spool.status(of: "trip"))
        #expect(interrupted.state == .processing)
        #expect(interrupted.times.finished == nil)
        if end != .killed {
            // A clean stop leaves a status that knows all that was done.
            #expect(interrupted.counts.filtered == done.count)
            #expect(interrupted.counts.filtering == 0 && interrupted.counts.downloading == 0)
        }

        let second = try await bench.run()
        let status = try await bench.spool.finish("trip", second)
        try bench.checkCompleted(status)
        for (file, identity) in zip(done, identities) {
            #expect(try bench.spool.identity("outbox/trip/\(file)") == identity)
            // A kill can come between an output's rename and its line in the item journal; then the
            // attempt is counted again, but the file is never written over.
            let image = try status.image(String(file.dropLast(4)))
            if end != .killed { #expect(image.attempts == 1) }
            #expect(try bench.requests(for: "/slow/\(file)") == 1)
        }
        #expect(status.times.received == interrupted.times.received)
        // The same picture and filter each time, so the same bytes, interrupted or not.
        #expect(Set(status.images.compactMap(\.output?.sha256)).count == 1)
        #expect(try await second.stop() == .exited(0))
    }

    /// Who reads the journal of a start sees the daemon come before its work.
    @Test(arguments: [true, false]) func aStartIsToldInOrder(isKilled: Bool) async throws {
        let bench = try Bench(pictures: Bench.many)
        let first = try await bench.run(["downloads.concurrency": "2"])
        try bench.drop("trip", images: bench.slowImages())
        _ = try await bench.spool.waitForStatus(of: "trip", first, "under way") {
            $0.counts.filtered >= 4
        }
        if isKilled { try await first.killAtOnce() } else { _ = try await first.stop() }
        let second = try await bench.run()
        var places: [String.Index] = []
        for words in ["Watching ", " watches ", "trip resumed: ", "trip continues: "] {
            try await second.says(words)
            places += second.outputText.firstRange(of: words).map { [$0.lowerBound] } ?? []
        }
        #expect(places.sorted() == places && places.count == 4)
    }

    @Test func manyKillsLoseNothing() async throws {
        let bench = try Bench(pictures: 40)
        try bench.spool.makeFolders()
        for batch in 0..<4 {
            try bench.drop(
                "batch-\(batch)",
                images: (0..<40).map { ("\($0)", bench.url("\($0).png")) })
        }
        // Each daemon lives a little longer than the one before.
        for life in 0..<12 {
            let daemon = try DaemonProcess(
                arguments: DaemonProcess.arguments(spool: bench.spool.path))
            try await Task.sleep(for: .milliseconds(20 + life * 25))
            try await daemon.killAtOnce()
        }
        let last = try await bench.run()
        for batch in 0..<4 {
            let status = try await bench.spool.finish("batch-\(batch)", last)
            try bench.checkCompleted(status)
            #expect(Set(status.images.compactMap(\.output?.sha256)).count == 1)
        }
        #expect(bench.spool.list("outbox").count == 4)
        #expect(bench.spool.list("active") == [])
        #expect(try await last.stop() == .exited(0))
    }

    @Test func aFinishedBatchIsLeftAlone() async throws {
        let bench = try Bench()
        let first = try await bench.run()
        try bench.drop("done", images: [("a", bench.url("0.png"))])
        try bench.checkCompleted(try await bench.spool.finish("done", first))
        #expect(try await first.stop() == .exited(0))
        let files = bench.spool.list("outbox/done")
        let identities = try files.map { try bench.spool.identity("outbox/done/\($0)") }

        let second = try await bench.run()
        try bench.drop("other", images: [("a", bench.url("0.png"))])
        try bench.checkCompleted(try await bench.spool.finish("other", second))
        #expect(bench.spool.list("outbox/done") == files)
        #expect(try files.map { try bench.spool.identity("outbox/done/\($0)") } == identities)
    }

    @Test func stopIsAnnounced() async throws {
        let bench = try Bench()
        let daemon = try await bench.run()
        #expect(try await daemon.stop() == .exited(0))
        #expect(daemon.notifications.last("STOPPING") == "1")
        try await daemon.says("Stopped")
    }
}
