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

/// How the format of an output was decided.
package enum FormatOrigin: Sendable, Equatable {
    /// It was named, it is the usual one, or it is that of the image that a picture is made from.
    case given
    /// Not yet: the name of the source will tell it.
    ///
    /// - Parameter isShared: whether a recipe says so, which knows no sources. Then a source whose format is not written
    ///   is no mistake of the manifest, and only its image fails.
    case source(isShared: Bool)
    /// The extension of the source's name has told it.
    case ending
    /// The extension of the source's name means this kind of picture, of which no files are written; nil for none.
    /// The format stands for it in the name of the result, which is never made.
    case unwritten(InputFormat?)
}
