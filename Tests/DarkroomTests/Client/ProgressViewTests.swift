import DarkroomAnswer
import TestSupport
import Testing

@testable import DarkroomClient

/// Screens compared whole.
struct ProgressViewTests {
    private static let running = DaemonState(name: .running)
    private static let holiday = ClientSpool.progress(
        "holiday", done: 20, failed: 1, of: 40, rate: 3.21, left: 12)
    private static let warned = ClientSpool.progress(
        "holiday", done: 20, failed: 1, warned: 3, of: 40, left: 12)
    private static let waiting = ClientSpool.progress(
        "prints", done: 3, of: 1200,
        waiting: ClientSpool.waiting(
            "host-paused", "example.org has asked for a pause of 2 minutes"))
    private static let pending = ClientSpool.progress(
        "winter-in-the-mountains-2026", .pending, of: 7)
    private static let three = [holiday, waiting, pending]

    private static func view(
        _ mode: ProgressMode, on terminal: Terminal
    ) -> (view: ProgressView, output: Recorder) {
        let output = Recorder()
        return (ProgressView(mode, on: terminal, write: output.write), output)
    }

    @Test(arguments: [
        (
            Terminal.screen(80), [holiday], running,
            "holiday  [############------------]   52%  21/40  1 failed  10 s left  3.2/s"
        ),
        (
            .screen(60), [holiday], running,
            "holiday  [######------]   52%  21/40  1 failed  10 s left"
        ),
        (.screen(40), [holiday], running, "holiday  [####----]   52%  21/40"),
        (.screen(24), [holiday], running, "holiday   52%  21/40"),
        (.screen(12), [holiday], running, "holiday\n 52%  21/40"),
        (
            .screen(90), [warned], running,
            "holiday  [############------------]   52%  21/40  1 failed  3 with warnings  10 s left"
        ),
        (
            .screen(80), [holiday], DaemonState(name: .paused),
            """
            The daemon is paused
            holiday  [############------------]   52%  21/40  1 failed
            """
        ),
        (
            .screen(80), three, running,
            """
            holiday                       [####----]   52%  21/40  1 failed  10 s left
            prints                        [--------]    0%  3/1200
              example.org has asked for a pause of 2 minutes
            winter-in-the-mountains-2026  [--------]    0%  0/7  pending
              waits for its turn
            total                         [--------]    1%  24/1247  1 failed  10 s left
            """
        ),
        (
            .screen(40), three, running,
            """
            holiday  [####----]   52%  21/40
            prints   [--------]    0%  3/1200
              example.org has asked for a pause of
              2 minutes
            winter-in-the-mountains-2026
                     [--------]    0%  0/7  pending
              waits for its turn
            total    [--------]    1%  24/1247
            """
        ),
        // The last reason has no room, and the one before has a part of it.
        (
            .screen(40, 8), three, running,
            """
            holiday  [####----]   52%  21/40
            prints   [--------]    0%  3/1200
              example.org has asked for a pause of
              2 minutes
            winter-in-the-mountains-2026
                     [--------]    0%  0/7  pending
            total    [--------]    1%  24/1247
            """
        ),
        (
            .screen(40, 7), three, running,
            """
            holiday  [####----]   52%  21/40
            prints   [--------]    0%  3/1200
              example.org has asked for a pause of
            winter-in-the-mountains-2026
                     [--------]    0%  0/7  pending
            total    [--------]    1%  24/1247
            """
        ),
        // No room for the name.
        (.screen(20, 2), [pending], running, "  0%  0/7  pending"),
        (
            .screen(80, 4), three, running,
            """
            holiday  [############------------]   52%  21/40  1 failed  10 s left  3.2/s
            prints   [------------------------]    0%  3/1200
            total      1%  24/1247  1 not shown  1 failed  10 s left  3.2/s
            """
        ),
        (
            .screen(80, 2), three, running,
            "holiday  [############------------]   52%  21/40  1 failed  10 s left  3.2/s"
        ),
    ])
    func drawsScreens(
        terminal: Terminal, batches: [BatchProgress], daemon: DaemonState, screen: String
    ) throws {
        let (view, output) = Self.view(.auto, on: terminal)
        view.show(batches, daemon, at: 0)
        let shown = VirtualScreen(width: terminal.width ?? 80, height: terminal.height)
        shown.feed(output.take())
        #expect(shown.lines.joined(separator: "\n") == screen)
        #expect(!shown.hasWrapped)
        view.erase()
        shown.feed(output.take())
        #expect(shown.lines == [])
        #expect(shown.cursor == .init(row: 0, column: 0))
    }

