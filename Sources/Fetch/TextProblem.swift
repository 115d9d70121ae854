/// Why a host, a network, an origin or a header cannot be read from its text, as a sentence. It contains nothing secret:
/// nothing of a user or a password, and no value of a header.
package struct TextProblem: Error, Sendable, Equatable {
    package let message: String

    init(_ message: String) { self.message = message }
}
