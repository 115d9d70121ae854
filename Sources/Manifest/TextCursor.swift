import DarkroomCore

/// A position in UTF-8 text with its line and column.
package struct TextCursor {
    package let bytes: [UInt8]
    package private(set) var index = 0
    private var line = 1
    private var lineStart = 0
    /// The number of bytes of this line before `index` that continue a scalar, so they are not columns.
    private var continuations = 0
    private var stop: CancellationFlag?

    /// Begins after a byte order mark, if there is one. Throws if the bytes are not UTF-8.
    ///
    /// - Parameter stop: checked from time to time; when it is set, the text seems to end.
    package init(_ bytes: [UInt8], stop: CancellationFlag? = nil) throws(ManifestProblem) {
        self.bytes = bytes
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
            throw ManifestProblem(
                .syntax, "the text is UTF-16; write the file as UTF-8", place: Document.Place.start)
        }
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            while index < error.byteOffsets.lowerBound { advance() }
            throw syntaxError("a byte that is not UTF-8: 0x\(String(bytes[index], radix: 16))")
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            index = 3
            lineStart = 3
        }
        // Set only now: the errors above need the place of a byte.
        self.stop = stop
    }

    package var place: Document.Place {
        Document.Place(line: line, column: index - lineStart - continuations + 1)
    }

    package var isAtEnd: Bool { index == bytes.count }

    /// The byte at the position, nil at the end.
    package var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Advances by one byte; must not be called at the end.
    package mutating func advance() {
        let byte = bytes[index]
        index += 1
        if byte == UInt8(ascii: "\n") {
            line += 1
            lineStart = index
            continuations = 0
        } else if byte & 0xC0 == 0x80 {
            continuations += 1
        }
        // A text in quotes may be as long as the file.
        if index % Self.stride == 0, stop?.isSet == true { index = bytes.count }
    }

    /// The number of bytes between two checks of `stop`; a power of two.
    private static let stride = 1 << 18

    /// Advances by `count` bytes, which must be ASCII without line feeds.
    package mutating func advance(asciiBytes count: Int) { index += count }

    package func starts(with text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[index...].starts(with: $0) }
    }

    /// Advances past `text` if it is at the position. `text` is ASCII without line feeds.
    package mutating func skip(_ text: StaticString) -> Bool {
        guard starts(with: text) else { return false }
        index += text.utf8CodeUnitCount
        return true
    }

    /// Advances past spaces, tabs, carriage returns and line feeds.
    package mutating func skipWhitespace() {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
                advance()
            default: return
            }
        }
    }

    /// The text at the position, for a message.
    package var currentWords: String {
        guard index < bytes.count else { return "the end of the file" }
        let character = String(decoding: bytes[index...].prefix(4), as: UTF8.self)
        guard let scalar = character.unicodeScalars.first else { return "nothing" }
        if scalar.isControl { return "a control character (0x\(String(scalar.value, radix: 16)))" }
        return "‘\(Character(scalar))’"
    }

    package func syntaxError(
        _ message: String, at place: Document.Place? = nil
    ) -> ManifestProblem {
        ManifestProblem(.syntax, message, place: place ?? self.place)
    }
}

extension Document.Place {
    package static let start = Document.Place(line: 1, column: 1)
}
