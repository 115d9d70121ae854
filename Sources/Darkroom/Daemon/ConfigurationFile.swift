import Yams

/// The configuration file: YAML, whose nested keys are joined by dots.
package struct ConfigurationFile: Sendable {
    /// A setting's text, and the line it stands in.
    package struct Entry: Sendable, Equatable {
        package let text: String
        package let line: Int
    }

    package private(set) var entries: [String: Entry] = [:]
    package private(set) var problems: [String] = []
    private let path: String

    /// Reads the file's text; whatever is wrong is in `problems`.
    package init(path: String, text: String) {
        self.path = path
        do {
            guard let root = try Yams.compose(yaml: text), root.null == nil else { return }
            guard case .mapping(let mapping) = root else {
                problems.append("\(path): must be a map of keys")
                return
            }
            read(mapping, prefix: "")
        } catch {
            // Yams explains over several lines, the first of which says it.
            let words = "\(error)".split(separator: "\n").first.map(String.init)
            problems.append("\(path): \(words ?? "not YAML")")
        }
    }

    private mutating func read(_ mapping: Node.Mapping, prefix: String) {
        for (keyNode, value) in mapping {
            let key = prefix + (keyNode.scalar?.string ?? "?")
            let line = keyNode.mark?.line ?? 1
            if Setting.named(key) != nil {
                entries[key] = Entry(text: Self.text(of: value), line: line)
            } else if case .mapping(let inner) = value,
                Setting.all.contains(where: { $0.key.hasPrefix(key + ".") })
            {
                read(inner, prefix: key + ".")
            } else if value.null != nil,
                Setting.all.contains(where: { $0.key.hasPrefix(key + ".") })
            {
                // A section whose every key is commented out.
            } else {
                let hint = Self.suggestion(for: key)
                problems.append("\(path):\(line): unknown key \(key)\(hint)")
            }
        }
    }

    /// ": did you mean …?", or nothing.
    package static func suggestion(for key: String) -> String {
        let names = Setting.all.map(\.key)
        let within = names.filter { $0.hasPrefix(key + ".") }
        if !within.isEmpty { return ": it is a section, of \(within.joined(separator: ", "))" }
        let sections = Set(names.compactMap { $0.split(separator: ".").first.map(String.init) })
        return Suggestion.nearest(to: key, among: names + sections.sorted())
            .map { "; did you mean \($0)?" } ?? ""
    }

    private static func text(of node: Node) -> String {
        if let scalar = node.scalar { return scalar.string }
        // A list of filters or of folders goes on as YAML in one line or several.
        // A text that cannot be written out again is one that no setting takes, and is refused there.
        return (try? Yams.serialize(node: inOneLine(node))) ?? ""
    }

    /// Lists and maps as `[a, b]` and `{a: b}`.
    private static func inOneLine(_ node: Node) -> Node {
        switch node {
        case .sequence(var sequence):
            for index in sequence.indices { sequence[index] = inOneLine(sequence[index]) }
            sequence.style = .flow
            return .sequence(sequence)
        case .mapping(var mapping):
            for (key, value) in mapping { mapping[key] = inOneLine(value) }
            mapping.style = .flow
            return .mapping(mapping)
        default: return node
        }
    }

    /// The strings of a YAML list, or of a single string; an empty text is an empty list.
    package static func strings(yaml text: String) throws -> [String] {
        struct NotAList: Error {}
        guard let node = try Yams.compose(yaml: text), node.null == nil else { return [] }
        if let scalar = node.scalar { return [scalar.string] }
        guard let sequence = node.sequence else { throw NotAList() }
        return try sequence.map { element in
            guard let scalar = element.scalar else { throw NotAList() }
            return scalar.string
        }
    }
}
