/// The extensions of file names, by their bytes. `String` does not find a dot after a character that joins the next
/// one, such as U+0600 ARABIC NUMBER SIGN, so a name in such a script would have no extension.
extension String {
    /// The parts before and after the last dot; nil if the only dot is the first byte, or if there is none.
    package var partsAtLastDot: (stem: Substring, ending: Substring)? {
        guard let dot = utf8.lastIndex(of: UInt8(ascii: ".")), dot != startIndex else { return nil }
        return (self[..<dot], self[utf8.index(after: dot)...])
    }

    /// Whether the text ends in `ending`, in upper or lower case. `ending` has lower-case ASCII letters and signs.
    package func hasEnding(_ ending: String) -> Bool {
        utf8.suffix(ending.utf8.count).lazy.map(\.asciiLowercased).elementsEqual(ending.utf8)
    }

    /// The text without this number of bytes at its end, which must be whole scalars.
    package func dropLast(utf8 count: Int) -> String { String(Substring(utf8.dropLast(count))) }
}
