/// One thing wrong with a manifest.
package struct ManifestProblem: Error, Codable, Sendable, Equatable {
    /// A stable identifier: `unknown-key`, `wrong-type`, `bad-name`, …
    package var code: String
    /// A sentence without the place.
    package var message: String
    /// The way to the value: `images[3].filters[0].sepia.intensity`; empty for the whole manifest.
    package var path: String
    /// From 1; absent for binary property lists.
    package var line: Int?
    package var column: Int?
    /// The nearest known word for one that is not known.
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
