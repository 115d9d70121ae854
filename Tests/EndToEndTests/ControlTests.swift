import DarkroomBatch
import DarkroomCore
import DarkroomDaemon
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSelfTest
import DarkroomSpool
import Foundation
import TestSupport
import Testing

/// Holding, releasing and doing again by files in the inbox; cancelling is in `CancelTests`.
@Suite(.fewAtATime) struct ControlTests {
    private func waitUntilConsumed(
        _ bench: Bench, _ daemon: DaemonProcess, _ control: String
    ) async throws {
        try await daemon.waitUntil("\(control) to be consumed") { _ in
            !bench.spool.exists("inbox/\(control)")
        }
    }

    /// A control file waits so long for its manifest. Those that are dropped here are whole at once.
    private static let longSettling = ["inbox.settle": "60s"]

    enum Order: CaseIterable, Sendable { case before, after, atTheStart }

    /// A hold that comes with its manifest: nothing of it begins.
    @Test(arguments: Order.allCases) func holdsAManifestThatItCameWith(order: Order) async throws {
        let bench = try Bench()
        try bench.spool.makeFolders()
        let dropManifest = { try bench.drop("x", images: [("a", bench.url("0.png"))]) }
        var daemon: DaemonProcess
        if order == .atTheStart {
            try dropManifest()
            try bench.spool.drop("x.hold", "")
            daemon = try await bench.run()
        } else {
            // Paused, so that it is no matter of who is quicker.
            daemon = try await bench.run(Self.longSettling)
            daemon.send(SIGUSR1)
            try await daemon.waitForStatusText("Paused (SIGUSR1)")
            if order == .after { try dropManifest() }
            try bench.spool.drop("x.hold", "")
            if order == .before { try dropManifest() }
        }
        let held = try await bench.spool.waitForStatus(of: "x", daemon, "held") {
            $0.state == .held
        }
        #expect(held.counts.new == 1)
        #expect(held.times.started == nil)
        #expect(held.commands?.map(\.command) == [.hold])
        #expect(held.commands?.first?.uid == geteuid())
        #expect(held.manifest.uid == geteuid())
        try await waitUntilConsumed(bench, daemon, "x.hold")
        daemon.send(SIGUSR2)
        try await daemon.waitForStatusText("Idle; 0 batches finished since the start; 1 held")
        // Another one is not held up by it.
        try bench.drop("y", images: [("a", bench.url("1.png"))])
        try bench.checkCompleted(try await bench.spool.finish("y", daemon))
        #expect(try bench.requests(for: "/0.png") == 0)

        // Over a kill too.
        try await daemon.killAtOnce()
        daemon = try await bench.run()
        try await daemon.waitForStatusText("Idle; 0 batches finished since the start; 1 held")
        #expect(try bench.spool.status(of: "x")?.state == .held)
        #expect(try bench.requests(for: "/0.png") == 0)

        try bench.spool.drop("x.release", "")
        let status = try await bench.spool.finish("x", daemon)
        try bench.checkCompleted(status)
        #expect(status.commands?.map(\.command) == [.hold, .release])
        try await waitUntilConsumed(bench, daemon, "x.release")
        #expect(bench.spool.list("inbox") == [])
        #expect(try await daemon.stop() == .exited(0))
    }

    enum Between: CaseIterable, Sendable { case nothing, stop, kill }

