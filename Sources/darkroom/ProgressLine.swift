import DarkroomClient
import DarkroomCore
import Glibc

/// One line on standard error that says how far something is. On a terminal it changes and disappears. Elsewhere it is a
/// line after the first second and then every 30 seconds.
final class ProgressLine {
    private let terminal = Terminal(STDERR_FILENO)
    private let mode: ProgressMode
    private let write: (String) -> Void
    /// When it is written next, by `Clock.uptime`.
    private var due: Double
    private var isShown = false

    /// - Parameters:
    ///   - mode: `--progress`; without events, `json` shows nothing.
    ///   - first: the seconds before the first line, on a terminal and elsewhere.
    ///   - write: writes a line that stays.
    init(
        _ mode: ProgressMode = .auto, first: (tty: Double, plain: Double) = (1, 1),
        write: @escaping (String) -> Void = { Console.complain("\($0).") }
    ) {
        self.mode = mode.resolved(terminal)
        self.write = write
        due = Clock.uptime + (self.mode == .tty ? first.tty : first.plain)
    }

    func show(_ text: @autoclosure () -> String) {
        guard mode == .tty || mode == .plain, Clock.uptime >= due else { return }
        due = Clock.uptime + (mode == .tty ? 0.2 : 30)
        guard mode == .tty else { return write(text()) }
        let line = text().prefix(max(1, (terminal.width ?? 80) - 1))
        try? Console.write("\r\u{1B}[K\(line)", to: STDERR_FILENO)
        isShown = true
    }

    func clear() {
        guard isShown else { return }
        try? Console.write("\r\u{1B}[K", to: STDERR_FILENO)
        isShown = false
    }
}

/// How many images or batches have been looked at.
struct ReadingProgress {
    private let words: String
    private let one: String
    private let many: String
    private let line: ProgressLine

    /// - Parameters:
    ///   - words: such as "Reading outputs".
    ///   - one: what is counted.
    ///   - mode: `--progress`.
    init(_ words: String, _ one: String = "image", _ many: String = "images", mode: ProgressMode) {
        self.words = words
        self.one = one
        self.many = many
        line = ProgressLine(mode)
    }

    func show(_ done: Int, of total: Int) {
        line.show("\(words): \(done) of \(Words.count(total, one, many))")
    }

    func clear() { line.clear() }
}
