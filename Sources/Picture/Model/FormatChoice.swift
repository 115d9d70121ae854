/// What the `format` of an output says: a format, or that of the source.
package enum FormatChoice: RawRepresentable, CaseIterable, Sendable, Equatable {
    case format(OutputFormat)
    case source

    package static let allCases = OutputFormat.allCases.map(FormatChoice.format) + [.source]

    /// The words of manifests, without other words for the same formats.
    package static let words = allCases.map(\.rawValue)

    package static let aliases = OutputFormat.aliases.mapValues(FormatChoice.format)

    package init?(rawValue: String) {
        guard rawValue != Self.source.rawValue else {
            self = .source
            return
        }
        guard let format = OutputFormat(rawValue: rawValue) else { return nil }
        self = .format(format)
    }

    /// What a word in lower case means.
    package init?(word: String) {
        guard let choice = FormatChoice(rawValue: word) ?? Self.aliases[word] else { return nil }
        self = choice
    }

    package var rawValue: String {
        switch self {
        case .format(let format): format.rawValue
        case .source: "source"
        }
    }

    /// nil for that of the source, which only the source tells.
    package var format: OutputFormat? {
        if case .format(let format) = self { format } else { nil }
    }
}
