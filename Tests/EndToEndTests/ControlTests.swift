import Foundation
import TestSupport
import Testing

/// Holding, releasing and doing again by files in the inbox; cancelling is in `CancelTests`.
@Suite(.fewAtATime) struct ControlTests {
    private func waitUntilConsumed(
        _ fixture: DaemonFixture, _ daemon: DaemonProcess, _ control: String
    ) async throws {
        try await daemon.waitUntil("\(control) to be consumed") { _ in
            !fixture.spool.exists("inbox/\(control)")
        }
    }

    /// A control file waits so long for its manifest. Those that are dropped here are whole at once.
    private static let longSettling = ["inbox.settle": "60s"]

    enum Order: CaseIterable, Sendable { case after, atTheStart }

    /// A hold that comes with its manifest: nothing of it begins.
    @Test(arguments: Order.allCases) func holdsAManifestThatItCameWith(order: Order) async throws {
        let fixture = try DaemonFixture()
        try fixture.spool.makeFolders()
        let dropManifest = { try fixture.drop("x", images: [("a", fixture.url("0.png"))]) }
        var daemon: DaemonProcess
        if order == .atTheStart {
            try dropManifest()
            try fixture.spool.drop("x.hold", "")
            daemon = try await fixture.run()
        } else {
            // Paused, so that it is no matter of who is quicker.
            daemon = try await fixture.run(Self.longSettling)
            try await daemon.pause()
            try dropManifest()
            try fixture.spool.drop("x.hold", "")
        }
        let held = try await fixture.spool.waitForStatus(of: "x", daemon, .held)
        #expect(held.counts.new == 1)
        #expect(held.times.started == nil)
        #expect(held.commands?.map(\.command) == [.hold])
        #expect(held.commands?.first?.uid == geteuid())
        #expect(held.manifest.uid == geteuid())
        try await waitUntilConsumed(fixture, daemon, "x.hold")
        daemon.send(SIGUSR2)
        try await daemon.waitForStatusText("Idle; 0 batches finished since the start; 1 held")
        // Another one is not held up by it.
        try await fixture.complete("y", images: [("a", fixture.url("1.png"))], daemon)
        #expect(try fixture.requests(for: "/0.png") == 0)

        // Over a kill too.
        try await daemon.killAtOnce()
        daemon = try await fixture.run()
        try await daemon.waitForStatusText("Idle; 0 batches finished since the start; 1 held")
        #expect(try fixture.spool.status(of: "x")?.state == .held)
        #expect(try fixture.requests(for: "/0.png") == 0)

        try fixture.spool.drop("x.release", "")
        let status = try await fixture.complete("x", daemon)
        #expect(status.commands?.map(\.command) == [.hold, .release])
        try await waitUntilConsumed(fixture, daemon, "x.release")
        #expect(fixture.spool.list("inbox") == [])
        #expect(try await daemon.stop() == .exited(0))
    }

    enum Between: CaseIterable, Sendable { case stop, kill }

    @Test(.tags(.concurrency), arguments: Between.allCases) func holdsInMidBatch(between: Between)
        async throws
    {
        let fixture = try DaemonFixture(pictures: DaemonFixture.many)
        let file = try ConfigurationText("downloads: {concurrency: 2}\nbatches: {window: 4}\n")
        var daemon = try await fixture.run(arguments: ["--config", file.path])
        try fixture.drop("x", images: fixture.slowImages())
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, filtered: 3)
        try fixture.spool.drop("x.hold", "")
        let held = try await fixture.spool.waitForStatus(of: "x", daemon, "held and at rest") {
            $0.state == .held && $0.counts.new + $0.counts.filtered == DaemonFixture.many
        }
        #expect(held.counts.new > 0)
        try await waitUntilConsumed(fixture, daemon, "x.hold")
        // Those that were broken off for the hold are logged as well, a moment later.
        var requests = -1
        try await eventually("the origin's log to be at rest") {
            let before = requests
            try await Task.sleep(for: .milliseconds(500))
            requests = try fixture.origin.requests().count
            return requests == before && requests >= held.counts.filtered ? true : nil
        }
        // What was fetched and whose filter had not begun is put back.
        #expect((held.counts.filtered...held.counts.filtered + 4).contains(requests))
        // The rest goes faster.
        try file.write("downloads: {concurrency: 32}\n")
        switch between {
        case .stop: #expect(try await daemon.stop() == .exited(0))
        case .kill: try await daemon.killAtOnce()
        }
        daemon = try await fixture.run(arguments: ["--config", file.path])
        // Whatever else is done meanwhile.
        try await fixture.complete("y", images: [("a", fixture.url("0.png"))], daemon)
        #expect(try fixture.spool.status(of: "x")?.counts == held.counts)
        #expect(try fixture.spool.status(of: "x")?.state == .held)
        #expect(try await fixture.logged(requests + 1).count == requests + 1)

