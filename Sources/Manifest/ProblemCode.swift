import DarkroomCore

/// What can be wrong with a manifest. The raw values are stable: programs read them in status.json.
package enum ProblemCode: String, Sendable, CaseIterable {
    /// The text is not JSON, YAML or a property list; nothing more can be said of it.
    case syntax
    /// The file has more bytes than the limit.
    case tooLarge = "too-large"
    /// More containers within containers than any manifest has use for.
    case tooDeep = "too-deep"
    /// Aliases, or shared objects of a binary property list, that stand for more than the limit of
    /// nodes.
    case tooManyAliases = "too-many-aliases"
    /// A YAML tag that gives a value a type which manifests do not have.
    case unsupportedTag = "unsupported-tag"

    case duplicateKey = "duplicate-key"
    case unknownKey = "unknown-key"
    case missingKey = "missing-key"
    /// Two keys that exclude each other.
    case conflictingKeys = "conflicting-keys"
    /// A value of another type than the key allows.
    case wrongType = "wrong-type"
    /// A word that is none of those allowed.
    case unknownValue = "unknown-value"

    case noImages = "no-images"
    case tooManyImages = "too-many-images"
    /// A name that cannot be a file name in the outbox.
    case badName = "bad-name"
    /// Two images of one name, or of names whose outputs would be one file.
    case duplicateName = "duplicate-name"
    /// An empty, overlong or unprintable source.
    case badSource = "bad-source"

    case tooManyFilters = "too-many-filters"
    case unknownFilter = "unknown-filter"
    case unknownParameter = "unknown-parameter"
    case missingParameter = "missing-parameter"
    /// A number outside of the parameter's range.
    case outOfRange = "out-of-range"
    /// Arguments that are right one by one but make no filter.
    case invalidArguments = "invalid-arguments"

    /// A `from` or `after` that names no image of the manifest.
    case unknownImage = "unknown-image"
    /// Images that wait for each other.
    case cycle
    /// The last of the list: how many further problems there are.
    case tooManyProblems = "too-many-problems"
}

/// The way from the manifest's root to a value.
package indirect enum DocumentPath: Sendable, CustomStringConvertible {
    case root
    case key(DocumentPath, ByteString)
    case index(DocumentPath, Int)

    /// `images[3].filters[0].sepia`; a key that is not a plain word is in brackets and quotes.
    package var description: String {
        switch self {
        case .root:
            return ""
        case .index(let parent, let index):
            return "\(parent)[\(index)]"
        case .key(let parent, let key):
            guard Self.isWord(key) else { return "\(parent)[\"\(key.shortened)\"]" }
            if case .root = parent { return key.string }
            return "\(parent).\(key)"
        }
    }

    static func isWord(_ key: ByteString) -> Bool {
        (1...80).contains(key.utf8.count)
            && key.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0 == "_" || $0 == "-" || ("0"..."9").contains($0)
            }
    }
}

extension ByteString {
    /// Fit to be quoted in a message, see `String.shortened`.
    var shortened: String { string.shortened }
}

extension String {
    /// Fit to be quoted in a message: control characters replaced, at most 80 characters. What may be a
    /// source that stands in the wrong place loses its credentials and query like any source.
    ///
    /// Of what is longer than any source nothing is shown. To find out what of it may be shown it would have to be
    /// read to its end, for each problem anew.
    var shortened: String {
        guard utf8.count <= ImageListReader.maximumSource else { return RedactedURL.mark }
        let shown = utf8.contains { "/@".utf8.contains($0) } ? RedactedURL.text(self) : self
        return shown.cutForMessage
    }

    private var cutForMessage: String {
        // A prefix by scalars first, for a single character may be megabytes long.
        var text = String(String.UnicodeScalarView(unicodeScalars.prefix(81)))
        text = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.isControl || $0 == "\"" ? "\u{FFFD}" : $0 }))
        return unicodeScalars.dropFirst(80).isEmpty
            ? text : String(String.UnicodeScalarView(text.unicodeScalars.prefix(80))) + "…"
    }
}
