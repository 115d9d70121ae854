import DarkroomCore
import DarkroomPicture

/// A correctly written part of a manifest, to be shown in a message in the notation of that manifest.
package indirect enum ManifestSnippet: Sendable, Equatable {
    case value(FilterArgument)
    case list([ManifestSnippet])
    case map([Entry])
    /// A word in capital letters for a value that cannot be guessed.
    case placeholder(Placeholder)

    package enum Placeholder: Sendable, Equatable {
        case integer(String)
        case number(String)
        case text(String)
    }

    package struct Entry: Sendable, Equatable {
        let key: String
        let value: ManifestSnippet

        fileprivate func flow(isJSON: Bool) -> String {
            "\(isJSON ? "\"\(key)\"" : key): \(value.flow(isJSON: isJSON))"
        }
    }

    static func text(_ text: ByteString) -> ManifestSnippet { .value(.text(text)) }

    static func map(_ key: String, _ value: ManifestSnippet) -> ManifestSnippet {
        .map([Entry(key: key, value: value)])
    }

    static let source: ManifestSnippet = .text("photo.png")

    /// The form as a value; with `key`, as an entry of a map.
    func written(in format: ManifestFormat, key: String? = nil) -> String {
        switch format {
        case .json: (key.map { "\"\($0)\": " } ?? "") + flow(isJSON: true)
        case .yaml: (key.map { "\($0): " } ?? "") + flow(isJSON: false)
        case .plist: (key.map { "<key>\($0)</key> " } ?? "") + plist
        }
    }

    /// In JSON, or in YAML, which needs fewer quotes.
    fileprivate func flow(isJSON: Bool) -> String {
        switch self {
        case .value(.text(let text)):
            !isJSON && text.utf8.first?.isLetter == true
                && ManifestText.isPlain(text, signs: "-_./:") ? "\(text)" : "\"\(text)\""
        case .value(let value): value.words
        case .placeholder(.text(let word)): isJSON ? "\"\(word)\"" : word
        case .placeholder(.integer(let word)), .placeholder(.number(let word)): word
        case .list(let items):
            "[" + items.map { $0.flow(isJSON: isJSON) }.joined(separator: ", ") + "]"
        case .map(let entries):
            "{" + entries.map { $0.flow(isJSON: isJSON) }.joined(separator: ", ") + "}"
        }
    }

    private var plist: String {
        switch self {
        case .value(.text(let text)): "<string>\(text)</string>"
        case .value(.integer(let value)): "<integer>\(value)</integer>"
        case .value(.number(let value)): "<real>\(value.briefly)</real>"
        case .value(.boolean(let value)): "<\(value)/>"
        case .placeholder(.text(let word)): "<string>\(word)</string>"
        case .placeholder(.integer(let word)): "<integer>\(word)</integer>"
        case .placeholder(.number(let word)): "<real>\(word)</real>"
        case .list(let items): "<array>" + items.map(\.plist).joined() + "</array>"
        case .map(let entries):
            "<dict>"
                + entries.map { "<key>\($0.key)</key>\($0.value.plist)" }.joined()
                + "</dict>"
        }
    }

    /// The value of a node for a correction; nil for a container, and for a text that is not shown in full or would
    /// need escapes in one of the notations.
    static func value(of node: Document.Node) -> ManifestSnippet? {
        if let boolean = node.boolean { return .value(.boolean(boolean)) }
        if let number = node.number { return .value(number) }
        guard let text = node.text, !text.isEmpty, text.utf8.count <= 80,
            text.utf8.allSatisfy({
                $0.isLetterOrDigit || $0 >= 0x80 || " -_./:#%+".utf8.contains($0)
            }),
            ByteString(text.shortened) == text
        else { return nil }
        return .text(text)
    }
}
