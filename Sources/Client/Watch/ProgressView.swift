import DarkroomAnswer
import DarkroomCore

/// `--progress`: how the progress of batches is shown on standard error.
package enum ProgressMode: String, Sendable, CaseIterable {
    /// `tty` on a terminal whose cursor can be moved, else `plain`.
    case auto
    /// A picture that is drawn again.
    case tty
    /// A line for each change of state, and one every 30 seconds.
    case plain
    /// JSON Lines: an event for each change.
    case json
    case none

    package func resolved(_ terminal: Terminal) -> ProgressMode {
        self == .auto ? terminal.canRedraw ? .tty : .plain : self
    }
}

/// Shows the progress of batches while somebody waits for them.
///
/// On a terminal it draws a few lines and draws them again when something has changed, at most five times a second.
/// `erase()` removes them, so nothing is left. The cursor stays visible, so that a killed command leaves a usable
/// terminal.
///
/// The caller gives the time, so that tests need no clock.
package final class ProgressView {
    /// The seconds between two pictures.
    private static let interval = 0.2
    /// The seconds between two lines that say that the work goes on.
    private static let heartbeat = 30.0
    /// The number of batches that have a line of their own in such a heartbeat.
    private static let heartbeatLines = 5

    private let mode: ProgressMode
    private var terminal: Terminal
    private let write: (String) -> Void
    private var drawn: [String] = []
    private var lastDrawing = -Double.infinity
    /// What was last said about each batch, by its place.
    private var said: [String] = []
    private var lastLine = -Double.infinity
    private var lastEvents: [BatchProgress] = []

    package init(_ mode: ProgressMode, on terminal: Terminal, write: @escaping (String) -> Void) {
        self.mode = mode.resolved(terminal)
        self.terminal = terminal
        self.write = write
    }

    /// Shows the present progress of the batches, of which there are always the same.
    ///
    /// - Parameter seconds: the time of a clock that nobody sets.
    /// - Returns: the seconds until it must be called again although nothing changes; nil if never.
    @discardableResult
    package func show(
        _ batches: [BatchProgress], _ daemon: DaemonState, at seconds: Double
    ) -> Double? {
        switch mode {
        case .tty, .auto: return draw(batches, daemon, at: seconds)
        case .plain: return say(batches, daemon, at: seconds)
        case .json:
            tell(batches, daemon)
            return nil
        case .none: return nil
        }
    }

    package func erase() {
        guard !drawn.isEmpty else { return }
        write(home() + "\u{1B}[J")
        drawn = []
        lastDrawing = -.infinity
    }

    package func resize(to terminal: Terminal) {
        self.terminal = terminal
        erase()
    }

    // MARK: A terminal

    private func draw(
        _ batches: [BatchProgress], _ daemon: DaemonState, at seconds: Double
    ) -> Double? {
        let lines = ProgressFrame(batches.filter { !$0.state.isFinal }, daemon, terminal).lines
        guard lines != drawn else { return nil }
        let wait = lastDrawing + Self.interval - seconds
        guard wait <= 0 else { return wait }
        let text = lines.map(cleared).joined(separator: "\r\n")
        write(home() + text + "\u{1B}[J")
        drawn = lines
        lastDrawing = seconds
        return nil
    }

    /// A line, and nothing behind it. It is cleared only behind its new text, so nothing flickers. If the text ends in the
    /// last column, the cursor is still there, and clearing would remove the last character.
    private func cleared(_ line: String) -> String {
        let columns = DisplayWidth.ofPainted(line)
        let isFull = columns > 0 && columns.isMultiple(of: terminal.columns)
        return isFull ? "\u{1B}[K\(line)" : "\(line)\u{1B}[K"
    }

    /// Moves the cursor to the first column of the first drawn line. A terminal that has become narrower has wrapped
    /// the lines.
    private func home() -> String {
        let rows = terminal.rows(of: drawn)
        return rows > 1 ? "\r\u{1B}[\(min(rows - 1, max(0, terminal.height - 1)))A" : "\r"
    }

    // MARK: Lines

    private func say(
        _ batches: [BatchProgress], _ daemon: DaemonState, at seconds: Double
    ) -> Double? {
        if said.count != batches.count { said = Array(repeating: "", count: batches.count) }
        let unfinished = batches.indices.filter { !batches[$0].state.isFinal }
        var isNews = false
        for place in unfinished {
            let batch = batches[place]
            let news = "\(batch.state) \(batch.reason(daemon) ?? "")"
            guard news != said[place] else { continue }
            said[place] = news
            isNews = true
            say(Self.sentence(batch, daemon))
        }
        if isNews { lastLine = seconds }
        guard !unfinished.isEmpty else { return nil }
        if seconds - lastLine >= Self.heartbeat {
            for place in unfinished.prefix(Self.heartbeatLines) {
                say(Self.sentence(batches[place], daemon))
            }
            let others = unfinished.count - Self.heartbeatLines
            if others > 0 { say("and \(Words.count(others, "other batch", "other batches"))") }
            lastLine = seconds
        }
        return lastLine + Self.heartbeat - seconds
    }

    /// On a terminal, lines end between words.
    private func say(_ sentence: String) {
        for line in sentence.wrapped(to: terminal.width, indent: 2) { write(line + "\n") }
    }

    static func sentence(_ batch: BatchProgress, _ daemon: DaemonState) -> String {
        let counts = batch.counts
        let state = batch.state.words
        let reason = batch.reason(daemon) ?? ""
        // A reason such as "held by root" says the state too.
        let saysState = reason.hasPrefix(state)
        var parts = [
            "\(batch.id.visible): \(saysState ? reason : state)",
            "\(counts.finished) of \(Words.count(counts.total, "image"))",
        ]
        if counts.failed > 0 { parts.append("\(counts.failed) failed") }
        if let warnings = counts.warningText { parts.append(warnings) }
        if batch.state == .processing, daemon.name == .running {
            if let rate = batch.imagesPerSecond { parts.append("\(HumanText.rate(rate)) images/s") }
            if let left = batch.secondsLeft {
                parts.append("about \(HumanText.estimate(left)) left")
            }
        }
        return parts.joined(separator: ", ")
            + (saysState || reason.isEmpty ? "" : "; \(reason)")
    }

    // MARK: Events

    private func tell(_ batches: [BatchProgress], _ daemon: DaemonState) {
        for (place, batch) in batches.enumerated()
        where !lastEvents.indices.contains(place) || lastEvents[place] != batch {
            write(JSONText.line("progress", batch) + "\n")
        }
        lastEvents = batches
    }
}

extension DisplayWidth {
    /// The width of text with control sequences of styles.
    static func ofPainted(_ text: String) -> Int {
        var isStyle = false
        return text.unicodeScalars.reduce(0) { width, scalar in
            if scalar == "\u{1B}" { isStyle = true }
            if isStyle {
                if scalar == "m" { isStyle = false }
                return width
            }
            return width + of(scalar)
        }
    }
}
