import Foundation
import Testing

@testable import DarkroomClient

struct TerminalTests {
    @Test(arguments: [
        // option, terminal, environment, result
        (ColorChoice.auto, true, ["TERM": "xterm"], true),
        (.auto, false, ["TERM": "xterm"], false),
        (.auto, true, ["TERM": "dumb"], false),
        (.auto, true, [:], false),
        (.auto, true, ["TERM": "xterm", "NO_COLOR": "1"], false),
        (.auto, true, ["TERM": "xterm", "NO_COLOR": ""], true),
        (.auto, false, ["CLICOLOR_FORCE": "1"], true),
        (.auto, false, ["CLICOLOR_FORCE": "0"], false),
        (.auto, false, ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], false),
        (.auto, true, ["TERM": "xterm", "CLICOLOR": "0"], false),
        (.always, false, ["NO_COLOR": "1"], true),
        (.never, true, ["TERM": "xterm", "CLICOLOR_FORCE": "1"], false),
    ])
    func choosesColors(
        choice: ColorChoice, isTerminal: Bool, environment: [String: String], isOn: Bool
    ) {
        #expect(choice.isOn(isTerminal: isTerminal, environment: environment) == isOn)
    }

    /// A terminal shows JSON as it is, so nothing in it may be obeyed or change the order of the line.
    @Test func jsonHoldsNoControlCharacters() throws {
        let names = ["a\u{1B}[31m\u{7F}\u{9B}2J", "\u{202E}gnp.a\u{2028}", "été 写真 👩‍👩‍👧", "\"\\\n\t"]
        for text in [JSONText.line("names", ["all": names]), JSONText.indented(["all": names])] {
            let bad = text.unicodeScalars.filter { $0.isControl && $0 != "\n" }
            #expect(bad.isEmpty, "\(bad)")
            #expect(
                text.contains("\\u001b[31m\\u007f\\u009b2J") || text.contains("\\u001B"), "\(text)")
            #expect(text.contains("\\u202egnp.a\\u2028") && text.contains("été 写真 👩‍👩‍👧"))
            let decoded = try JSONDecoder().decode(Names.self, from: Data(text.utf8))
            #expect(decoded.all == names)
        }
    }

    private struct Names: Decodable {
        let all: [String]
    }

    @Test(arguments: [
        (["LANG": "en_GB.UTF-8"], true), (["LANG": "C.utf8"], true), (["LANG": "C"], false),
        ([:], false),
        (["LC_ALL": "POSIX", "LANG": "en_GB.UTF-8"], false),
        (["LC_ALL": "", "LC_CTYPE": "C.UTF-8"], true),
    ])
    func knowsTheCharacters(environment: [String: String], isUTF8: Bool) {
        #expect(Terminal(-1, environment: environment).isUTF8 == isUTF8)
    }

    @Test func aPipeIsNoTerminal() {
        let terminal = Terminal(-1, environment: ["TERM": "xterm", "COLUMNS": "40"])
        #expect(!terminal.isTerminal)
        #expect(!terminal.canRedraw)
        #expect(!terminal.hasColor)
        #expect(terminal.width == nil)
    }

    private static func table() -> TextTable {
        var table = TextTable([
            .init("ID"), .init("DONE", isNumber: true),
            .init("USER", minimum: 4, dispensability: 2),
            .init("REASON", minimum: 8, comfortable: 12, dispensability: 1),
        ])
        table.append([.init("holiday"), .init("2/12"), .init("anna"), .init("")])
        table.append([
            .init("日本の旅行写真"), .init("0/3"), .init("0"), .init("example.org has asked for\na pause"),
        ])
        return table
    }

    @Test(arguments: [
        (
            nil,
            """
            ID              DONE  USER  REASON
            holiday         2/12  anna  -
            日本の旅行写真   0/3  0     example.org has asked for\\na pause
            """
        ),
        (
            40,
            """
            ID              DONE  USER  REASON
            holiday         2/12  anna  -
            日本の旅行写真   0/3  0     example.org…
            """
        ),
        (
            30,
            """
            ID              DONE  REASON
            holiday         2/12  -
            日本の旅行写真   0/3  example…
            """
        ),
        (
            22,
            """
            ID       DONE
            holiday  2/12
            日本の旅行写真
                      0/3
            """
        ),
        (
            6,
            """
            ID  DONE
            holiday
                2/12
            日本の旅行写真
                 0/3
            """
        ),
    ])
    func fitsTables(width: Int?, lines: String) {
        let terminal = Terminal(isTerminal: width != nil, canRedraw: false, width: width)
        #expect(Self.table().lines(on: terminal).joined(separator: "\n") == lines)
    }

    @Test func paintsWithoutAnEffectOnTheLayout() {
        var plain = Terminal(isTerminal: true, canRedraw: true, width: 40)
        let lines = Self.table().lines(on: plain)
        plain.hasColor = true
        let painted = Self.table().lines(on: plain)
        #expect(
            painted.first == "\u{1B}[2mID\u{1B}[0m              \u{1B}[2mDONE\u{1B}[0m  "
                + "\u{1B}[2mUSER\u{1B}[0m  \u{1B}[2mREASON\u{1B}[0m")
        #expect(painted.dropFirst().elementsEqual(lines.dropFirst()))
    }

    // MARK: Lines of text

    /// The lines are nil where the text stays as it is.
    private static let wrappings: [(width: Int?, indent: Int, text: String, lines: [String]?)] = [
        (nil, 4, "  owl: one  two three", nil),
        (21, 4, "  owl: one  two three", nil),
        (20, 4, "  owl: one  two three", ["  owl: one  two", "    three"]),
        (10, 4, "  owl: one  two three", ["  owl: one", "    two", "    three"]),
        // What is longer than a line stays whole, on a line of its own unless only a label would stand before it.
        (
            12, 4, "  owl: /a/very/long/path is", ["  owl:", "    /a/very/long/path", "    is"]
        ),
        (
            12, 10, "  answer  /a/very/long/path is",
            ["  answer  /a/very/long/path", "          is"]
        ),
        (12, 0, "写真写真 写真写真", ["写真写真", "写真写真"]),
        (8, 0, "e\u{301}e\u{301}e\u{301} e\u{301}e\u{301}e\u{301}e\u{301}", nil),
        (9, 0, "👩‍👩‍👧 a", nil),
        (12, 0, "to my file now", ["to my file", "now"]),
        (10, 0, "to my file now", ["to my file", "now"]),
        (9, 0, "to my file now", ["to", "my file", "now"]),
        (8, 0, "", nil),
        // A number stays with its unit.
        (10, 0, "has 66 KiB, all", ["has", "66 KiB,", "all"]),
        (12, 0, "it takes 12 s more", ["it takes", "12 s more"]),
        (10, 0, "has 66 images", ["has 66", "images"]),
    ]

    @Test(arguments: wrappings.indices) func wrapsAtWords(place: Int) {
        let wrapping = Self.wrappings[place]
        #expect(
            wrapping.text.wrapped(
                to: wrapping.width, indent: wrapping.indent, keeping: ["my file"])
                == wrapping.lines ?? [wrapping.text])
    }

    @Test func wrapsTheLastColumn() {
        var table = TextTable([.init("RECIPE"), .init("WHAT IT DOES", minimum: 12, wraps: true)])
        table.append([.init("web"), .init("small pictures for the web, with a logo")])
        table.append([.init("x"), .init("-")])
        let terminal = Terminal(isTerminal: true, canRedraw: true, width: 26)
        #expect(
            table.lines(on: terminal) == [
                "RECIPE  WHAT IT DOES", "web     small pictures for", "        the web, with a",
                "        logo", "x       -",
            ])
    }
}
