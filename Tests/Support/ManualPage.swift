import Foundation

/// A manual page of `etc/man`, read as far as the tests hold it against the program: its sections, the items of its
/// lists, and the displays that a comment marks as examples.
package struct ManualPage: Sendable {
    /// An item of a list.
    package struct Item: Sendable {
        /// The headings that it stands beneath; `subsection` is empty where there is none.
        package let section: String
        package let subsection: String
        /// The macro of its name, such as `Cm`; empty for plain words.
        package let macro: String
        /// What the item is the name of; several where commas stand between them.
        package let names: [String]
        /// The text below it, macros and their arguments included, without the lists in it.
        package fileprivate(set) var lines: [String] = []
        /// The items of the lists in it.
        package fileprivate(set) var children: [Item] = []

        /// The text in one line, without the names of macros.
        package var text: String {
            lines.map { line in
                line.hasPrefix(".") ? String(line.drop { $0 != " " }.dropFirst()) : line
            }.joined(separator: " ")
        }
    }

    /// A display below a comment `example: KIND WORD...`.
    package struct Example: Sendable, CustomStringConvertible {
        package let kind: String
        package let words: [String]
        package let text: String
        /// The page's name and the comment's line.
        package let place: String

        package var description: String { "\(place), \(kind)" }

        /// The value of a word `name=value`.
        package func value(_ name: String) -> String? {
            words.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
        }
    }

    package static let folder = Repository.root.appending(path: "etc/man")
    package static let names = [
        "darkroom.1", "darkroomd.8", "darkroomd.yaml.5", "darkroom-manifest.5", "darkroom-status.5",
        "darkroom-metrics.7", "darkroom-notify.service.8",
    ]

    package let name: String
    package private(set) var items: [Item] = []
    package private(set) var examples: [Example] = []
    /// The page's lines, special characters as they are meant.
    package let lines: [String]

    package init(_ name: String) throws {
        self.name = name
        let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { Self.unescaped(String($0)) }
        readItems()
        readExamples()
    }

    /// The items of the outermost lists beneath these headings, whichever subsection if none is named.
    package func items(_ section: String, _ subsection: String? = nil) -> [Item] {
        items.filter {
            $0.section == section && (subsection == nil || $0.subsection == subsection)
        }
    }

    package func examples(_ kind: String) -> [Example] { examples.filter { $0.kind == kind } }

    // MARK: Reading

    /// The few escapes that the pages have.
    private static func unescaped(_ line: String) -> String {
        let escapes = [
            ("\\-", "-"), ("\\&", ""), ("\\(aq", "'"), ("\\(dq", "\""), ("\\(oq", "‘"),
            ("\\(cq", "’"), ("\\(ha", "^"), ("\\(ti", "~"), ("\\e", "\\"),
        ]
        return escapes.reduce(line) { $0.replacing($1.0, with: $1.1) }
    }

    private mutating func readItems() {
        var section = ""
        var subsection = ""
        /// For each list that has begun, the outermost first, its items so far.
        var lists: [[Item]] = []
        for line in lines {
            if line.hasPrefix(".Sh ") {
                section = String(line.dropFirst(4))
                subsection = ""
            } else if line.hasPrefix(".Ss ") {
                subsection = String(line.dropFirst(4))
            } else if line.hasPrefix(".Bl ") {
                lists.append([])
            } else if line == ".El" {
                guard let list = lists.popLast() else { continue }
                if let last = lists.indices.last, !lists[last].isEmpty {
                    lists[last][lists[last].count - 1].children += list
                } else {
                    items += list
                }
            } else if let last = lists.indices.last {
                if line.hasPrefix(".It") {
                    lists[last].append(Self.item(String(line.dropFirst(4)), section, subsection))
                } else if !lists[last].isEmpty {
                    lists[last][lists[last].count - 1].lines.append(line)
                }
            }
        }
    }

    private static func item(_ words: String, _ section: String, _ subsection: String) -> Item {
        let parts = words.split(separator: " ").map(String.init)
        let macros: Set = ["Cm", "Va", "Fl", "Dv", "Ev", "Li", "Pa"]
        let isMacro = parts.count > 1 && macros.contains(parts[0])
        let names = isMacro ? parts.filter { $0 != "," && !macros.contains($0) } : [words]
        return Item(
            section: section, subsection: subsection, macro: isMacro ? parts[0] : "", names: names)
    }

    private mutating func readExamples() {
        let mark = ".\\\" example: "
        for (index, line) in lines.enumerated() where line.hasPrefix(mark) {
            let words = line.dropFirst(mark.count).split(separator: " ").map(String.init)
            let display = lines[(index + 1)...].drop { !$0.hasPrefix(".Bd") }.dropFirst()
            let text = display.prefix { $0 != ".Ed" }.joined(separator: "\n") + "\n"
            examples.append(
                Example(
                    kind: words[0], words: Array(words.dropFirst()), text: text,
                    place: "\(name):\(index + 1)"))
        }
    }
}
