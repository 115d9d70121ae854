extension String {
    /// The text with control characters, and marks that change the direction of writing, in a visible form:
    /// `\n`, `\u{202E}`.
    package var visible: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return unicodeScalars.map { $0.isControl ? $0.escaped(asASCII: true) : String($0) }.joined()
    }
}
