import DarkroomClient
import DarkroomCore
import Glibc

/// Says on standard error how much of the pictures is copied, if that takes longer than a second.
///
/// On a terminal it is one line, which changes and disappears. Elsewhere it is a line after the first second and then
/// every 30 seconds.
struct CopyProgress {
    private static let second: UInt64 = 1_000_000_000

    private let count: Int
    private let total: Int
    private let terminal = Terminal(STDERR_FILENO)
    private var done = 0
    private var due = Clock.nanoseconds + second
    private var isShown = false

    init(of sources: SentSources) {
        count = sources.items.count
        total = sources.bytes
    }

    mutating func advance(by bytes: Int) {
        done += bytes
        let now = Clock.nanoseconds
        guard now >= due else { return }
        due = now + (terminal.canRedraw ? Self.second / 5 : 30 * Self.second)
        let text =
            "Copying \(Words.count(count, "picture")): \(Self.size(done)) of \(Self.size(total))"
        if terminal.canRedraw {
            let line = text.prefix(max(1, (terminal.width ?? 80) - 1))
            try? Console.write("\r\u{1B}[K\(line)", to: STDERR_FILENO)
            isShown = true
        } else {
            Console.complain("\(text).")
        }
    }

    /// Removes the line from a terminal.
    mutating func clear() {
        guard isShown else { return }
        try? Console.write("\r\u{1B}[K", to: STDERR_FILENO)
        isShown = false
    }

    private static func size(_ bytes: Int) -> String { HumanText.bytes(Double(bytes)) }
}
