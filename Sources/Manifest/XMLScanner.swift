import DarkroomCore

/// Reads an XML text tag by tag: elements without attributes (except for `plist`), comments, processing instructions, a
/// DOCTYPE without internal declarations, CDATA, and the predefined entities of XML.
struct XMLScanner {
    private(set) var cursor: TextCursor

    /// An element's tag, `<name>`, `</name>` or `<name/>`.
    struct Tag {
        enum Kind { case open, close, empty }
        let kind: Kind
        let name: ByteString
        let place: Document.Place

        /// As it is written, for a message.
        var words: String {
            let name = self.name.shortened
            return switch kind {
            case .open: "‘<\(name)>’"
            case .close: "‘</\(name)>’"
            case .empty: "‘<\(name)/>’"
            }
        }
    }

    mutating func tag() throws(ManifestProblem) -> Tag {
        let place = cursor.place
        guard cursor.skip("<") else {
            throw cursor.syntaxError("expected a tag, found \(cursor.currentWords)")
        }
        let isClosing = cursor.skip("/")
        let name = cursor.bytes[cursor.index...].prefix(while: \.isLetterOrDigit)
        let text = ByteString(decoding: name)
        guard !name.isEmpty else {
            throw cursor.syntaxError("expected a tag's name, found \(cursor.currentWords)")
        }
        cursor.advance(asciiBytes: name.count)
        if text == "plist", !isClosing { try skipAttributes() }
        cursor.skipWhitespace()
        let isEmpty = !isClosing && cursor.skip("/")
        guard cursor.skip(">") else {
            throw cursor.syntaxError(
                "expected ‘>’ after ‘\(text.shortened)’, found \(cursor.currentWords)")
        }
        return Tag(kind: isClosing ? .close : isEmpty ? .empty : .open, name: text, place: place)
    }

    /// Advances to the `>` of a tag, past quoted values.
    private mutating func skipAttributes() throws(ManifestProblem) {
        let place = cursor.place
        var quote: UInt8?
        while let byte = cursor.current {
            if quote == nil, byte == UInt8(ascii: ">") { return }
            if byte == quote {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
            cursor.advance()
        }
        throw cursor.syntaxError("a tag without its ‘>’", at: place)
    }

    mutating func close(_ name: ByteString) throws(ManifestProblem) {
        let end = try tag()
        guard end.kind == .close, end.name == name else {
            throw cursor.syntaxError("expected ‘</\(name)>’, found \(end.words)", at: end.place)
        }
    }

    /// The text between the opening tag and its closing tag.
    mutating func text(of tag: Tag) throws(ManifestProblem) -> ByteString {
        var text: [UInt8] = []
        while let byte = cursor.current {
            switch byte {
            case UInt8(ascii: "&"):
                text += String(try entity()).utf8
            case UInt8(ascii: "<"):
                if cursor.starts(with: "<![CDATA[") {
                    text += try section(from: "<![CDATA[", to: "]]>", "a CDATA section")
                } else if cursor.starts(with: "<!--") {
                    _ = try section(from: "<!--", to: "-->", "a comment")
                } else {
                    try close(tag.name)
                    return ByteString(decoding: text)
                }
            default:
                text.append(byte)
                cursor.advance()
            }
        }
        throw cursor.syntaxError("\(tag.words) without its end", at: tag.place)
    }

    private mutating func entity() throws(ManifestProblem) -> Unicode.Scalar {
        let place = cursor.place
        let named: [(StaticString, Unicode.Scalar)] = [
            ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"),
        ]
        for (text, scalar) in named where cursor.skip(text) { return scalar }
        guard cursor.skip("&#") else { throw cursor.syntaxError("an unknown entity", at: place) }
        let isHexadecimal = cursor.skip("x")
        // Leading zeros are allowed, up to a limit.
        let digits = cursor.bytes[cursor.index...].prefix(16).prefix { $0 != UInt8(ascii: ";") }
        guard digits.first?.isSign == false,
            let value = UInt32(
                String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10),
            let scalar = Unicode.Scalar(value)
        else { throw cursor.syntaxError("a reference to an invalid character", at: place) }
        cursor.advance(asciiBytes: digits.count)
        guard cursor.skip(";") else {
            throw cursor.syntaxError("a reference to a character without its ‘;’", at: place)
        }
        return scalar
    }

    /// Advances past white space, comments, processing instructions and the DOCTYPE.
    mutating func skipMisc() throws(ManifestProblem) {
        while true {
            cursor.skipWhitespace()
            if cursor.starts(with: "<!--") {
                _ = try section(from: "<!--", to: "-->", "a comment")
            } else if cursor.starts(with: "<?") {
                let place = cursor.place
                let text = try section(from: "<?", to: "?>", "a processing instruction")
                try checkEncoding(text.prefix(200), at: place)
            } else if cursor.starts(with: "<!DOCTYPE") {
                let place = cursor.place
                let text = try section(from: "<!DOCTYPE", to: ">", "a DOCTYPE")
                if text.contains(UInt8(ascii: "[")) {
                    throw cursor.syntaxError("a DOCTYPE with internal declarations", at: place)
                }
            } else {
                return
            }
        }
    }

    /// Refuses an XML declaration with an encoding other than UTF-8 or ASCII.
    private func checkEncoding(
        _ declaration: ArraySlice<UInt8>, at place: Document.Place
    ) throws(ManifestProblem) {
        guard declaration.starts(with: "xml ".utf8),
            let key = declaration.firstRange(of: "encoding".utf8)
        else { return }
        let quotes = "\"'".utf8
        let value = ByteString(
            decoding: declaration[key.upperBound...].drop { !quotes.contains($0) }.dropFirst()
                .prefix { !quotes.contains($0) })
        guard ["utf-8", "utf8", "us-ascii"].contains(value.asciiLowercased) else {
            throw cursor.syntaxError(
                "the encoding ‘\(value.shortened)’ is not supported; write the file as UTF-8",
                at: place)
        }
    }

    /// Advances past a section from `start` to the next `end`; returns the text in between.
    private mutating func section(
        from start: StaticString, to end: StaticString, _ words: String
    ) throws(ManifestProblem) -> ArraySlice<UInt8> {
        let place = cursor.place
        _ = cursor.skip(start)
        let first = cursor.index
        while !cursor.isAtEnd {
            if cursor.starts(with: end) {
                let text = cursor.bytes[first..<cursor.index]
                _ = cursor.skip(end)
                return text
            }
            cursor.advance()
        }
        throw cursor.syntaxError("\(words) without its end", at: place)
    }
}
