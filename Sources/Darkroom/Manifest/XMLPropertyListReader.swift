/// Reads a property list in XML with the place of every key and value.
package struct XMLPropertyListReader {
    private var scanner: XMLScanner
    private var budget: NodeBudget
    private var depth = 0

    package static func read(
        _ bytes: [UInt8], budget: NodeBudget
    ) throws(ManifestProblem) -> Document.Node {
        var reader = XMLPropertyListReader(
            scanner: XMLScanner(try TextCursor(bytes)), budget: budget)
        return try reader.document()
    }

    private init(scanner: XMLScanner, budget: NodeBudget) {
        self.scanner = scanner
        self.budget = budget
    }

    private mutating func document() throws(ManifestProblem) -> Document.Node {
        try scanner.skipMisc()
        guard !scanner.cursor.isAtEnd else { throw scanner.cursor.syntaxError("the file is empty") }
        guard scanner.cursor.current == UInt8(ascii: "<") else {
            throw scanner.cursor.syntaxError(
                "neither XML nor a binary property list; old-style property lists are not read")
        }
        let list = try scanner.tag()
        guard list.name == "plist", list.kind == .open else {
            throw scanner.cursor.syntaxError(
                "expected ‘<plist>’, found \(list.words)", at: list.place)
        }
        try scanner.skipMisc()
        let root = try value(of: try scanner.tag())
        try scanner.skipMisc()
        try scanner.close("plist")
        try scanner.skipMisc()
        guard scanner.cursor.isAtEnd else {
            throw scanner.cursor.syntaxError(
                "expected the end of the file after ‘</plist>’, found \(scanner.cursor.currentWords)"
            )
        }
        return root
    }

    /// The value that an opening or empty tag begins.
    private mutating func value(of tag: XMLScanner.Tag) throws(ManifestProblem) -> Document.Node {
        guard tag.kind != .close else {
            throw scanner.cursor.syntaxError("expected a value, found \(tag.words)", at: tag.place)
        }
        try budget.take(at: tag.place)
        let isEmpty = tag.kind == .empty
        switch tag.name {
        case "dict":
            return Document.Node(.map(Document.Map(isEmpty ? [] : try entries(tag))), at: tag.place)
        case "array":
            return Document.Node(.list(Document.List(isEmpty ? [] : try items(tag))), at: tag.place)
        case "true", "false":
            let rest = isEmpty ? "" : try scanner.text(of: tag)
            guard rest.utf8.allSatisfy({ $0 <= 0x20 }) else {
                throw scanner.cursor.syntaxError("text within ‘<\(tag.name)>’", at: tag.place)
            }
            return Document.Node(.boolean(tag.name == "true"), at: tag.place)
        case "string", "integer", "real", "date", "data":
            let text = isEmpty ? "" : try scanner.text(of: tag)
            return Document.Node(try scalar(tag, text), at: tag.place)
        default:
            throw scanner.cursor.syntaxError(
                "\(tag.words) is no element of a property list", at: tag.place)
        }
    }

    private func scalar(_ tag: XMLScanner.Tag, _ text: String) throws(ManifestProblem)
        -> Document.Value
    {
        switch tag.name {
        case "string": return .text(text)
        case "date": return .other("a date")
        case "data": return .other("data")
        default:
            // `real` allows the words that YAML writes with a dot, `integer` allows hexadecimal.
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

    private static func trimmed(_ text: String) -> String {
        let start = text.utf8.drop { $0 <= 0x20 }
        return String(decoding: start.reversed().drop { $0 <= 0x20 }.reversed(), as: UTF8.self)
    }

    private static func real(_ text: String) -> FilterArgument? {
        switch text.lowercased() {
        case "nan": .number(.nan)
        case "inf", "+inf", "infinity", "+infinity": .number(.infinity)
        case "-inf", "-infinity": .number(-.infinity)
        default: PlainScalar.number(text)
        }
    }

    private mutating func enter(_ tag: XMLScanner.Tag) throws(ManifestProblem) {
        guard depth < Document.maximumHeight else { throw .tooDeep(at: tag.place) }
        depth += 1
    }

    private mutating func items(_ list: XMLScanner.Tag) throws(ManifestProblem) -> [Document.Node] {
        try enter(list)
        defer { depth -= 1 }
        var items: [Document.Node] = []
        while true {
            try scanner.skipMisc()
            let next = try scanner.tag()
            if next.kind == .close, next.name == list.name { return items }
            items.append(try value(of: next))
        }
    }

    private mutating func entries(_ map: XMLScanner.Tag) throws(ManifestProblem) -> [Document.Entry]
    {
        try enter(map)
        defer { depth -= 1 }
        var entries: [Document.Entry] = []
        while true {
            try scanner.skipMisc()
            let next = try scanner.tag()
            if next.kind == .close, next.name == map.name { return entries }
            guard next.name == "key", next.kind != .close else {
                throw scanner.cursor.syntaxError(
                    "expected ‘<key>’ or ‘</dict>’, found \(next.words)", at: next.place)
            }
            let key = next.kind == .empty ? "" : try scanner.text(of: next)
            try scanner.skipMisc()
            let value = try value(of: try scanner.tag())
            entries.append(Document.Entry(key: key, at: next.place, value: value))
        }
    }
}
