import DarkroomCore

extension String {
    /// The text with control characters, and marks that change the direction of writing, in a visible form:
    /// `\n`, `\u{202E}`.
    package var visible: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return unicodeScalars.map { $0.isControl ? $0.escaped(asASCII: true) : String($0) }.joined()
    }

    /// The beginning of the text that fits into so many columns, with a mark at its end if anything is cut. A character
    /// with its combining marks is never cut in two.
    package func cut(to width: Int, _ ellipsis: String = "…") -> String {
        guard DisplayWidth.of(self) > width else { return self }
        let room = width - DisplayWidth.of(ellipsis)
        guard room >= 0 else { return "" }
        var used = 0
        let kept = prefix { character in
            used += DisplayWidth.of(String(character))
            return used <= room
        }
        return kept + ellipsis
    }

    /// The text with spaces up to this width.
    package func padded(to width: Int, right: Bool = false) -> String {
        let spaces = String(repeating: " ", count: Swift.max(0, width - DisplayWidth.of(self)))
        return right ? spaces + self : self + spaces
    }
}
