import DarkroomCore

/// The template for the paths of outputs: `output.name` of a manifest, such as `{folder}/{name}-{width}.{ext}`.
///
/// | placeholder  | becomes                                                                              | known        |
/// |--------------|--------------------------------------------------------------------------------------|--------------|
/// | `{name}`     | the name of the image, without an extension of its format                            | beforehand   |
/// | `{stem}`     | the name of the source's file, without the extension of a picture                    | beforehand   |
/// | `{folder}`   | the folders in the path of the source; as a whole component, folders of the output   | beforehand   |
/// | `{variant}`  | the suffix of the variant                                                            | beforehand   |
/// | `{index}`    | the number of the image, from 1, with as many digits as the last one has             | beforehand   |
/// | `{ext}`      | the extension of the format                                                          | beforehand   |
/// | `{width}`    | the width of the output, in pixels                                                   | when it is made |
/// | `{height}`   | the height of the output, in pixels                                                  | when it is made |
/// | `{sha8}`     | the first eight digits of the SHA-256 of its bytes, in hexadecimal                   | when it is made |
///
/// `{{` and `}}` stand for braces. Only slashes of the template itself, and `{folder}` as a whole component, make folders.
package struct NameTemplate: Sendable, Equatable {
    package enum Placeholder: String, Sendable, CaseIterable {
        case name, stem, folder, variant, index, ext, width, height, sha8
    }

    package enum Part: Sendable, Equatable {
        case text(String)
        case placeholder(Placeholder)
    }

    /// Why a text is no template: the end of a sentence that begins with it.
    package struct Fault: Error, Sendable, Equatable {
        package let words: String
        /// Whether a placeholder is unknown.
        package var isOfPlaceholder = false
        /// The placeholder that may be meant, with its braces.
        package var suggestion: String?
    }

    /// In bytes of UTF-8.
    package static let longest = 1000
    /// The most bytes of a component that are not placeholders.
    private static let longestFixed = 150

    package let text: String
    /// The folders, and then the file. None is empty.
    package let components: [[Part]]

    package init(_ text: String) throws(Fault) {
        guard !text.isEmpty else { throw Fault(words: "is empty") }
        guard text.utf8.count <= Self.longest else {
            throw Fault(words: "has \(text.utf8.count) bytes; the limit is \(Self.longest)")
        }
        guard !text.unicodeScalars.contains(where: \.isControl) else {
            throw Fault(words: "contains a control character")
        }
        self.text = text
        let slash = UInt8(ascii: "/")
        components = try text.utf8.split(separator: slash, omittingEmptySubsequences: false).map {
            (component) throws(Fault) in
            let parts = try Self.parts(of: Substring(component))
            guard let first = parts.first else {
                throw Fault(words: "has a slash without a name before or after it")
            }
            if case .text(let text) = first, text.utf8.first == UInt8(ascii: ".") {
                throw Fault(words: "has a part that begins with a dot")
            }
            let fixed = parts.reduce(0) { sum, part in
                if case .text(let text) = part { sum + text.utf8.count } else { sum }
            }
            guard fixed <= Self.longestFixed else {
                throw Fault(
                    words: "has a part of \(fixed) bytes; the limit is \(Self.longestFixed)")
            }
            return parts
        }
    }

    private static func parts(of component: Substring) throws(Fault) -> [Part] {
        var parts: [Part] = []
        var literal = String.UnicodeScalarView()
        var rest = component.unicodeScalars[...]
        func end() {
            if !literal.isEmpty { parts.append(.text(String(literal))) }
            literal.removeAll()
        }
        while let scalar = rest.popFirst() {
            guard scalar == "{" || scalar == "}" else {
                literal.append(scalar)
                continue
            }
            if rest.first == scalar {
                rest.removeFirst()
                literal.append(scalar)
                continue
            }
            guard scalar == "{", let close = rest.firstIndex(of: "}") else {
                throw Fault(
                    words: "has a ‘\(scalar)’ alone; write ‘\(scalar)\(scalar)’ for a brace")
            }
            end()
            parts.append(.placeholder(try placeholder(String(Substring(rest[..<close])))))
            rest = rest[rest.index(after: close)...]
        }
        end()
        return parts
    }

    private static func placeholder(_ word: String) throws(Fault) -> Placeholder {
        if let known = Placeholder(rawValue: word) { return known }
        let words = Placeholder.allCases.map(\.rawValue)
        let meant = Suggestion.nearest(to: word, among: words).map { "{\($0)}" }
        let shown = FileName(word.prefix(utf8: 40)).text
        throw Fault(
            words: "has the unknown placeholder ‘{\(shown)}’; "
                + (meant.map { "did you mean ‘\($0)’?" }
                    ?? "there are \(Words.list(words.map { "{\($0)}" }, "and"))"),
            isOfPlaceholder: true, suggestion: meant)
    }

    package func contains(_ placeholder: Placeholder) -> Bool {
        components.contains { $0.contains(.placeholder(placeholder)) }
    }

    /// A text in a template that means itself.
    package static func literal(_ text: String) -> String {
        // By scalars: a mark after a brace would make another character of it.
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.flatMap { $0 == "{" || $0 == "}" ? [$0, $0] : [$0] }))
    }

    /// The template with these folders in the place of `{folder}`.
    package func with(folders: [String]) -> String {
        components.enumerated().compactMap { number, parts -> String? in
            if parts == [.placeholder(.folder)], number < components.count - 1 {
                return folders.isEmpty
                    ? nil : folders.map(Self.literal).joined(separator: "/")
            }
            return parts.map { part in
                switch part {
                case .text(let text): Self.literal(text)
                case .placeholder(.folder): Self.literal(folders.joined(separator: "-"))
                case .placeholder(let other): "{\(other.rawValue)}"
                }
            }.joined()
        }.joined(separator: "/")
    }
}