        try fixture.spool.drop("x.release", "")
        let status = try await fixture.complete("x", daemon)
        #expect(status.commands?.map(\.command) == [.hold, .release])
        // Only what was put back is fetched again.
        let total = DaemonFixture.many + requests - held.counts.filtered
        #expect(try await fixture.logged(total + 1).count == total + 1)
        #expect(status.images.allSatisfy { $0.attempts == 1 })
    }

    /// A control file finds a manifest that is not claimed for want of room, and a paused daemon hears it.
    @Test(arguments: [true, false]) func actsWhateverWaits(isPaused: Bool) async throws {
        let (fixture, daemon) = try await DaemonFixture.running([
            "batches.maxWaiting": "1", "downloads.concurrency": "1",
        ])
        if isPaused {
            try await daemon.pause()
        }
        // While the first is claimed and not begun, the others stay in the inbox.
        try fixture.drop("a", images: [("p", fixture.slowURL("0.png"))])
        _ = try await fixture.spool.waitForStatus(of: "a", daemon, "claimed") { _ in true }
        for id in ["b", "c"] { try fixture.drop(id, images: [("p", fixture.slowURL("0.png"))]) }
        try fixture.spool.drop("c.cancel", "")
        let status = try await fixture.spool.finish("c", daemon)
        if isPaused {
            #expect(status.state == .cancelled)
            #expect(fixture.spool.exists("inbox/b.json"))
            #expect(try fixture.origin.requests().isEmpty)
            daemon.send(SIGUSR2)
        }
        try fixture.checkOutcome(status)
        for id in ["a", "b"] {
            try await fixture.complete(id, daemon)
        }
        try await waitUntilConsumed(fixture, daemon, "c.cancel")
    }

    /// An answer of the same name is no reason to let a manifest begin that comes with a hold.
    @Test func holdsAManifestOfANameUsedBefore() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(Self.longSettling)
        try await fixture.complete("x", images: [("a", fixture.url("0.png"))], daemon)
        try fixture.spool.drop("x.hold", "")
        // It has been looked at, and waits.
        _ = try await fixture.waitForReport(daemon, "the hold") { report in
            report.files.map(\.name) == ["x.hold"]
        }
        // One that comes later has its turn after it.
        try fixture.spool.drop("nobody.retry", "")
        _ = try await fixture.waitForReport(daemon, "another") { $0.total == 2 }
        try fixture.drop("x", images: [("a", fixture.url("1.png"))])
        let held = try await fixture.spool.waitForStatus(of: "x-2", daemon, .held)
        #expect(held.counts.new == 1 && held.times.started == nil)
        try await waitUntilConsumed(fixture, daemon, "x.hold")
        #expect(try fixture.requests(for: "/1.png") == 0)
    }

    /// The ID of a long name is cut, and so is what its control file names.
    @Test func findsALongNamesBatch() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(Self.longSettling)
        let name = String(repeating: "n", count: 240)
        let id = String(name.prefix(200))
        try fixture.spool.drop("\(name).hold", "")
        try fixture.spool.drop(
            "\(name).json", try DaemonFixture.json(["images": ["p": fixture.url("0.png")]]))
        _ = try await fixture.spool.waitForStatus(of: id, daemon, .held)
        try fixture.spool.drop("\(id).cancel", "")
        #expect(try await fixture.spool.finish(id, daemon).state == .cancelled)
    }

    /// A second manifest of the name has an ID of its own, by which alone it is given commands.
    @Test func takesAnIDForWhatItSays() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(Self.longSettling)
        try fixture.spool.drop("x.hold", "")
        try fixture.drop("x", images: [("a", fixture.url("0.png"))])
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, .held)
        try await daemon.pause()
        try fixture.drop("x", images: [("a", fixture.url("1.png"))])
        _ = try await fixture.spool.waitForStatus(of: "x-2", daemon, "claimed") { _ in true }
        try fixture.spool.drop("x-2.hold", "")
        _ = try await fixture.spool.waitForStatus(of: "x-2", daemon, .held)
        try fixture.spool.drop("x.cancel", "")
        #expect(try await fixture.spool.finish("x", daemon).state == .cancelled)
        #expect(try fixture.spool.status(of: "x-2")?.state == .held)
    }

    /// However long its writer pauses: what is there of it is no manifest.
    @Test func waitsBesideAManifestThatIsBeingWritten() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(["inbox.settle": "1ms"])
        // The first scan finds what is there without an event that tells of its writer.
        _ = try await fixture.waitForReport(daemon, "the first scan") { $0.scanned != nil }
        let path = fixture.spool.root.appending(path: "inbox/x.json").path
        let manifest = Array(
            #"{"images": [{"name": "a", "source": "\#(fixture.url("0.png"))"}]}"#.utf8)
        let writer = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        #expect(write(writer, manifest, 10) == 10)
        try fixture.spool.drop("x.hold", "")
        try await daemon.says("the writer of its manifest x.json has not closed it")
        // Longer than a manifest settles, with control files that make the daemon look through the inbox. Half a
        // minute without a further byte would be too long.
        for turn in 0..<4 {
            try fixture.spool.drop("nobody-\(turn).cancel", "")
            try await waitUntilConsumed(fixture, daemon, "nobody-\(turn).cancel")
            #expect(fixture.spool.list("inbox") == ["x.hold", "x.json"])
            #expect(write(writer, [manifest[10 + turn]], 1) == 1)
        }
        #expect(write(writer, Array(manifest[14...]), manifest.count - 14) == manifest.count - 14)
        close(writer)
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, .held)
        try await waitUntilConsumed(fixture, daemon, "x.hold")
    }

    // MARK: Again

    @Test func doesAgainWhatFailedOverAKill() async throws {
        let fixture = try DaemonFixture(pictures: 3)
        var daemon = try await fixture.run()
        try fixture.drop(
            "x",
            [
                "images": [
                    ["name": "good", "source": fixture.url("0.png")],
                    ["name": "bad", "source": fixture.slowURL("late.png")],
                    ["name": "made", "from": "bad", "filters": ["mono"]],
                ]
            ])
        let failed = try await fixture.spool.finish("x", daemon)
        #expect(failed.state == .completedWithErrors)
        #expect(failed.counts.failed == 2)
        let identity = try fixture.spool.identity("outbox/x/good.png")

        // Not yet mended: it fails again.
        try fixture.spool.drop("x.retry", "")
        let again = try await fixture.spool.waitForRetry(1, of: "x", daemon)
        #expect(again.state == .completedWithErrors)
        #expect(try again.image("bad").attempts == 2)

        try fixture.documents.write(DaemonFixture.picture, to: "late.png")
        try await waitUntilConsumed(fixture, daemon, "x.retry")
        try await daemon.waitUntil("active/x to be cleared") { _ in
            !fixture.spool.exists("active/x")
        }
        try fixture.spool.drop("x.retry", "")
        try await waitUntilConsumed(fixture, daemon, "x.retry")
        try await daemon.killAtOnce()
        daemon = try await fixture.run()
        let status = try await fixture.spool.waitForStatus(of: "x", daemon, .completed)
        try await daemon.waitUntil("active/x to be cleared") { _ in
            !fixture.spool.exists("active/x")
        }
        try fixture.checkCompleted(status)
        #expect(status.retries == 2)
        #expect(status.commands?.map(\.command) == [.retry, .retry])
        #expect(try status.image("bad").attempts >= 3)
        #expect(try status.image("good").attempts == 1)
        #expect(try fixture.spool.identity("outbox/x/good.png") == identity)
        #expect(try fixture.requests(for: "/0.png") == 1)
        #expect(status.times.received == failed.times.received)

        // Nothing is left to be done.
        try fixture.spool.drop("x.retry", "")
        try await daemon.says("x.retry has no effect: all images are filtered")
        try await waitUntilConsumed(fixture, daemon, "x.retry")
        #expect(try fixture.spool.status(of: "x") == status)
    }

    @Test func saysWhyItDoesNothing() async throws {
        let (fixture, daemon) = try await DaemonFixture.running()
        try fixture.spool.drop("broken.json", "{}")
        _ = try await fixture.spool.finish("broken", daemon)
        let done = try await fixture.finish("done", images: [("a", fixture.url("0.png"))], daemon)
        for (control, reason) in [
            ("nobody.hold", "there is no such batch"), ("nobody.retry", "there is no such batch"),
            ("broken.retry", "the manifest was rejected"), ("done.hold", "the batch has ended"),
            ("done.release", "the batch has ended"), ("done.cancel", "the batch has ended"),
        ] {
            try fixture.spool.drop(control, "")
            try await daemon.says("\(control) has no effect: \(reason)")
            try await waitUntilConsumed(fixture, daemon, control)
        }
        #expect(try fixture.spool.status(of: "done") == done)
        #expect(fixture.spool.list("outbox") == ["broken", "done"])
    }

    // MARK: The journal

    /// The journal tells first what was done, and then what follows from it.
    @Test func isToldInOrder() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: DaemonFixture.many, ["downloads.concurrency": "2"])
        func drop(_ control: String) async throws {
            try fixture.spool.drop(control, "")
            try await waitUntilConsumed(fixture, daemon, control)
        }
        /// Whether the first words of the daemon that hold each of these follow each other.
        func expectInOrder(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation)
            async throws
        {
            for words in words { try await daemon.says(words) }
            let text = daemon.outputText
            let places = words.compactMap { text.firstRange(of: $0)?.lowerBound }
            #expect(places.sorted() == places, "\(words)", sourceLocation: sourceLocation)
        }
        try await fixture.finish(
            "again", images: (0..<4).map { ("\($0)", fixture.url("none-\($0).png")) }, daemon)
        try await drop("again.retry")
        try await expectInOrder("again is reopened", "again continues: 4 images")

        try fixture.drop("held", images: fixture.slowImages())
        _ = try await fixture.spool.waitForStatus(of: "held", daemon, "under way") {
            $0.counts.filtered > 0
        }
        try await drop("held.hold")
        _ = try await fixture.spool.waitForStatus(of: "held", daemon, "held and at rest") {
            $0.state == .held && $0.counts.new + $0.counts.filtered == DaemonFixture.many
        }
        try await drop("held.release")
        // It may be released before it has left the board. Then it goes on without a word.
        try await expectInOrder("held is held", "held is released")

        try await drop("held.cancel")
        _ = try await fixture.spool.finish("held", daemon)
        try await expectInOrder("held is being cancelled", "held cancelled: ")
    }

    // MARK: Who may

    @Test(.enabled(if: geteuid() == 0, "needs root, to make other users' files"))
    func obeysNoStranger() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(Self.longSettling)
        func drop(_ name: String, _ content: String, by uid: uid_t) throws {
            let staged = fixture.spool.root.appending(path: "tmp/\(name)").path
            try content.write(toFile: staged, atomically: false, encoding: .utf8)
            #expect(chown(staged, uid, uid) == 0)
            #expect(rename(staged, fixture.spool.root.appending(path: "inbox/\(name)").path) == 0)
        }
        try drop("x.hold", "", by: 1000)
        try drop(
            "x.json", try DaemonFixture.json(["images": ["a": fixture.url("0.png")]]), by: 1000)
        let held = try await fixture.spool.waitForStatus(of: "x", daemon, .held)
        #expect(held.manifest.uid == 1000)
        for action in ["release", "cancel"] {
            try drop("x.\(action)", "", by: 1001)
            try await daemon.says(
                "x.\(action) is refused: it belongs to user 1001, but the manifest belongs to user 1000"
            )
            try await waitUntilConsumed(fixture, daemon, "x.\(action)")
        }
        #expect(try fixture.spool.status(of: "x") == held)
        try drop("x.cancel", "", by: 1000)
        let status = try await fixture.spool.finish("x", daemon)
        #expect(status.state == .cancelled)
        #expect(status.commands?.map(\.uid) == [1000, 1000])
        try drop("x.retry", "", by: 1001)
        try await daemon.says("x.retry is refused")
        #expect(try fixture.spool.status(of: "x") == status)
        // Root may.
        try drop("x.retry", "", by: 0)
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, .completed)
    }
}