    /// An ID that is wider than the screen goes on in the next row, and is erased from all of them.
    @Test(arguments: [10, 14, 28, 27]) func neverCutsAnID(width: Int) {
        let (view, output) = Self.view(.auto, on: .screen(width))
        let screen = VirtualScreen(width: width, height: 24)
        for done in [0, 1] {
            var batch = Self.pending
            batch.counts.filtered += done
            batch.counts.new -= done
            view.show([batch], Self.running, at: Double(done))
            screen.feed(output.take())
            #expect(screen.lines.joined().hasPrefix(batch.id), "\(screen.lines)")
            #expect(screen.lines.contains { $0.contains("\(done)/7") }, "\(screen.lines)")
        }
        view.erase()
        screen.feed(output.take())
        #expect(screen.lines == [])
        #expect(screen.cursor == .init(row: 0, column: 0))
    }

    @Test func wrapsSentencesAtWords() {
        let (view, output) = Self.view(.plain, on: .screen(40))
        view.show([Self.waiting], Self.running, at: 0)
        #expect(
            output.take() == """
                prints: processing, 3 of 1200 images;
                  example.org has asked for a pause of 2
                  minutes

                """)
    }

    @Test func drawsOnlyChangesAndAtMostFiveTimesASecond() {
        let (view, output) = Self.view(.tty, on: .screen(80))
        var batch = Self.holiday
        #expect(view.show([batch], Self.running, at: 10) == nil)
        #expect(output.take() != "")
        #expect(view.show([batch], Self.running, at: 11) == nil)
        #expect(output.take() == "")
        batch.counts.filtered += 1
        #expect(view.show([batch], Self.running, at: 11) == nil)
        #expect(output.take() != "")
        batch.counts.filtered += 1
        let wait = view.show([batch], Self.running, at: 11.0625)
        #expect(wait.map { ($0 * 10000).rounded() } == 1375)
        #expect(output.take() == "")
        #expect(view.show([batch], Self.running, at: 11.2) == nil)
        #expect(output.take().contains("23/40"))
    }

    @Test func leavesNothingOnANarrowerScreen() {
        let (view, output) = Self.view(.tty, on: .screen(80))
        let screen = VirtualScreen(width: 80, height: 24)
        view.show([Self.holiday, Self.waiting], Self.running, at: 0)
        screen.feed(output.take())
        screen.rewrap(to: 40)
        view.resize(to: .screen(40))
        screen.feed(output.take())
        #expect(screen.lines == [])
        view.show([Self.holiday], Self.running, at: 0.1)
        screen.feed(output.take())
        #expect(screen.lines == ["holiday  [####----]   52%  21/40"])
    }

    /// A run has one batch, which waits for no other.
    @Test func saysThatARunPrepares() {
        let (view, output) = Self.view(.plain, on: .pipe)
        let batch = ClientSpool.progress("holiday", .pending, of: 40)
        _ = view.show([batch], DaemonState(ofRun: true), at: 0)
        #expect(output.take() == "holiday: pending, 0 of 40 images; is being prepared\n")
    }

    /// Whoever holds a batch is named with its state, which is said once.
    @Test func saysOnceThatABatchIsHeld() {
        let (view, output) = Self.view(.plain, on: .pipe)
        var batch = ClientSpool.progress("holiday", .held, of: 2)
        view.show([batch], Self.running, at: 0)
        #expect(output.take() == "holiday: held, 0 of 2 images\n")
        batch.commands = [ControlRecord(.hold, time: ClientSpool.time(100), uid: 0)]
        view.show([batch], Self.running, at: 1)
        #expect(output.take() == "holiday: held by root, 0 of 2 images\n")
        view.show([batch], DaemonState(name: .stopped), at: 2)
        #expect(output.take() == "holiday: held, 0 of 2 images; no daemon is running\n")
    }

    @Test func saysChangesAndThatItGoesOn() {
        let output = Recorder()
        let dumb = Terminal(isTerminal: true, canRedraw: false, width: 80)
        let view = ProgressView(.auto, on: dumb, write: output.write)
        var batch = ClientSpool.progress("holiday", .pending, of: 40)
        #expect(view.show([batch], Self.running, at: 0) == 30)
        #expect(output.take() == "holiday: pending, 0 of 40 images; waits for its turn\n")
        batch = ClientSpool.progress("holiday", done: 1, of: 40, rate: 2, left: 20)
        #expect(view.show([batch], Self.running, at: 5) == 30)
        #expect(
            output.take() == "holiday: processing, 1 of 40 images, 2.0 images/s, about 20 s left\n")
        batch.counts.filtered = 2
        #expect(view.show([batch], Self.running, at: 15) == 20)
        #expect(output.take() == "")
        #expect(view.show([batch], Self.running, at: 35) == 30)
        #expect(
            output.take() == "holiday: processing, 2 of 40 images, 2.0 images/s, about 20 s left\n")
        #expect(view.show([batch], DaemonState(name: .killed), at: 36) == 30)
        #expect(
            output.take()
                == "holiday: processing, 2 of 40 images; the daemon was killed and has not been\n  started again\n"
        )
        // How it ends is a result and not progress.
        batch.state = .completed
        #expect(view.show([batch], Self.running, at: 70) == nil)
        view.erase()
        #expect(output.take() == "")
    }

    @Test func groupsManyBatchesInHeartbeats() {
        let (view, output) = Self.view(.plain, on: .pipe)
        let batches = (1...7).map { ClientSpool.progress("b\($0)", done: 1, of: 2) }
        view.show(batches, Self.running, at: 0)
        #expect(output.take().split(separator: "\n").count == 7)
        view.show(batches, Self.running, at: 30)
        #expect(
            output.take() == (1...5).map { "b\($0): processing, 1 of 2 images\n" }.joined()
                + "and 2 other batches\n")
    }

    @Test func tellsEventsOfWhatChanged() throws {
        let (view, output) = Self.view(.json, on: .pipe)
        var batches = [Self.holiday, Self.pending]
        view.show(batches, Self.running, at: 0)
        #expect(output.take().split(separator: "\n").count == 2)
        view.show(batches, Self.running, at: 1)
        #expect(output.take() == "")
        batches[1].counts.filtered = 1
        view.show(batches, Self.running, at: 2)
        let line = output.take()
        #expect(line == JSONText.line("progress", batches[1]) + "\n")
        #expect(line.contains(#""type":"progress""#) && line.contains(#""filtered":1"#))
    }

    @Test func showsNothingIfNobodyWantsIt() {
        let (view, output) = Self.view(.none, on: .screen(80))
        #expect(view.show([Self.holiday], Self.running, at: 0) == nil)
        view.erase()
        #expect(output.text == "")
    }

    @Test func paintsWithoutAnEffectOnTheLayout() {
        let output = Recorder()
        var terminal = Terminal.screen(40)
        terminal.hasColor = true
        let view = ProgressView(.tty, on: terminal, write: output.write)
        let screen = VirtualScreen(width: 40, height: 24)
        view.show([Self.waiting], DaemonState(name: .paused), at: 0)
        screen.feed(output.take())
        #expect(screen.lines == ["The daemon is paused", "prints  [--------]    0%  3/1200"])
        view.erase()
        screen.feed(output.take())
        #expect(screen.lines == [])
    }
}

/// Collects what is written.
final class Recorder {
    private(set) var text = ""

    func write(_ text: String) { self.text += text }

    func take() -> String {
        defer { text = "" }
        return text
    }
}
