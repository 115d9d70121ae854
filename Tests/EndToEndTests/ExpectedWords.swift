import Testing

/// What is expected of a text; a literal is the exact text.
struct ExpectedWords: Sendable, CustomStringConvertible, ExpressibleByStringInterpolation {
    let description: String
    let holds: @Sendable (String) -> Bool

    init(description: String, holds: @escaping @Sendable (String) -> Bool) {
        self.description = description
        self.holds = holds
    }

    init(stringLiteral text: String) { self = .exactly(text) }

    static let anything = Self(description: "anything") { _ in true }
    static let nothing = Self(description: "nothing") { $0.isEmpty }

    static func exactly(_ text: String) -> Self {
        Self(description: "exactly \(text)") { $0 == text }
    }

    static func begins(_ start: String) -> Self {
        Self(description: "it begins with \(start)") { $0.hasPrefix(start) }
    }

    static func ends(_ end: String) -> Self {
        Self(description: "it ends with \(end)") { $0.hasSuffix(end) }
    }

    static func has(_ parts: String...) -> Self {
        Self(description: "it has \(parts)") { parts.allSatisfy($0.contains) }
    }

    static func lacks(_ parts: String...) -> Self {
        Self(description: "it lacks \(parts)") { text in !parts.contains { text.contains($0) } }
    }
}

extension ClientProcess.Result {
    /// That it ended so, and what its output and its errors show.
    func shows(
        exit: Int32? = nil, output: ExpectedWords = .anything, errors: ExpectedWords = .anything,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        if let exit { #expect(self.exit == exit, "\(self)", sourceLocation: sourceLocation) }
        #expect(
            output.holds(self.output), "output: \(output): \(self)",
            sourceLocation: sourceLocation)
        #expect(
            errors.holds(self.errors), "errors: \(errors): \(self)",
            sourceLocation: sourceLocation)
    }
}
