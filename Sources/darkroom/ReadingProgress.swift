import DarkroomClient
import DarkroomCore
import Glibc

/// Says on standard error how much has been looked at, if that takes longer than a second.
///
/// On a terminal it is one line, which changes and disappears. Elsewhere it is a line after the first second and then
/// every 30 seconds.
final class ReadingProgress {
    private static let second: UInt64 = 1_000_000_000

    private let words: String
    private let one: String
    private let many: String
    private let terminal = Terminal(STDERR_FILENO)
    private let mode: ProgressMode
    private var due = Clock.nanoseconds + second
    private var isShown = false

    /// - Parameters:
    ///   - words: such as "Reading outputs".
    ///   - one: what is counted.
    ///   - mode: `--progress`; without events, `json` shows nothing.
    init(
        _ words: String, _ one: String = "image", _ many: String = "images", mode: ProgressMode
    ) {
        self.mode = mode.resolved(terminal)
        self.words = words
        self.one = one
        self.many = many
    }

    func show(_ done: Int, of total: Int) {
        let now = Clock.nanoseconds
        guard now >= due, mode == .tty || mode == .plain else { return }
        due = now + (mode == .tty ? Self.second / 5 : 30 * Self.second)
        let text = "\(words): \(done) of \(Words.count(total, one, many))"
        if mode == .tty {
            let line = text.prefix(max(1, (terminal.width ?? 80) - 1))
            try? Console.write("\r\u{1B}[K\(line)", to: STDERR_FILENO)
            isShown = true
        } else {
            Console.complain("\(text).")
        }
    }

    /// Removes the line from a terminal.
    func clear() {
        guard isShown else { return }
        try? Console.write("\r\u{1B}[K", to: STDERR_FILENO)
        isShown = false
    }
}
