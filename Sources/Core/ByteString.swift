/// Text that came from outside: from a manifest, a URL, a server. Two of them are equal if their bytes in UTF-8 are.
///
/// A `String` is not fit for such text. It compares and hashes by canonical equivalence: texts of different bytes
/// pass as one, and it puts combining marks into an order first, in a time that grows with the square of how many
/// follow each other. A key of 480 KB of them has kept the daemon busy for minutes.
///
/// So text from outside is of this type from where it is read, and what is compared, ordered or looked up by it is
/// too. `string` is for showing it and for handing it to the system. `Tests/DarkroomTests/Core/TextRuleTests.swift`
/// looks for collections that are keyed by a `String`.
package struct ByteString: Hashable, Comparable, Sendable {
    /// Not to be compared or hashed.
    package let string: String

    package init(_ string: String) {
        var string = string
        string.makeContiguousUTF8()
        self.string = string
    }

    package init(_ text: Substring) {
        self.init(String(text))
    }

    /// A piece of another text.
    package init(_ text: Substring.UTF8View) {
        self.init(String(Substring(text)))
    }

    /// Bytes that are no UTF-8 become U+FFFD.
    package init(decoding bytes: some Collection<UInt8>) {
        self.init(String(decoding: bytes, as: UTF8.self))
    }

    /// nil for bytes that are no UTF-8.
    package init?(validating bytes: some Collection<UInt8>) {
        guard let string = String(validating: bytes, as: UTF8.self) else { return nil }
        self.init(string)
    }

    package var utf8: String.UTF8View { string.utf8 }

    package var unicodeScalars: String.UnicodeScalarView { string.unicodeScalars }

    package var isEmpty: Bool { utf8.isEmpty }

    /// The same with A to Z in small letters, and no others.
    package var asciiLowercased: ByteString {
        guard utf8.contains(where: { $0.asciiLowercased != $0 }) else { return self }
        return ByteString(decoding: utf8.map(\.asciiLowercased))
    }

    package func hasPrefix(_ beginning: ByteString) -> Bool {
        utf8.starts(with: beginning.utf8)
    }

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

    /// By the bytes.
    package static func < (a: ByteString, b: ByteString) -> Bool {
        a.withBytes { left in b.withBytes { left.lexicographicallyPrecedes($0) } }
    }

    package func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // No text in UTF-8 has this byte, so that two texts in a row are told from others.
        hasher.combine(0xFF as UInt8)
    }
}

extension ByteString: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    package init(stringLiteral string: String) {
        self.init(string)
    }
}

extension ByteString: CustomStringConvertible {
    package var description: String { string }
}

extension ByteString: Codable {
    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

extension UInt8 {
    /// A to Z in small letters, any other byte as it is.
    package var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}

extension Unicode.Scalar {
    /// Whether this is nothing that belongs into a name or a line of text: a control character, a separator of lines
    /// or paragraphs, or one of the marks that turn the direction of the text around them, so that a name is shown as
    /// another one.
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
