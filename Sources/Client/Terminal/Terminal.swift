import Foundation
import Glibc

/// What a stream can show: a terminal with its size, or a file or pipe without any limit.
package struct Terminal: Sendable, Equatable {
    package var isTerminal: Bool
    package var canRedraw: Bool
    package var hasColor = false
    /// Whether the locale has characters outside ASCII.
    package var isUTF8 = true
    /// The number of columns to which lines are cut; nil if nothing is cut.
    package var width: Int?
    /// The number of lines of the screen.
    package var height = 24
}

extension Terminal {
    package init(
        _ descriptor: CInt, color: ColorChoice = .auto,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        let isTerminal = isatty(descriptor) == 1
        self.init(
            isTerminal: isTerminal, canRedraw: isTerminal && !Self.isDumb(environment),
            hasColor: color.isOn(isTerminal: isTerminal, environment: environment),
            isUTF8: Self.isUTF8(environment))
        guard isTerminal else { return }
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0
        width =
            isKnown && size.ws_col > 0
            ? Int(size.ws_col) : environment["COLUMNS"].flatMap { Int($0) } ?? 80
        height =
            isKnown && size.ws_row > 0
            ? Int(size.ws_row) : environment["LINES"].flatMap { Int($0) } ?? 24
    }

    static func isDumb(_ environment: [String: String]) -> Bool {
        ["", "dumb", "unknown"].contains(environment["TERM"] ?? "")
    }

    /// As setlocale(3) finds the locale: the first variable that is not empty decides.
    private static func isUTF8(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy
            .compactMap { environment[$0] }.first { !$0.isEmpty }
        let name = (locale ?? "").lowercased()
        return name.contains("utf-8") || name.contains("utf8")
    }

    package var ellipsis: String { isUTF8 ? "…" : "~" }

    /// The text in a style, if the stream has colours.
    package func paint(_ text: String, _ style: TextStyle?) -> String {
        guard hasColor, let style, !text.isEmpty else { return text }
        return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }

    var columns: Int { max(1, width ?? 80) }

    /// The rows of the screen that lines take. A word that is wider than the screen goes on in the next row.
    func rows(of lines: [String]) -> Int {
        lines.reduce(0) { $0 + max(1, (DisplayWidth.ofPainted($1) + columns - 1) / columns) }
    }
}

/// The style of a piece of text. It never has a meaning that the text does not have.
/// Its value is the parameter of the terminal's control sequence SGR (ECMA-48).
package enum TextStyle: Int, Sendable {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33
    case cyan = 36
}
