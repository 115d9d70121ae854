extension String {
    /// The text with another scalar in place of some.
    package func replacingScalars(
        with scalar: Unicode.Scalar, where isReplaced: (Unicode.Scalar) -> Bool
    ) -> String {
        guard unicodeScalars.contains(where: isReplaced) else { return self }
        let scalars = unicodeScalars.map { isReplaced($0) ? scalar : $0 }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Whether all characters are printable ones of ASCII and none is one of these. Most names and paths are such texts,
    /// which need no escapes.
    package func isPrintableASCII(without marks: StaticString = "") -> Bool {
        let marks = UnsafeBufferPointer(start: marks.utf8Start, count: marks.utf8CodeUnitCount)
        return utf8.allSatisfy { (0x20..<0x7F).contains($0) && !marks.contains($0) }
    }
}