    @Test(.tags(.concurrency), arguments: Between.allCases) func holdsInMidBatch(between: Between)
        async throws
    {
        let bench = try Bench(pictures: Bench.many)
        let file = try ConfigurationText("downloads: {concurrency: 2}\nbatches: {window: 4}\n")
        var daemon = try await bench.run(arguments: ["--config", file.path])
        try bench.drop("x", images: bench.slowImages())
        _ = try await bench.spool.waitForStatus(of: "x", daemon, "under way") {
            $0.counts.filtered >= 3
        }
        try bench.spool.drop("x.hold", "")
        let held = try await bench.spool.waitForStatus(of: "x", daemon, "held and at rest") {
            $0.state == .held && $0.counts.new + $0.counts.filtered == Bench.many
        }
        #expect(held.counts.new > 0)
        try await waitUntilConsumed(bench, daemon, "x.hold")
        // Those that were broken off for the hold are logged as well, a moment later.
        var requests = -1
        try await eventually("the origin's log to be at rest") {
            let before = requests
            try await Task.sleep(for: .milliseconds(500))
            requests = try bench.origin.requests().count
            return requests == before && requests >= held.counts.filtered ? true : nil
        }
        // What was fetched and whose filter had not begun is put back.
        #expect((held.counts.filtered...held.counts.filtered + 4).contains(requests))
        // The rest goes faster.
        try file.write("downloads: {concurrency: 32}\n")
        switch between {
        case .nothing: try await daemon.reload()
        case .stop: #expect(try await daemon.stop() == .exited(0))
        case .kill: try await daemon.killAtOnce()
        }
        if between != .nothing { daemon = try await bench.run(arguments: ["--config", file.path]) }
        // Whatever else is done meanwhile.
        try bench.drop("y", images: [("a", bench.url("0.png"))])
        try bench.checkCompleted(try await bench.spool.finish("y", daemon))
        #expect(try bench.spool.status(of: "x")?.counts == held.counts)
        #expect(try bench.spool.status(of: "x")?.state == .held)
        #expect(try await bench.logged(requests + 1).count == requests + 1)

        try bench.spool.drop("x.release", "")
        let status = try await bench.spool.finish("x", daemon)
        try bench.checkCompleted(status)
        #expect(status.commands?.map(\.command) == [.hold, .release])
        // Only what was put back is fetched again.
        let total = Bench.many + requests - held.counts.filtered
        #expect(try await bench.logged(total + 1).count == total + 1)
        #expect(status.images.allSatisfy { $0.attempts == 1 })
    }

    @Test func cancelsAHeldBatch() async throws {
        let bench = try Bench()
        let daemon = try await bench.run(Self.longSettling)
        try bench.spool.drop("x.hold", "")
        try bench.drop("x", images: [("a", bench.url("0.png")), ("b", bench.url("1.png"))])
        _ = try await bench.spool.waitForStatus(of: "x", daemon, "held") { $0.state == .held }
        try bench.spool.drop("x.cancel", "")
        let status = try await bench.spool.finish("x", daemon)
        #expect(status.state == .cancelled)
        #expect(status.counts.cancelled == 2)
        #expect(status.commands?.map(\.command) == [.hold, .cancel])
        #expect(try bench.origin.requests().isEmpty)
        try bench.checkOutcome(status)
    }

    /// A control file finds a manifest that is not claimed for want of room, and a paused daemon hears it.
    @Test(arguments: [true, false]) func actsWhateverWaits(isPaused: Bool) async throws {
        let bench = try Bench()
        let daemon = try await bench.run(["batches.maxWaiting": "1", "downloads.concurrency": "1"])
        if isPaused {
            daemon.send(SIGUSR1)
            try await daemon.waitForStatusText("Paused (SIGUSR1)")
        }
        // While the first is claimed and not begun, the others stay in the inbox.
        try bench.drop("a", images: [("p", bench.slowURL("0.png"))])
        _ = try await bench.spool.waitForStatus(of: "a", daemon, "claimed") { _ in true }
        for id in ["b", "c"] { try bench.drop(id, images: [("p", bench.slowURL("0.png"))]) }
        try bench.spool.drop("c.cancel", "")
        let status = try await bench.spool.finish("c", daemon)
        if isPaused {
            #expect(status.state == .cancelled)
            #expect(bench.spool.exists("inbox/b.json"))
            #expect(try bench.origin.requests().isEmpty)
            daemon.send(SIGUSR2)
        }
        try bench.checkOutcome(status)
        for id in ["a", "b"] {
            try bench.checkCompleted(try await bench.spool.finish(id, daemon))
        }
        try await waitUntilConsumed(bench, daemon, "c.cancel")
    }

