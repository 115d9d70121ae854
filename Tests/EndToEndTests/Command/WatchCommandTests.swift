import Foundation
import TestSupport
import Testing

/// `darkroom watch` with the real daemon, also on a pseudo-terminal.
@Suite(.fewAtATime) struct WatchCommandTests {
    private static let two = ["downloads.concurrency": "2"]

    /// Begins to watch a batch of slow pictures on a terminal, and waits until the terminal shows movement.
    private func begin(
        _ fixture: DaemonFixture, _ daemon: DaemonProcess, terminal: PseudoTerminal,
        environment: [String: String] = ["TERM": "xterm"], shows text: String
    ) async throws -> ClientProcess {
        try fixture.drop("holiday", images: fixture.slowImages(0..<40))
        _ = try await fixture.spool.waitForStatus(of: "holiday", daemon, .processing)
        let command = try ClientProcess(
            ["watch", "holiday", "--spool", fixture.spool.path], environment: environment,
            terminal: terminal)
        try await eventually("'\(text)' on the terminal", context: { terminal.text }) {
            terminal.text.contains(text) ? true : nil
        }
        return command
    }

    @Test func leavesOnlyTheResultOnATerminal() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 40, Self.two)
        let terminal = try PseudoTerminal(width: 80, height: 24)
        let command = try await begin(fixture, daemon, terminal: terminal, shows: "/40")
        let during = terminal.screen(80, 24)
        #expect(during.lines.first?.hasPrefix("holiday  [") == true)
        let result = try await command.result()
        #expect(result.exit == 0)
        let after = terminal.screen(80, 24)
        #expect(after.lines.count == 1)
        #expect(after.lines.first?.hasPrefix("holiday: completed, 40 images in ") == true)
        #expect(!after.hasWrapped && after.unknown == [])
    }

    @Test func aKeyEndsItAndNotTheBatch() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: DaemonFixture.many, Self.two)
        let terminal = try PseudoTerminal(width: 40, height: 10)
        let command = try await begin(fixture, daemon, terminal: terminal, shows: "/40")
        terminal.type("\u{3}")
        #expect(try await command.result().exit == 130)
        let after = terminal.screen(40, 10)
        // The message is longer than the terminal is wide. Its lines end between words.
        #expect(
            after.lines.suffix(2) == [
                "darkroom: The batch goes on. To watch", "  again: darkroom watch holiday",
            ], "\(after.lines)")
        #expect(!after.lines.joined().contains("[") && after.unknown == [] && !after.hasWrapped)
        #expect(try fixture.spool.status(of: "holiday")?.state == .processing)
    }

    @Test func drawsNothingOnADumbTerminal() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: DaemonFixture.many, Self.two)
        let terminal = try PseudoTerminal(width: 80, height: 24)
        let command = try await begin(
            fixture, daemon, terminal: terminal, environment: ["TERM": "dumb"],
            shows: "holiday: processing, ")
        try fixture.spool.drop("holiday.cancel", "")
        #expect(try await command.result().exit == 4)
        #expect(!terminal.text.contains("\u{1B}"))
        #expect(terminal.text.contains("holiday: cancelled, "))
    }

    @Test func endsWithTheCodeOfTheWorst() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 2, Self.two)
        try fixture.drop(
            "half", images: [("a", fixture.url("0.png")), ("b", fixture.url("none.png"))])
        try fixture.spool.drop("wrong.json", "{}")
        for id in ["half", "wrong"] { _ = try await fixture.spool.finish(id, daemon) }
        try await fixture.client("watch", "half", "wrong").expect(
            exit: 65,
            output: """
                half: completed with errors, 1 of 2 images done, 1 failed
                wrong: rejected, darkroom show wrong lists its errors

                """)
        #expect(try await fixture.client("watch", "none").exit == 66)
        try await fixture.client("watch").expect(
            exit: 0, errors: "darkroom: No batch is unfinished.\n")
    }

    @Test func tellsEventsUntilTheEnd() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 8, Self.two)
        try fixture.spool.drop("holiday.hold", "")
        try fixture.drop("holiday", images: fixture.slowImages(0..<8))
        _ = try await fixture.spool.waitForStatus(of: "holiday", daemon, .held)
        // Without an ID it watches what is unfinished.
        let watch = try ClientProcess(["watch", "--json", "--spool", fixture.spool.path])
        try await eventually("the first event") {
            watch.text("output").isEmpty ? nil : true
        }
        try fixture.spool.drop("holiday.release", "")
        let result = try await watch.result()
        #expect(result.exit == 0 && result.errors == "")
        let events = try result.objects()
        #expect(events.dropLast().allSatisfy { $0["type"] as? String == "progress" })
        #expect(events.dropLast().last?["state"] as? String == "completed")
        #expect(events.last?["type"] as? String == "summary")
        #expect(events.last?["exit"] as? Int == 0)
        #expect(events.last?["states"] as? [String: Int] == ["completed": 1])
    }
}
