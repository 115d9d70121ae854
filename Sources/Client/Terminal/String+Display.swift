extension String {
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

    /// The text in lines of at most so many columns; in one line if there is no width. Lines end at spaces only: a word
    /// that is longer than a line stays whole, so that a path can be copied. A number stays with its unit.
    ///
    /// - Parameters:
    ///   - indent: the number of spaces before each further line.
    ///   - parts: what stays whole although it contains spaces, such as a command or a file name.
    package func wrapped(
        to width: Int?, indent: Int = 0, keeping parts: [String] = []
    ) -> [String] {
        guard let width, DisplayWidth.ofPainted(self) > width else { return [self] }
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for piece in pieces(keeping: parts) {
            let wordWidth = DisplayWidth.ofPainted(piece.word)
            let end = DisplayWidth.ofPainted(line) + piece.spaces.count + wordWidth
            // In the next line it would not fit either, and a line that has only a label is no use.
            let isHopeless =
                indent + wordWidth > width
                && DisplayWidth.ofPainted(line) + piece.spaces.count <= indent
            if end <= width || line.isEmpty || isHopeless {
                line += piece.spaces + piece.word
            } else {
                lines.append(line)
                line = margin + piece.word
            }
        }
        return lines + [line]
    }

    /// The words, each with the spaces before it.
    private func pieces(keeping parts: [String]) -> [(spaces: String, word: String)] {
        let kept = parts.filter { $0.contains(" ") }.flatMap { ranges(of: $0) }
        var pieces: [(spaces: String, word: String)] = []
        var isSpace = true
        var (spaces, word) = ("", "")
        for index in indices {
            let isBreak =
                self[index] == " " && !kept.contains { $0.contains(index) } && !isInQuantity(index)
            if isBreak, !isSpace {
                pieces.append((spaces, word))
                (spaces, word) = ("", "")
            }
            isSpace = isBreak
            if isBreak { spaces.append(" ") } else { word.append(self[index]) }
        }
        return pieces + [(spaces, word)]
    }

    /// Whether the space at this place stands between a number and its unit.
    private func isInQuantity(_ space: Index) -> Bool {
        guard self[..<space].last?.isNumber == true else { return false }
        let unit = self[space...].dropFirst().prefix(while: \.isLetter)
        return Self.units.contains(String(unit))
    }

    private static let units: Set = [
        "ms", "s", "min", "h", "days", "byte", "bytes", "KiB", "MiB", "GiB", "TiB", "PiB",
    ]
}
