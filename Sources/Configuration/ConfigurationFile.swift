import DarkroomCore
import DarkroomManifest
import Foundation
import Yams

/// The configuration file: YAML. The nested keys are joined by dots.
package struct ConfigurationFile: Sendable {
    package struct Entry: Sendable, Equatable {
        package let text: String
        package let line: Int
    }

    package private(set) var entries: [String: Entry] = [:]
    package private(set) var problems: [ConfigurationProblem] = []
    private let path: String
    /// The line of each key and each section read so far.
    private var lines: [String: Int] = [:]

    /// Reads the file's text; `problems` has all errors.
    package init(path: String, text: String) {
        self.path = path
        do {
            read(try Self.keys(text), prefix: "")
        } catch is NotAMap {
            complain(0, "must be a map of keys")
        } catch let error as ManifestProblem {
            complain(error.line ?? 0, error.message)
        } catch let error as YamlError {
            let (line, words) = Self.place(of: error)
            complain(line, "this is not YAML: \(words)")
        } catch {
            complain(0, "this is not YAML: \(error)")
        }
    }

    private struct NotAMap: Error {}

    private struct Key {
        let name: String
        let line: Int
        let value: Node
        /// The keys of the value if it is a map; else nil.
        let within: [Key]?
    }

    /// The keys of the file. Yams refuses a key that occurs twice, without its line, and reads no further. Our own
    /// reader keeps both.
    private static func keys(_ text: String) throws -> [Key] {
        do {
            guard let root = try compose(text), root.null == nil else { return [] }
            guard let mapping = root.mapping else { throw NotAMap() }
            return keys(mapping)
        } catch YamlError.duplicatedKeysInMapping {
            let root = try YAMLReader.read(Array(text.utf8), budget: NodeBudget(images: 0))
            guard case .map(let map) = root.value else { throw NotAMap() }
            return keys(map)
        }
    }

    /// Without rules for kinds of scalars, since each setting reads its own text: to compile their patterns takes longer
    /// than to read a file.
    private static func compose(_ text: String) throws -> Node? {
        try Yams.compose(yaml: text, .basic)
    }

    private static func keys(_ mapping: Node.Mapping) -> [Key] {
        mapping.map { key, value in
            Key(
                name: key.scalar?.string ?? "?", line: key.mark?.line ?? 1, value: value,
                within: value.mapping.map(keys))
        }
    }

    private static func keys(_ map: Document.Map) -> [Key] {
        map.entries.map { entry in
            var within: [Key]?
            if case .map(let map) = entry.value.value { within = keys(map) }
            return Key(
                name: entry.key.string, line: Int(entry.place.line), value: Node(entry.value),
                within: within)
        }
    }

    /// The line at which the reader of YAML stopped, 0 if it is not known, and the reason.
    private static func place(of error: YamlError) -> (line: Int, words: String) {
        switch error {
        case .scanner(let context, let problem, let mark, _),
            .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let hint = YAMLEvents.hint(
                to: problem, line: mark.line, begin: context?.mark.line, first: 1)
            return (mark.line, (context.map { "\($0.text), " } ?? "") + problem + hint)
        case .reader(let problem, _, _, _): return (0, problem)
        default: return (0, "\(error)")
        }
    }

    private mutating func complain(_ line: Int, _ words: String) {
        let place = line > 0 ? "\(path):\(line)" : path
        problems.add("\(place): \(words)", at: .file(line: line))
    }

    private mutating func read(_ keys: [Key], prefix: String) {
        for key in keys {
            let name = prefix + key.name
            if let first = lines[name] {
                complain(key.line, "\(name) occurs twice; line \(first) already has it")
            } else {
                lines[name] = key.line
            }
            let isSection = Setting.all.contains { $0.key.hasPrefix(name + ".") }
            if Setting.named(name) != nil {
                entries[name] =
                    entries[name] ?? Entry(text: Self.text(of: key.value), line: key.line)
            } else if isSection, let within = key.within {
                read(within, prefix: name + ".")
            } else if isSection, key.value.null != nil {
                // All keys of this section are commented out.
            } else {
                let lines = Self.lines(meantBy: name, key.value)
                complain(key.line, "unknown key \(name)\(Setting.suggestion(forKey: name))\(lines)")
            }
        }
    }

    /// The end of a message about an unknown key: the lines to write instead, for example `; write log: {level: info}`,
    /// or nothing.
    private static func lines(meantBy name: String, _ value: Node) -> String {
        if value.mapping != nil || value.null != nil { return "" }
        let lines = Setting.meant(byKey: name, text: text(of: value)).compactMap { setting in
            line(setting.key.split(separator: ".").map(String.init)[...], value)
        }
        return lines.isEmpty ? "" : "; write \(lines.joined(separator: " or "))"
    }

    /// A key with its section and its value in one line; nil if that line is too long.
    private static func line(_ parts: ArraySlice<String>, _ value: Node) -> String? {
        let node = parts.reversed().reduce(inOneLine(value)) { node, part in
            .mapping(Node.Mapping([(Node(part), node)], Tag(.map), .flow))
        }
        guard let text = try? Yams.serialize(node: node, width: -1) else { return nil }
        // Removes the braces of the outermost map.
        let line = text.trimmingCharacters(in: .whitespacesAndNewlines).dropFirst().dropLast()
        return line.count <= 80 && !line.contains("\n") ? String(line) : nil
    }

    private static func text(of node: Node) -> String {
        if let scalar = node.scalar { return scalar.string }
        // A list of filters or of folders is written as YAML in one line. If a text cannot be serialised, no setting
        // takes it, and the setting refuses it.
        return (try? Yams.serialize(node: inOneLine(node))) ?? ""
    }

    /// Writes lists and maps as `[a, b]` and `{a: b}`.
    private static func inOneLine(_ node: Node) -> Node {
        switch node {
        case .sequence(var sequence):
            for index in sequence.indices { sequence[index] = inOneLine(sequence[index]) }
            sequence.style = .flow
            return .sequence(sequence)
        case .mapping(let mapping):
            // Pairs instead of a dictionary: a key may occur twice. The reader of the text refuses it then.
            let pairs = mapping.map { ($0.key, inOneLine($0.value)) }
            return .mapping(Node.Mapping(pairs, mapping.tag, .flow, mapping.mark))
        default: return node
        }
    }

    /// The strings of a YAML list, or of a single string. An empty text is an empty list.
    package static func strings(yaml text: String) throws -> [String] {
        struct NotAList: Error {}
        guard let node = try compose(text), node.null == nil else { return [] }
        if let scalar = node.scalar { return [scalar.string] }
        guard let sequence = node.sequence else { throw NotAList() }
        return try sequence.map { element in
            guard let scalar = element.scalar else { throw NotAList() }
            return scalar.string
        }
    }
}

extension Node {
    /// The value of a node of `Document`, without places. A key that occurs twice is in its map twice.
    fileprivate init(_ node: Document.Node) {
        switch node.value {
        case .list(let list): self = .sequence(Sequence(list.items.map(Node.init)))
        case .map(let map):
            let pairs = map.entries.map { (Node.scalar(Scalar($0.key.string)), Node($0.value)) }
            self = .mapping(Mapping(pairs))
        case .plain(let text): self = .scalar(Scalar(text.string, .implicit, .plain))
        case .text(let text): self = .scalar(Scalar(text.string, Tag(.str), .doubleQuoted))
        // The reader of YAML makes no other kind of value.
        default: self = .scalar(Scalar("", .implicit, .plain))
        }
    }
}
