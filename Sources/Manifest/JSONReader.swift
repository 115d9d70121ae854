import DarkroomCore
import DarkroomPicture

/// Reads JSON (RFC 8259, without extensions) into a document with the place of every key and value.
///
/// Time and memory are linear in the number of bytes; nothing recurses.
package struct JSONReader {
    private var cursor: TextCursor
    private var builder: DocumentBuilder

    package static func read(
        _ bytes: [UInt8], budget: NodeBudget
    ) throws(ManifestProblem) -> Document.Node {
        var reader = JSONReader(
            cursor: try TextCursor(bytes, stop: budget.stop),
            builder: DocumentBuilder(budget: budget))
        return try reader.document()
    }

    private mutating func document() throws(ManifestProblem) -> Document.Node {
        cursor.skipWhitespace()
        if cursor.isAtEnd { throw cursor.syntaxError("the file is empty") }
        repeat {
            while !(try value()) {}
        } while try next()
        guard let root = builder.root, cursor.isAtEnd else {
            throw cursor.syntaxError(
                "expected the end of the file after the manifest, found \(cursor.currentWords)")
        }
        return root
    }

    /// Reads a value. Returns false if it is a container that is not empty; then its first value comes next.
    private mutating func value() throws(ManifestProblem) -> Bool {
        let place = cursor.place
        switch cursor.current {
        case UInt8(ascii: "{"): return try begin(isMap: true, at: place)
        case UInt8(ascii: "["): return try begin(isMap: false, at: place)
        case UInt8(ascii: "\""): try builder.add(.text(try string()), at: place)
        case let byte? where byte.isDigit || byte == UInt8(ascii: "-"):
            try builder.add(try number(), at: place)
        default:
            if cursor.skip("true") {
                try builder.add(.boolean(true), at: place)
            } else if cursor.skip("false") {
                try builder.add(.boolean(false), at: place)
            } else if cursor.skip("null") {
                try builder.add(.null, at: place)
            } else {
                throw cursor.syntaxError("expected a value, found \(cursor.currentWords)")
            }
        }
        return true
    }

    /// Reads an opening bracket and the text before the first value. Returns true if the container is empty.
    private mutating func begin(
        isMap: Bool, at place: Document.Place
    ) throws(ManifestProblem) -> Bool {
        try builder.begin(isMap: isMap, at: place)
        cursor.advance()
        cursor.skipWhitespace()
        if cursor.skip(isMap ? "}" : "]") {
            try builder.end()
            return true
        }
        if isMap { try key() }
        return false
    }

    /// Reads from the end of a value to the next value: closing brackets, a comma, a key. Returns false if there is no
    /// next value.
    private mutating func next() throws(ManifestProblem) -> Bool {
        cursor.skipWhitespace()
        while let isMap = builder.isInMap {
            let bracket: StaticString = isMap ? "}" : "]"
            if cursor.skip(bracket) {
                try builder.end()
                cursor.skipWhitespace()
                continue
            }
            let comma = cursor.place
            guard cursor.skip(",") else {
                throw cursor.syntaxError(
                    "expected ‘,’ or ‘\(bracket)’ in \(isMap ? "a map" : "a list"), "
                        + "found \(cursor.currentWords)")
            }
            cursor.skipWhitespace()
            if cursor.starts(with: bracket) {
                throw cursor.syntaxError("a comma without a value after it", at: comma)
            }
            if isMap { try key() }
            return true
        }
        return false
    }

    private mutating func key() throws(ManifestProblem) {
        let place = cursor.place
        guard cursor.current == UInt8(ascii: "\"") else {
            throw cursor.syntaxError("expected a key in quotes, found \(cursor.currentWords)")
        }
        let key = try string()
        cursor.skipWhitespace()
        guard cursor.skip(":") else {
            throw cursor.syntaxError(
                "expected ‘:’ after the key ‘\(key.shortened)’, found \(cursor.currentWords)")
        }
        cursor.skipWhitespace()
        try builder.key(key, at: place)
    }

    private mutating func number() throws(ManifestProblem) -> Document.Value {
        let place = cursor.place
        let rest = cursor.bytes[cursor.index...]
        let text = rest.prefix { byte in
            byte.isDigit || byte.isSign || byte == UInt8(ascii: ".")
                || byte | 0x20 == UInt8(ascii: "e")
        }
        var unsigned = text
        if unsigned.first == UInt8(ascii: "-") { unsigned.removeFirst() }
        let whole = unsigned.prefix(while: \.isDigit)
        let afterPoint = unsigned.dropFirst(whole.count + 1).first
        let hasBarePoint =
            unsigned.dropFirst(whole.count).first == UInt8(ascii: ".")
            && afterPoint?.isDigit != true
        guard !whole.isEmpty, !hasBarePoint, NumberText.isDecimal(unsigned),
            whole.count == 1 || whole.first != UInt8(ascii: "0")
        else {
            throw cursor.syntaxError(
                "‘\(String(decoding: text.prefix(81), as: UTF8.self).shortened)’ is not a number",
                at: place)
        }
        guard text.count <= NumberText.maximumLength else {
            throw cursor.syntaxError(
                "a number of more than \(NumberText.maximumLength) characters", at: place)
        }
        cursor.advance(asciiBytes: text.count)
        switch NumberText.value(of: ByteString(decoding: text)) {
        case .integer(let value): return .integer(value)
        case .number(let value): return .number(value)
        default: preconditionFailure("a number's text has no other values")
        }
    }

    /// Reads a string from its opening quote to the position after its closing one.
    private mutating func string() throws(ManifestProblem) -> ByteString {
        let start = cursor.place
        cursor.advance()
        // The text between escapes is copied in one piece.
        var decoded: [UInt8] = []
        var runStart = cursor.index
        while let byte = cursor.current {
            switch byte {
            case UInt8(ascii: "\""):
                let run = cursor.bytes[runStart..<cursor.index]
                cursor.advance()
                if decoded.isEmpty { return ByteString(decoding: run) }
                decoded += run
                return ByteString(decoding: decoded)
            case UInt8(ascii: "\\"):
                decoded += cursor.bytes[runStart..<cursor.index]
                decoded += String(try escape()).utf8
                runStart = cursor.index
            case 0..<0x20:
                throw cursor.syntaxError(
                    "\(cursor.currentWords) within a string; write it as an escape")
            default:
                cursor.advance()
            }
        }
        throw cursor.syntaxError("a string without its closing quote", at: start)
    }

    /// Reads an escape, beginning with its backslash.
    private mutating func escape() throws(ManifestProblem) -> Unicode.Scalar {
        let place = cursor.place
        cursor.advance()
        let letter = cursor.current
        if letter != nil { cursor.advance() }
        switch letter {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape(at: place)
        default: throw cursor.syntaxError("an unknown escape in a string", at: place)
        }
    }

    /// Reads the digits after `\u`, and the second half if they are the first half of a surrogate pair.
    private mutating func unicodeEscape(
        at place: Document.Place
    ) throws(ManifestProblem) -> Unicode.Scalar {
        var value = try fourDigits(at: place)
        if (0xD800..<0xDC00).contains(value), cursor.skip("\\u") {
            let low = try fourDigits(at: place)
            guard (0xDC00..<0xE000).contains(low) else {
                throw cursor.syntaxError("half of a surrogate pair", at: place)
            }
            value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else {
            throw cursor.syntaxError("half of a surrogate pair", at: place)
        }
        return scalar
    }

    private mutating func fourDigits(at place: Document.Place) throws(ManifestProblem) -> UInt32 {
        let digits = cursor.bytes[cursor.index...].prefix(4)
        guard digits.count == 4, digits.first?.isSign == false,
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw cursor.syntaxError("‘\\u’ without four hexadecimal digits", at: place) }
        cursor.advance(asciiBytes: 4)
        return value
    }
}
