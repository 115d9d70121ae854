import Foundation

/// A document in Markdown, read as far as the tests hold it against the repository: headings, links, code and the
/// blocks that a comment marks as examples.
package struct MarkdownDocument: Sendable {
    /// A link or a picture.
    package struct Link: Sendable {
        package let target: String
        package let line: Int
    }

    /// A block between fences.
    package struct Block: Sendable {
        /// The word behind the opening fence.
        package let language: String
        package let text: String
        /// The line of the opening fence.
        package let line: Int
        /// What a comment above it, `<!-- example: KIND WORD... -->`, says of it.
        package let example: ManualPage.Example?
    }

    /// A word in code that names a file or a folder of the repository.
    package struct Path: Sendable, Hashable {
        package let text: String
        package let line: Int
    }

    /// The README and all of `etc/doc`.
    package static func names() throws -> [String] {
        let folder = Repository.root.appending(path: "etc/doc").path
        let pages = try FileManager.default.contentsOfDirectory(atPath: folder)
        return ["README.md"] + pages.filter { $0.hasSuffix(".md") }.sorted().map { "etc/doc/\($0)" }
    }

    /// The path in the repository.
    package let name: String
    package let lines: [String]
    package private(set) var headings: [(text: String, line: Int)] = []
    package private(set) var links: [Link] = []
    /// What stands between backquotes, and where.
    package private(set) var spans: [Path] = []
    package private(set) var blocks: [Block] = []
    /// By the headings above them, the cells of each row of a table.
    package private(set) var rows: [(heading: String, cells: [String])] = []

    package init(_ name: String) throws {
        self.name = name
        let text = try String(
            contentsOf: Repository.root.appending(path: name), encoding: .utf8)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        read()
    }

    /// The names by which links find the headings, as GitHub makes them.
    package var anchors: Set<String> {
        Set(
            headings.map { heading in
                let kept = heading.text.lowercased().filter {
                    $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_"
                }
                return kept.replacing(" ", with: "-")
            })
    }

    package var examples: [ManualPage.Example] { blocks.compactMap(\.example) }

    package func examples(_ kind: String) -> [ManualPage.Example] {
        examples.filter { $0.kind == kind }
    }

    /// The words in code that name something in the repository, from its root.
    package var paths: [Path] {
        let code = spans + blocks.map { Path(text: $0.text, line: $0.line) }
        return code.flatMap { code in
            code.text.split(whereSeparator: { $0.isWhitespace || "<>()\"'|".contains($0) })
                .filter { word in
                    Self.folders.contains { word.hasPrefix($0 + "/") } && !word.contains("*")
                }
                .map { Path(text: String($0), line: code.line) }
        }
    }

    private static let folders = ["Sources", "Tests", "etc", "systemd"]

    // MARK: Reading

    private mutating func read() {
        var index = 0
        var example: [String]?
        while index < lines.count {
            let line = lines[index]
            if line.hasPrefix("```") {
                let text = lines[(index + 1)...].prefix { $0 != "```" }
                append(text, language: String(line.dropFirst(3)), at: index, example)
                index += text.count + 2
                example = nil
                continue
            }
            if let match = line.wholeMatch(of: /<!-- example: (.+) -->/) {
                example = match.1.split(separator: " ").map(String.init)
            } else {
                readProse(line, at: index + 1)
            }
            index += 1
        }
    }

    private mutating func append(
        _ text: ArraySlice<String>, language: String, at index: Int, _ words: [String]?
    ) {
        let text = text.joined(separator: "\n") + "\n"
        let example = words.map {
            ManualPage.Example(
                kind: $0[0], words: Array($0.dropFirst()), text: text,
                place: "\(name):\(index + 1)")
        }
        blocks.append(Block(language: language, text: text, line: index + 1, example: example))
    }

    private mutating func readProse(_ line: String, at number: Int) {
        if let match = line.wholeMatch(of: /#+ (.+)/) {
            headings.append((String(match.1), number))
        }
        if line.hasPrefix("|") {
            let cells = line.dropFirst().dropLast().split(
                separator: "|", omittingEmptySubsequences: false)
            rows.append(
                (
                    headings.last?.text ?? "",
                    cells.map { $0.trimmingCharacters(in: .whitespaces) }
                ))
        }
        for match in line.matches(of: /\]\(([^)\s]+)\)/) {
            links.append(Link(target: String(match.1), line: number))
        }
        for match in line.matches(of: /`([^`]+)`/) {
            spans.append(Path(text: String(match.1), line: number))
        }
    }
}
