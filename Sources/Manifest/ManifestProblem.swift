package struct ManifestProblem: Error, Codable, Sendable, Equatable {
    /// A stable identifier: `unknown-key`, `wrong-type`, `bad-name`, …
    package var code: String
    /// A sentence without the place.
    package var message: String
    /// The path to the value: `images[3].filters[0].sepia.intensity`; empty for the whole manifest.
    package var path = ""
    /// Counted from 1; absent for binary property lists.
    package var line: Int?
    package var column: Int?
    /// For an unknown word, the most similar known word or one with the same meaning.
    package var suggestion: String?

    /// The problem in one line. The place comes first.
    package var summary: String {
        var parts: [String] = []
        if let line, let column { parts.append("line \(line), column \(column)") }
        if !path.isEmpty { parts.append(path) }
        let hint = suggestion.map { "; did you mean \($0)?" } ?? ""
        let place = parts.isEmpty ? "" : parts.joined(separator: ", ") + ": "
        return place + message + hint
    }
}

/// All problems of a manifest: at least one, in the manifest's order.
package struct ManifestRejection: Error, Sendable, Equatable {
    package var problems: [ManifestProblem]

    package init(problems: [ManifestProblem]) { self.problems = problems }
}