    /// An answer of the same name is no reason to let a manifest begin that comes with a hold.
    @Test func holdsAManifestOfANameUsedBefore() async throws {
        let bench = try Bench()
        let daemon = try await bench.run(Self.longSettling)
        try bench.drop("x", images: [("a", bench.url("0.png"))])
        try bench.checkCompleted(try await bench.spool.finish("x", daemon))
        try bench.spool.drop("x.hold", "")
        // It has been looked at, and waits.
        _ = try await bench.waitForReport(daemon, "the hold") { report in
            report.files.map(\.name) == ["x.hold"]
        }
        // One that comes later has its turn after it.
        try bench.spool.drop("nobody.retry", "")
        _ = try await bench.waitForReport(daemon, "another") { $0.total == 2 }
        try bench.drop("x", images: [("a", bench.url("1.png"))])
        let held = try await bench.spool.waitForStatus(of: "x-2", daemon, "held") {
            $0.state == .held
        }
        #expect(held.counts.new == 1 && held.times.started == nil)
        try await waitUntilConsumed(bench, daemon, "x.hold")
        #expect(try bench.requests(for: "/1.png") == 0)
    }

    /// The ID of a long name is cut, and so is what its control file names.
    @Test func findsALongNamesBatch() async throws {
        let bench = try Bench()
        let daemon = try await bench.run(Self.longSettling)
        let name = String(repeating: "n", count: 240)
        let id = String(name.prefix(200))
        try bench.spool.drop("\(name).hold", "")
        try bench.spool.drop("\(name).json", try Bench.json(["images": ["p": bench.url("0.png")]]))
        _ = try await bench.spool.waitForStatus(of: id, daemon, "held") { $0.state == .held }
        try bench.spool.drop("\(id).cancel", "")
        #expect(try await bench.spool.finish(id, daemon).state == .cancelled)
    }

    /// A second manifest of the name has an ID of its own, by which alone it is given commands.
    @Test func takesAnIDForWhatItSays() async throws {
        let bench = try Bench()
        let daemon = try await bench.run(Self.longSettling)
        try bench.spool.drop("x.hold", "")
        try bench.drop("x", images: [("a", bench.url("0.png"))])
        _ = try await bench.spool.waitForStatus(of: "x", daemon, "held") { $0.state == .held }
        daemon.send(SIGUSR1)
        try await daemon.waitForStatusText("Paused (SIGUSR1)")
        try bench.drop("x", images: [("a", bench.url("1.png"))])
        _ = try await bench.spool.waitForStatus(of: "x-2", daemon, "claimed") { _ in true }
        try bench.spool.drop("x-2.hold", "")
        _ = try await bench.spool.waitForStatus(of: "x-2", daemon, "held") { $0.state == .held }
        try bench.spool.drop("x.cancel", "")
        #expect(try await bench.spool.finish("x", daemon).state == .cancelled)
        #expect(try bench.spool.status(of: "x-2")?.state == .held)
    }

    @Test func waitsBesideAManifestThatIsNotComplete() async throws {
        let bench = try Bench()
        let daemon = try await bench.run(["inbox.settle": "8s"])
        try await bench.spool.writeInPlace(
            "x.yaml", parts: ["images:\n  - \(bench.url("0.png"))\n"], pause: .zero)
        try bench.spool.drop("x.hold", "")
        try await daemon.waitUntil("the reason") {
            $0.outputText.contains(
                "inbox/x.hold is not taken: its manifest x.yaml may not be complete")
        }
        _ = try await bench.spool.waitForStatus(of: "x", daemon, "held") { $0.state == .held }
        #expect(try bench.origin.requests().isEmpty)
        try await waitUntilConsumed(bench, daemon, "x.hold")
        #expect(bench.spool.list("inbox") == [])
    }

