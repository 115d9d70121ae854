import DarkroomCore

/// The format of a manifest, which the extension of its file determines.
///
/// This is the table of all formats. `ManifestSnippet` has the notation of each format in messages.
package enum ManifestFormat: String, Sendable, CaseIterable {
    case json, yaml, plist

    /// The extensions of such files, in lower case, without the dot.
    package var fileExtensions: [String] {
        switch self {
        case .json: ["json"]
        case .yaml: ["yaml", "yml"]
        case .plist: ["plist"]
        }
    }

    /// Whether a part of such a text may be valid too, so that only time can tell whether the text is complete. The
    /// other formats have an explicit end.
    package var mayEndAnywhere: Bool { self == .yaml }

    /// Reads a text into a document, with the place of every key and value.
    func read(_ bytes: [UInt8], _ budget: NodeBudget) throws(ManifestProblem) -> Document.Node {
        switch self {
        case .json: try JSONReader.read(bytes, budget: budget)
        case .yaml: try YAMLReader.read(bytes, budget: budget)
        case .plist where bytes.starts(with: "bplist".utf8):
            try BinaryPropertyListReader.read(bytes, budget: budget)
        case .plist: try XMLPropertyListReader.read(bytes, budget: budget)
        }
    }

    /// The same; a text that is no document is rejected.
    func document(
        _ bytes: [UInt8], _ budget: NodeBudget
    ) throws(ManifestRejection) -> Document.Node {
        do {
            return try read(bytes, budget)
        } catch {
            throw ManifestRejection(problems: [error])
        }
    }

    /// nil for a name with another extension. Upper and lower case are equal.
    package init?(fileName: String) {
        let ending = fileName.partsAtLastDot.map { ByteString($0.ending).asciiLowercased }
        let format = Self.allCases.first { format in
            format.fileExtensions.contains { ByteString($0) == ending }
        }
        guard let format else { return nil }
        self = format
    }

    /// All extensions, for a sentence: `.json, .yaml, .yml and .plist`.
    package static func fileExtensionList(_ conjunction: String) -> String {
        Words.list(allCases.flatMap(\.fileExtensions).map { ".\($0)" }, conjunction)
    }
}
