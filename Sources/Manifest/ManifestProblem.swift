/// One problem of a manifest.
package struct ManifestProblem: Error, Codable, Sendable, Equatable {
    /// A stable identifier: `unknown-key`, `wrong-type`, `bad-name`, …
    package var code: String
    /// A sentence without the place.
    package var message: String
    /// The path to the value: `images[3].filters[0].sepia.intensity`; empty for the whole manifest.
    package var path: String
    /// Counted from 1; absent for binary property lists.
    package var line: Int?
    package var column: Int?
    /// For an unknown word, the most similar known word or one with the same meaning.
    package var suggestion: String?

    package init(
        code: String, message: String, path: String = "", line: Int? = nil, column: Int? = nil,
        suggestion: String? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.suggestion = suggestion
    }
}
