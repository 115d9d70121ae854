import DarkroomCore

extension ByteString {
    /// In a form for messages, see `String.shortened`.
    var shortened: String { string.shortened }
}

extension String {
    /// In a form for messages: control characters are replaced, and at most 80 characters are shown. The text may be a
    /// source in a wrong place, so credentials and queries are removed as in a source.
    ///
    /// A text that is longer than any source is not shown at all, because it would have to be read to its end for each
    /// problem.
    var shortened: String {
        guard utf8.count <= ImageListReader.maximumSource else { return RedactedURL.mark }
        let shown = utf8.contains { "/@".utf8.contains($0) } ? RedactedURL.text(self) : self
        return shown.cutForMessage
    }

    private var cutForMessage: String {
        // First a prefix of scalars, because a single character may be megabytes long.
        let text = String(unicodeScalars.prefix(80)).replacingScalars(with: "\u{FFFD}") {
            $0.isControl || $0 == "\""
        }
        return unicodeScalars.dropFirst(80).isEmpty ? text : text + "…"
    }
}