    /// However long its writer pauses: what is there of it is no manifest.
    @Test func waitsBesideAManifestThatIsBeingWritten() async throws {
        let bench = try Bench()
        let daemon = try await bench.run(["inbox.settle": "50ms"])
        // The first scan finds what is there without an event that tells of its writer.
        _ = try await bench.waitForReport(daemon, "the first scan") { $0.scanned != nil }
        let path = bench.spool.root.appending(path: "inbox/x.json").path
        let manifest = Array(
            #"{"images": [{"name": "a", "source": "\#(bench.url("0.png"))"}]}"#.utf8)
        let writer = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        #expect(write(writer, manifest, 10) == 10)
        try bench.spool.drop("x.hold", "")
        try await daemon.waitUntil("the reason") {
            $0.outputText.contains("the writer of its manifest x.json has not closed it")
        }
        // Far longer than a manifest settles, with control files that make the inbox be looked through. Half a
        // minute without a byte more would be too long.
        for turn in 0..<4 {
            try await Task.sleep(for: .milliseconds(300))
            try bench.spool.drop("nobody-\(turn).cancel", "")
            try await waitUntilConsumed(bench, daemon, "nobody-\(turn).cancel")
            #expect(bench.spool.list("inbox") == ["x.hold", "x.json"])
            #expect(write(writer, [manifest[10 + turn]], 1) == 1)
        }
        #expect(write(writer, Array(manifest[14...]), manifest.count - 14) == manifest.count - 14)
        close(writer)
        _ = try await bench.spool.waitForStatus(of: "x", daemon, "held") { $0.state == .held }
        try await waitUntilConsumed(bench, daemon, "x.hold")
    }

    // MARK: Again

    enum Interruption: CaseIterable, Sendable { case none, kill }

    @Test(arguments: Interruption.allCases)
    func doesAgainWhatFailed(interruption: Interruption) async throws {
        let bench = try Bench(pictures: 3)
        var daemon = try await bench.run()
        try bench.drop(
            "x",
            [
                "images": [
                    ["name": "good", "source": bench.url("0.png")],
                    ["name": "bad", "source": bench.slowURL("late.png")],
                    ["name": "made", "from": "bad", "filters": ["mono"]],
                ]
            ])
        let failed = try await bench.spool.finish("x", daemon)
        #expect(failed.state == .completedWithErrors)
        #expect(failed.counts.failed == 2)
        let identity = try bench.spool.identity("outbox/x/good.png")

        // Not yet mended: it fails again.
        try bench.spool.drop("x.retry", "")
        let again = try await bench.spool.waitForStatus(of: "x", daemon, "tried again") {
            $0.state.isFinal && $0.retries == 1
        }
        #expect(again.state == .completedWithErrors)
        #expect(try again.image("bad").attempts == 2)

        try Data(Bench.picture).write(to: bench.documents.url.appending(path: "late.png"))
        try await waitUntilConsumed(bench, daemon, "x.retry")
        try await daemon.waitUntil("active/x to be cleared") { _ in !bench.spool.exists("active/x")
        }
        try bench.spool.drop("x.retry", "")
        if interruption == .kill {
            try await waitUntilConsumed(bench, daemon, "x.retry")
            try await daemon.killAtOnce()
            daemon = try await bench.run()
        }
        let status = try await bench.spool.waitForStatus(of: "x", daemon, "completed") {
            $0.state == .completed
        }
        try await daemon.waitUntil("active/x to be cleared") { _ in !bench.spool.exists("active/x")
        }
        try bench.checkCompleted(status)
        #expect(status.retries == 2)
        #expect(status.commands?.map(\.command) == [.retry, .retry])
        #expect(try status.image("bad").attempts >= 3)
        #expect(try status.image("good").attempts == 1)
        #expect(try bench.spool.identity("outbox/x/good.png") == identity)
        #expect(try bench.requests(for: "/0.png") == 1)
        #expect(status.times.received == failed.times.received)

        // Nothing is left to be done.
        try bench.spool.drop("x.retry", "")
        try await daemon.waitUntil("an answer") {
            $0.outputText.contains("x.retry has no effect: all images are filtered")
        }
        try await waitUntilConsumed(bench, daemon, "x.retry")
        #expect(try bench.spool.status(of: "x") == status)
    }

    @Test func saysWhyItDoesNothing() async throws {
        let bench = try Bench()
        let daemon = try await bench.run()
        try bench.spool.drop("broken.json", "{}")
        _ = try await bench.spool.finish("broken", daemon)
        try bench.drop("done", images: [("a", bench.url("0.png"))])
        _ = try await bench.spool.finish("done", daemon)
        for (control, reason) in [
            ("nobody.hold", "there is no such batch"), ("nobody.retry", "there is no such batch"),
            ("broken.retry", "the manifest was rejected"), ("done.hold", "the batch has ended"),
            ("done.release", "the batch has ended"),
        ] {
            try bench.spool.drop(control, "")
            try await daemon.waitUntil("an answer to \(control)") {
                $0.outputText.contains("\(control) has no effect: \(reason)")
            }
            try await waitUntilConsumed(bench, daemon, control)
        }
    }

    // MARK: The journal

    /// The journal tells first what was done, and then what follows from it.
    @Test func isToldInOrder() async throws {
        let bench = try Bench(pictures: Bench.many)
        let daemon = try await bench.run(["downloads.concurrency": "2"])
        func drop(_ control: String) async throws {
            try bench.spool.drop(control, "")
            try await waitUntilConsumed(bench, daemon, control)
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
        try bench.drop("again", images: (0..<4).map { ("\($0)", bench.url("none-\($0).png")) })
        _ = try await bench.spool.finish("again", daemon)
        try await drop("again.retry")
        try await expectInOrder("again is reopened", "again continues: 4 images")

        try bench.drop("held", images: bench.slowImages())
        _ = try await bench.spool.waitForStatus(of: "held", daemon, "under way") {
            $0.counts.filtered > 0
        }
        try await drop("held.hold")
        _ = try await bench.spool.waitForStatus(of: "held", daemon, "held and at rest") {
            $0.state == .held && $0.counts.new + $0.counts.filtered == Bench.many
        }
        try await drop("held.release")
        try await expectInOrder("held is held", "held is released", "held continues")

        try await drop("held.cancel")
        _ = try await bench.spool.finish("held", daemon)
        try await expectInOrder("held is being cancelled", "held cancelled: ")
    }

    // MARK: Who may

    @Test(.enabled(if: geteuid() == 0, "needs root, to make other users' files"))
    func obeysNoStranger() async throws {
        let bench = try Bench()
        let daemon = try await bench.run(Self.longSettling)
        func drop(_ name: String, _ content: String, by uid: uid_t) throws {
            let staged = bench.spool.root.appending(path: "tmp/\(name)").path
            try content.write(toFile: staged, atomically: false, encoding: .utf8)
            #expect(chown(staged, uid, uid) == 0)
            #expect(rename(staged, bench.spool.root.appending(path: "inbox/\(name)").path) == 0)
        }
        try drop("x.hold", "", by: 1000)
        try drop("x.json", try Bench.json(["images": ["a": bench.url("0.png")]]), by: 1000)
        let held = try await bench.spool.waitForStatus(of: "x", daemon, "held") {
            $0.state == .held
        }
        #expect(held.manifest.uid == 1000)
        for action in ["release", "cancel"] {
            try drop("x.\(action)", "", by: 1001)
            try await daemon.waitUntil("a refusal") {
                $0.outputText.contains(
                    "x.\(action) is refused: it belongs to user 1001, but the manifest belongs to user 1000"
                )
            }
            try await waitUntilConsumed(bench, daemon, "x.\(action)")
        }
        #expect(try bench.spool.status(of: "x") == held)
        try drop("x.cancel", "", by: 1000)
        let status = try await bench.spool.finish("x", daemon)
        #expect(status.state == .cancelled)
        #expect(status.commands?.map(\.uid) == [1000, 1000])
        try drop("x.retry", "", by: 1001)
        try await daemon.waitUntil("a refusal") { $0.outputText.contains("x.retry is refused") }
        #expect(try bench.spool.status(of: "x") == status)
        // Root may.
        try drop("x.retry", "", by: 0)
        _ = try await bench.spool.waitForStatus(of: "x", daemon, "done") { $0.state == .completed }
    }
}
