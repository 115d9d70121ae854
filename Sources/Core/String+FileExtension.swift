/// The endings of file names, by their bytes. To `String` a dot is none where the character before it joins what
/// follows, as U+0600 ARABIC NUMBER SIGN does, and a name in such a script would have no ending.
extension String {
    /// What stands before the last dot and what after it; nil where there is no dot but the first byte.
    package var partsAtLastDot: (stem: Substring, ending: Substring)? {
        guard let dot = utf8.lastIndex(of: UInt8(ascii: ".")), dot != startIndex else { return nil }
        return (self[..<dot], self[utf8.index(after: dot)...])
    }

    /// Whether the text ends in `ending`, which is of small ASCII letters and signs, in any case.
    package func hasEnding(_ ending: String) -> Bool {
        utf8.suffix(ending.utf8.count).lazy.map(\.asciiLowercased).elementsEqual(ending.utf8)
    }

    /// The text without so many bytes at its end, which must be whole scalars.
    package func dropLast(utf8 count: Int) -> String {
        String(Substring(utf8.dropLast(count)))
    }
}
