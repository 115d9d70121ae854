import Foundation
import TestSupport
import Testing

/// `darkroom submit --watch` with the real daemon, also on a pseudo-terminal.
@Suite(.fewAtATime) struct SubmitWatchTests {
    private static let two = ["downloads.concurrency": "2"]

    /// Photographs, sepia, at most 1600 pixels, JPEG, a logo in the corner, in one line.
    @Test func takesPhotographsInOneLine() async throws {
        let fixture = try DaemonFixture(pictures: 4)
        let daemon = try await fixture.run(fixture.readsDocuments)
        let photos = fixture.documents.url.appending(path: "photos")
        try FileManager.default.makeFolder(at: photos)
        for number in 1...3 {
            try FileManager.default.moveItem(
                at: fixture.documents.url.appending(path: "\(number).png"),
                to: photos.appending(path: "\(number).png"))
        }
        let terminal = try PseudoTerminal(width: 80, height: 24)
        let client = try ClientProcess(
            [
                "submit", "photos/1.png", "photos/2.png", "photos/3.png", "--filter", "sepia=0.8",
                "--filter", "thumbnail=1600", "--watermark", "0.png", "--format", "jpeg", "--watch",
            ], spool: fixture.spool.path, folder: fixture.documents.path,
            environment: ["TERM": "xterm"], terminal: terminal)
        #expect(try await client.result().exit == 0)
        let screen = terminal.screen(80, 24)
        #expect(screen.lines.count == 2 && screen.lines.first == "photos", "\(screen.lines)")
        #expect(screen.lines.last?.hasPrefix("photos: completed, 4 images in ") == true)
        #expect(screen.unknown == [])
        let status = try await fixture.complete("photos", daemon)
        #expect(status.images.map(\.output?.format) == [nil, .jpeg, .jpeg, .jpeg])
    }

    /// Standard output has the IDs alone.
    @Test func tellsHowEachHasEnded() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 1, ["downloads.retries": "0"])
        for (name, source) in [("good", "0.png"), ("poor", "none.png")] {
            try fixture.write("images: {a: \(fixture.url(source))}\n", to: "\(name).yaml")
        }
        let result = try await fixture.client(
            "submit", "good.yaml", "poor.yaml", "--watch", "--progress", "none")
        #expect(result.exit == 3 && result.output == "good\npoor\n")
        let lines = result.errors.split(separator: "\n").sorted()
        #expect(lines.count == 2 && lines.first?.hasPrefix("good: completed, 1 image in ") == true)
        #expect(lines.last == "poor: completed with errors, 0 of 1 image done, 1 failed")

        let json = try await fixture.client("submit", "good.yaml", "--watch", "--json")
        let objects = try json.objects()
        #expect(json.exit == 0)
        try #require(objects.map { $0["type"] as? String } == ["submission", "batch", "summary"])
        #expect(objects[1]["id"] as? String == "good-2")
        #expect(objects[1]["state"] as? String == "completed")
        _ = try await daemon.stop()
    }

    /// Begins with a batch of slow pictures whose ID needs quotes.
    private func begin(
        _ fixture: DaemonFixture, _ words: [String], terminal: PseudoTerminal? = nil
    ) throws -> ClientProcess {
        let manifest = ["images": fixture.slowImages().map { ["source": $0.source] }]
        try fixture.write(try DaemonFixture.json(manifest), to: "my trip.json")
        return try ClientProcess(
            ["submit", "my trip.json", "--watch"] + words, spool: fixture.spool.path,
            folder: fixture.documents.path, environment: ["TERM": "xterm"], terminal: terminal)
    }

    private func waitForWork(_ fixture: DaemonFixture, _ daemon: DaemonProcess) async throws {
        _ = try await fixture.spool.waitForStatus(of: "my trip", daemon, .processing)
    }

    private static let advice =
        "darkroom: The batch goes on. To watch again: darkroom watch 'my trip'"

    @Test func aKeyEndsItAndNotTheBatch() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: DaemonFixture.many, Self.two)
        let terminal = try PseudoTerminal(width: 80, height: 24)
        let client = try begin(fixture, [], terminal: terminal)
        try await eventually("a bar on the terminal", context: { terminal.text }) {
            terminal.text.contains("my trip  [") ? true : nil
        }
        try await waitForWork(fixture, daemon)
        terminal.type("\u{3}")
        #expect(try await client.result().exit == 130)
        let screen = terminal.screen(80, 24)
        // The terminal shows the key.
        let lines = screen.lines.map { $0.replacing("^C", with: "") }
        #expect(lines == ["my trip", Self.advice])
        #expect(try fixture.spool.status(of: "my trip")?.state == .processing)
        try await daemon.killAtOnce()
    }

    @Test(arguments: [SIGINT, SIGTERM]) func aSignalEndsItAndNotTheBatch(signal: CInt) async throws
    {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: DaemonFixture.many, Self.two)
        let client = try begin(fixture, ["--progress", "plain"])
        try await client.until("progress") { $0.text("errors").contains("my trip: ") }
        try await waitForWork(fixture, daemon)
        client.send(signal)
        let result = try await client.result()
        #expect(result.exit == 130 && result.output == "my trip\n")
        #expect(result.errors.hasSuffix("\n\(Self.advice)\n"), "\(result.errors)")
        #expect(try fixture.spool.status(of: "my trip")?.state == .processing)
        try await daemon.killAtOnce()
    }
}
