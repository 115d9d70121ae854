import DarkroomCore

/// How a manifest is written, told by its file's ending.
///
/// This is the one table of them. What a manifest of a format looks like in messages, `WrittenForm` knows.
package enum ManifestFormat: String, Sendable, CaseIterable {
    case json, yaml, plist

    /// What names of such files end in, in small letters, without the dot.
    package var fileExtensions: [String] {
        switch self {
        case .json: ["json"]
        case .yaml: ["yaml", "yml"]
        case .plist: ["plist"]
        }
    }

    /// Whether the beginning of such a text, cut anywhere, may be one too, so that only time tells that it is whole. The
    /// other formats say themselves where they end.
    package var mayEndAnywhere: Bool {
        switch self {
        case .yaml: true
        case .json, .plist: false
        }
    }

    /// Reads a text into a document, with the place of every key and value.
    func read(_ bytes: [UInt8], _ budget: NodeBudget) throws(ManifestProblem) -> Document.Node {
        switch self {
        case .json: try JSONReader.read(bytes, budget: budget)
        case .yaml: try YAMLReader.read(bytes, budget: budget)
        case .plist: try PropertyListReader.read(bytes, budget: budget)
        }
    }

    /// nil for a name that ends like none of them, in any case.
    package init?(fileName: String) {
        let ending = fileName.partsAtLastDot.map { ByteString($0.ending).asciiLowercased }
        let format = Self.allCases.first { format in
            format.fileExtensions.contains { ByteString($0) == ending }
        }
        guard let format else { return nil }
        self = format
    }

    /// What all their names end in, for a sentence: `.json, .yaml, .yml and .plist`.
    package static func fileExtensionList(_ conjunction: String) -> String {
        Words.list(allCases.flatMap(\.fileExtensions).map { ".\($0)" }, conjunction)
    }
}
