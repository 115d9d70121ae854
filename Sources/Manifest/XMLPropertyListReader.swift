import DarkroomCore
import DarkroomPicture

/// Reads a property list in XML with the place of every key and value. Nothing recurses.
///
/// Foundation's reader is not used, for binary ones neither: it keeps one of two equal keys without an error, it has no
/// places, and it recurses as deep as the file demands.
package struct XMLPropertyListReader {
    private var scanner: XMLScanner
    private var builder: DocumentBuilder

    package static func read(
        _ bytes: [UInt8], budget: NodeBudget
    ) throws(ManifestProblem) -> Document.Node {
        var reader = XMLPropertyListReader(
            scanner: XMLScanner(cursor: try TextCursor(bytes, stop: budget.stop)),
            builder: DocumentBuilder(budget: budget))
        return try reader.document()
    }

    private mutating func document() throws(ManifestProblem) -> Document.Node {
        try scanner.skipMisc()
        guard !scanner.cursor.isAtEnd else { throw scanner.cursor.syntaxError("the file is empty") }
        guard scanner.cursor.current == UInt8(ascii: "<") else {
            throw scanner.cursor.syntaxError(
                "neither XML nor a binary property list; old-style property lists are not supported"
            )
        }
        let list = try scanner.tag()
        guard list.name == "plist", list.kind == .open else {
            throw scanner.cursor.syntaxError(
                "expected ‘<plist>’, found \(list.words)", at: list.place)
        }
        repeat {
            try scanner.skipMisc()
            try element(try scanner.tag())
        } while builder.isInMap != nil
        try scanner.skipMisc()
        try scanner.close("plist")
        try scanner.skipMisc()
        guard let root = builder.root, scanner.cursor.isAtEnd else {
            throw scanner.cursor.syntaxError(
                "expected the end of the file after ‘</plist>’, "
                    + "found \(scanner.cursor.currentWords)")
        }
        return root
    }

    /// Reads the element that a tag begins or ends: a key, a value, the end of a container.
    private mutating func element(_ tag: XMLScanner.Tag) throws(ManifestProblem) {
        if builder.awaitsKey {
            if tag.kind == .close, tag.name == "dict" {
                try builder.end()
            } else {
                try key(tag)
            }
        } else if builder.isInMap == false, tag.kind == .close, tag.name == "array" {
            try builder.end()
        } else {
            try value(tag)
        }
    }

    private mutating func key(_ tag: XMLScanner.Tag) throws(ManifestProblem) {
        guard tag.name == "key", tag.kind != .close else {
            throw scanner.cursor.syntaxError(
                "expected ‘<key>’ or ‘</dict>’, found \(tag.words)", at: tag.place)
        }
        try builder.key(tag.kind == .empty ? "" : try scanner.text(of: tag), at: tag.place)
    }

    /// Reads the value that an opening or empty tag begins; for a container, only its beginning.
    private mutating func value(_ tag: XMLScanner.Tag) throws(ManifestProblem) {
        guard tag.kind != .close else {
            throw scanner.cursor.syntaxError("expected a value, found \(tag.words)", at: tag.place)
        }
        let isEmpty = tag.kind == .empty
        switch tag.name {
        case "dict", "array":
            try builder.begin(isMap: tag.name == "dict", at: tag.place)
            if isEmpty { try builder.end() }
        case "true", "false":
            let rest = isEmpty ? "" : try scanner.text(of: tag)
            guard rest.utf8.allSatisfy({ $0 <= 0x20 }) else {
                throw scanner.cursor.syntaxError("text within ‘<\(tag.name)>’", at: tag.place)
            }
            try builder.add(.boolean(tag.name == "true"), at: tag.place)
        case "string", "integer", "real", "date", "data":
            let text = isEmpty ? "" : try scanner.text(of: tag)
            try builder.add(try scalar(tag, text), at: tag.place)
        default:
            throw scanner.cursor.syntaxError(
                "\(tag.words) is not an element of a property list", at: tag.place)
        }
    }

    private func scalar(_ tag: XMLScanner.Tag, _ text: ByteString) throws(ManifestProblem)
        -> Document.Value
    {
        switch tag.name {
        case "string": return .text(text)
        case "date": return .other("a date")
        case "data": return .other("data")
        default:
            // `real` allows the words that YAML writes with a dot, `integer` allows hexadecimal numbers.
            let isReal = tag.name == "real"
            let trimmed = Self.trimmed(text)
            let number = isReal ? Self.real(trimmed) : PlainScalar.number(trimmed)
            switch number {
            case .number(let value) where isReal || value.magnitude >= 0x1p63:
                return .number(value)
            case .integer(let value): return isReal ? .number(Double(value)) : .integer(value)
            default:
                throw scanner.cursor.syntaxError(
                    "‘\(text.shortened)’ is not \(isReal ? "a number" : "an integer")",
                    at: tag.place)
            }
        }
    }

    private static func trimmed(_ text: ByteString) -> ByteString {
        let start = text.utf8.drop { $0 <= 0x20 }
        return ByteString(decoding: start.reversed().drop { $0 <= 0x20 }.reversed())
    }

    private static func real(_ text: ByteString) -> FilterArgument? {
        switch text.asciiLowercased {
        case "nan": .number(.nan)
        case "inf", "+inf", "infinity", "+infinity": .number(.infinity)
        case "-inf", "-infinity": .number(-.infinity)
        default: PlainScalar.number(text)
        }
    }
}
