/// Takes values out of a document as the types a schema says, and keeps what is wrong with them.
///
/// Each function returns nil where it has added a problem.
package struct SchemaReader: Sendable {
    package var problems = ProblemList()
    /// The images that the list of filters being read has named so far.
    var mentions: [ImageDraft.Reference] = []
    /// How many there were in all lists.
    var mentionCount = 0
    /// Asked between images; once it is set the rest of them is left out, and nobody wants the result.
    let stop: CancellationFlag?

    package init(stop: CancellationFlag? = nil) {
        self.stop = stop
    }

    /// Checks that a node is a map without unknown and repeated keys.
    package mutating func map(
        _ node: Document.Node, keys: [String], of what: String, at path: DocumentPath
    ) -> Document.Map? {
        guard case .map(let map) = node.value else {
            wrongType(node, "\(what) must be a map", at: path)
            return nil
        }
        checkRepeatedKeys(map, at: path)
        for entry in map.entries where !keys.contains(entry.key) {
            problems.add(
                .unknownKey, "unknown key ‘\(entry.key.shortened)’", at: .key(path, entry.key),
                entry.place, suggestion: Suggestion.nearest(to: entry.key, among: keys))
        }
        return map
    }

    package mutating func checkRepeatedKeys(_ map: Document.Map, at path: DocumentPath) {
        guard map.entries.count > 1 else { return }
        var seen: Set<String> = []
        seen.reserveCapacity(map.entries.count)
        for entry in map.entries where !seen.insert(entry.key).inserted {
            repeatedKey(entry, at: .key(path, entry.key))
        }
    }

    package mutating func repeatedKey(_ entry: Document.Entry, at path: DocumentPath) {
        problems.add(
            .duplicateKey, "the key ‘\(entry.key.shortened)’ is given twice", at: path, entry.place)
    }

    package mutating func text(
        _ node: Document.Node, _ what: String, at path: DocumentPath
    ) -> String? {
        if let text = node.text { return text }
        wrongType(node, "\(what) must be text", at: path)
        return nil
    }

    package mutating func boolean(
        _ node: Document.Node, _ what: String, at path: DocumentPath
    ) -> Bool? {
        if let value = node.boolean { return value }
        wrongType(node, "\(what) must be true or false", at: path)
        return nil
    }

    package mutating func list(
        _ node: Document.Node, _ what: String, at path: DocumentPath
    ) -> Document.List? {
        if case .list(let list) = node.value { return list }
        wrongType(node, "\(what) must be a list", at: path)
        return nil
    }

    /// One of a type's words.
    package mutating func word<Word>(
        _ node: Document.Node, _ what: String, at path: DocumentPath
    ) -> Word? where Word: CaseIterable & RawRepresentable<String> {
        let words = Word.allCases.map(\.rawValue)
        return word(node, among: words, what, at: path).flatMap { Word(rawValue: $0) }
    }

    package mutating func word(
        _ node: Document.Node, among words: [String], _ what: String, at path: DocumentPath
    ) -> String? {
        let rule = "\(what) must be \(words.joined(or: "or"))"
        guard let text = node.text else {
            wrongType(node, rule, at: path)
            return nil
        }
        if words.contains(text) { return text }
        problems.add(
            .unknownValue, "\(rule), found ‘\(text.shortened)’", at: path, node.place,
            suggestion: Suggestion.nearest(to: text, among: words))
        return nil
    }

    package mutating func wrongType(
        _ node: Document.Node, _ rule: @autoclosure () -> String, at path: DocumentPath
    ) {
        problems.add(.wrongType, "\(rule()), found \(node.words)", at: path, node.place)
    }
}

extension [String] {
    /// `a, b or c`.
    func joined(or word: String) -> String {
        guard let last, count > 1 else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " \(word) " + last
    }
}
