/// Text from outside: from a manifest, a URL, a server. Two such texts are equal if their UTF-8 bytes are equal.
///
/// A `String` is not suitable for such text, because it compares and hashes by canonical equivalence. So texts with
/// different bytes can be equal. It also sorts combining marks first, in a time that grows with the square of the
/// length of a sequence of marks. A key with 480 KB of combining marks kept the daemon busy for minutes.
///
/// So text from outside has this type from the place where it is read, and everything that is compared, sorted or
/// looked up by it has this type too. `string` is for showing the text and for system calls.
/// `Tests/DarkroomTests/Core/TextRuleTests.swift` finds collections whose key is a `String`.
package struct ByteString: Hashable, Comparable, Sendable {
    /// For showing and for system calls only; do not compare or hash it.
    package let string: String

    package init(_ string: String) {
        var string = string
        string.makeContiguousUTF8()
        self.string = string
    }

    package init(_ text: Substring) { self.init(String(text)) }

    package init(_ text: Substring.UTF8View) { self.init(String(Substring(text))) }

    /// Creates the text from bytes; bytes that are not UTF-8 become U+FFFD.
    package init(decoding bytes: some Collection<UInt8>) {
        self.init(String(decoding: bytes, as: UTF8.self))
    }

    /// Creates the text from bytes; nil if they are not UTF-8.
    package init?(validating bytes: some Collection<UInt8>) {
        guard let string = String(validating: bytes, as: UTF8.self) else { return nil }
        self.init(string)
    }

    package var utf8: String.UTF8View { string.utf8 }

    package var unicodeScalars: String.UnicodeScalarView { string.unicodeScalars }

    package var isEmpty: Bool { utf8.isEmpty }

    /// The text with A to Z in lower case; other letters do not change.
    package var asciiLowercased: ByteString {
        guard utf8.contains(where: { $0.asciiLowercased != $0 }) else { return self }
        return ByteString(decoding: utf8.map(\.asciiLowercased))
    }

    package func hasPrefix(_ beginning: ByteString) -> Bool { utf8.starts(with: beginning.utf8) }

    package func hasSuffix(_ ending: ByteString) -> Bool {
        utf8.suffix(ending.utf8.count).elementsEqual(ending.utf8)
    }

    package func contains(_ part: ByteString) -> Bool {
        withBytes { bytes in part.withBytes { bytes.firstRange(of: $0) != nil } }
    }

    private func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        var string = string
        return string.withUTF8(body)
    }

    package static func == (a: ByteString, b: ByteString) -> Bool {
        guard a.utf8.count == b.utf8.count else { return false }
        return a.withBytes { left in b.withBytes { left.elementsEqual($0) } }
    }

    package static func < (a: ByteString, b: ByteString) -> Bool {
        a.withBytes { left in b.withBytes { left.lexicographicallyPrecedes($0) } }
    }

    package func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // UTF-8 never contains this byte, so two texts in sequence hash differently from one text.
        hasher.combine(0xFF as UInt8)
    }
}

extension ByteString: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    package init(stringLiteral string: String) { self.init(string) }
}

extension ByteString: CustomStringConvertible, Codable {
    package var description: String { string }

    package init(from decoder: any Decoder) throws { self.init(try String(from: decoder)) }

    package func encode(to encoder: any Encoder) throws { try string.encode(to: encoder) }
}

extension UInt8 {
    /// A to Z in lower case; any other byte does not change.
    package var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}

extension Unicode.Scalar {
    /// Whether the scalar must not be in a name or in a line of text: a control character, a separator of lines or
    /// paragraphs, or a mark that changes the direction of the text around it, so that a name would look like another
    /// one.
    package var isControl: Bool {
        switch value {
        case 0x20..<0x7F: false
        case 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default:
            switch properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
    }
}
