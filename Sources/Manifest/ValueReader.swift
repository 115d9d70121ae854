import DarkroomCore
import DarkroomPicture

/// Reads values of a document as the types of a schema, and collects problems.
///
/// Each function returns nil if it has added a problem.
package struct ValueReader: Sendable {
    package var problems = ProblemList()
    /// The notation of corrections.
    let notation: ManifestFormat
    /// The references to images in the list of filters that is being read.
    var mentions: [ImageDraft.Reference] = []
    /// The number of references in all lists.
    var mentionCount = 0
    /// The recipes that the manifest uses, by their names.
    var usedRecipes: [String: Recipe] = [:]
    /// Whether the values are those of a recipe, which knows no images.
    var isOfRecipe = false
    /// Whether the images of the manifest are a list, not a map; corrections depend on it.
    var listsImages = false
    /// The sources of images as they are written; nil if nobody needs them.
    var writtenSources: [WrittenSource]?
    /// Checked between images; when it is set, the remaining images are skipped, and the result is not needed.
    let stop: CancellationFlag?

    package init(notation: ManifestFormat, stop: CancellationFlag? = nil) {
        self.notation = notation
        self.stop = stop
    }

    /// Checks that a node is a map without unknown or repeated keys.
    ///
    /// - Parameter foreign: keys of something else, which are no typing errors.
    package mutating func map(
        _ node: Document.Node, keys: [ByteString], foreign: [ByteString] = [], of what: String,
        at path: DocumentPath, write form: @autoclosure () -> ManifestSnippet
    ) -> Document.Map? {
        guard case .map(let map) = node.value else {
            wrongType(node, "\(what) must be a map", at: path, write: form())
            return nil
        }
        checkRepeatedKeys(map, at: path)
        for entry in map.entries where !keys.contains(entry.key) {
            problems.add(
                .unknownKey, "unknown key ‘\(entry.key.shortened)’", at: .key(path, entry.key),
                entry.place,
                suggestion: foreign.contains(entry.key)
                    ? nil : Suggestion.meant(by: entry.key, among: keys))
        }
        return map
    }

    package mutating func checkRepeatedKeys(_ map: Document.Map, at path: DocumentPath) {
        guard map.entries.count > 1 else { return }
        var seen: Set<ByteString> = []
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
        _ node: Document.Node, _ what: String, at path: DocumentPath,
        write form: @autoclosure () -> ManifestSnippet
    ) -> ByteString? {
        if let text = node.text { return text }
        wrongType(node, "\(what) must be text", at: path, write: form())
        return nil
    }

    package mutating func boolean(
        _ node: Document.Node, _ what: String, at path: DocumentPath
    ) -> Bool? {
        if let value = node.boolean { return value }
        wrongType(
            node, "\(what) must be true or false", at: path,
            write: FilterCorrection.value(for: .boolean, node))
        return nil
    }

    /// The value of a key; nil if the map does not have it.
    package mutating func boolean(
        in map: Document.Map?, _ key: ByteString, at path: DocumentPath
    ) -> Bool? {
        map?[key].flatMap { boolean($0, "‘\(key)’", at: .key(path, key)) }
    }

    package mutating func list(
        _ node: Document.Node, _ what: String, at path: DocumentPath,
        write form: @autoclosure () -> ManifestSnippet
    ) -> Document.List? {
        if case .list(let list) = node.value { return list }
        wrongType(node, "\(what) must be a list", at: path, write: form())
        return nil
    }

    /// One of the words of a type.
    package mutating func word<Word>(
        _ node: Document.Node, _ what: String, at path: DocumentPath
    ) -> Word? where Word: CaseIterable & RawRepresentable<String> {
        let words = Word.allCases.map(\.rawValue)
        return word(node, among: words, what, at: path).flatMap { Word(rawValue: $0) }
    }

    /// The same of a key; nil if the map does not have it.
    package mutating func word<Word>(
        in map: Document.Map?, _ key: ByteString, at path: DocumentPath
    ) -> Word? where Word: CaseIterable & RawRepresentable<String> {
        map?[key].flatMap { word($0, "‘\(key)’", at: .key(path, key)) }
    }

    package mutating func word(
        _ node: Document.Node, among words: [String], _ what: String, at path: DocumentPath
    ) -> String? {
        let rule = "\(what) must be \(Words.list(words, "or"))"
        guard let text = node.text else {
            wrongType(
                node, rule, at: path, write: FilterCorrection.value(for: .choice(words), node))
            return nil
        }
        if let word = words.first(where: { ByteString($0) == text }) { return word }
        let notation = notation
        func meant() -> String? { Suggestion.meant(by: text, among: words) }
        func advice() -> String {
            meant().map { Self.advice(.text(ByteString($0)), notation, at: path) } ?? ""
        }
        problems.add(
            .unknownValue, "\(rule), found ‘\(text.shortened)’\(advice())", at: path, node.place,
            suggestion: meant())
        return nil
    }

    /// - Parameter form: the correction; nil if there is none.
    package mutating func wrongType(
        _ node: Document.Node, _ rule: @autoclosure () -> String, at path: DocumentPath,
        isRequired: Bool = true, write form: @autoclosure () -> ManifestSnippet?
    ) {
        let notation = notation
        func advice() -> String {
            guard let form = form() else { return "" }
            return Self.advice(form, notation, at: path, isRequired: isRequired)
        }
        problems.add(.wrongType, "\(rule()), found \(node.words)\(advice())", at: path, node.place)
    }

    /// The end of a message with the correction: `; write ‘filters: [mono]’`. A value of a map is shown with its key,
    /// unless the key needs quotes. If a value is unknown and its key is optional, the message says that the key can be
    /// left out.
    static func advice(
        _ form: ManifestSnippet, _ notation: ManifestFormat, at path: DocumentPath,
        isRequired: Bool = true
    ) -> String {
        var begin = "; write"
        if case .placeholder = form, !isRequired { begin = "; leave it out, or write" }
        var key: String?
        if case .key(_, let name) = path, DocumentPath.isWord(name) { key = name.string }
        return "\(begin) ‘\(form.written(in: notation, key: key))’"
    }
}
