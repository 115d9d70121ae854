/// The path of a file beneath a folder: names joined by slashes, of any bytes, as in Linux.
package struct RelativePath: Hashable, Comparable, Sendable {
    package let bytes: [UInt8]

    package static func < (a: RelativePath, b: RelativePath) -> Bool {
        a.bytes.lexicographicallyPrecedes(b.bytes)
    }

    /// The folder itself.
    package static let root = RelativePath(bytes: [])

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private static let slash = UInt8(ascii: "/")

    package func appending(_ name: FileName) -> RelativePath {
        RelativePath(bytes: bytes.isEmpty ? name.bytes : bytes + [Self.slash] + name.bytes)
    }

    package var names: [FileName] { bytes.split(separator: Self.slash).map { FileName(bytes: $0) } }

    package var name: FileName { names.last ?? FileName(bytes: []) }

    package var folder: RelativePath {
        RelativePath(
            bytes: Array(
                bytes.split(separator: Self.slash).dropLast().joined(separator: [Self.slash])))
    }

    /// For people; see ``FileName/text``.
    package var text: String { FileName(bytes: bytes).text }

    // MARK: In a line of text

    /// The path as a word of ASCII: all other bytes, and the percent sign, as `%` and two digits.
    package var word: String { Self.word(bytes) }

    package init?(word: some StringProtocol) {
        guard let bytes = Self.bytes(ofWord: word) else { return nil }
        let names = bytes.split(separator: Self.slash, omittingEmptySubsequences: false)
        // Neither an absolute path, nor one that leads out, nor a second form of another path.
        guard
            names.allSatisfy({ name in
                !name.isEmpty && !name.contains(0)
                    && [".", ".."].allSatisfy { !name.elementsEqual($0.utf8) }
            })
        else { return nil }
        self.bytes = bytes
    }

    package static func word(_ bytes: some Collection<UInt8>) -> String {
        PercentEncoding.encoded(bytes, digits: Hexadecimal.lowercase) {
            (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "%")
        }
    }

    package static func bytes(ofWord word: some StringProtocol) -> [UInt8]? {
        let (bytes, isValid) = PercentEncoding.decoded(word.utf8)
        return isValid ? bytes : nil
    }
}
