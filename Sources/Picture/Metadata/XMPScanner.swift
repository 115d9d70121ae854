import DarkroomCore

/// Reads a packet of XMP as XML with namespaces. (XML 1.0; Namespaces in XML 1.0; ISO 16684-1, section 7.)
///
/// It reads only what XMP consists of: UTF-8, elements, attributes, text, comments, processing instructions and the five
/// entities of XML. Anything that could declare or fetch something is refused. It goes over the bytes once, without
/// recursion.
struct XMPScanner {
    /// Why a packet is not used. The words follow “it”.
    struct Damage: Error, Equatable {
        let words: String
        static let form = Damage(words: "is not well-formed XML")
    }

    private static let mostDepth = 64
    private static let mostParts = 20_000

    private let bytes: [UInt8]
    private var place = 0
    private var document = XMPDocument()
    /// The open elements, as indices.
    private var open: [Int] = []
    /// The names of the open elements as they are written.
    private var tags: [ArraySlice<UInt8>] = []
    /// The namespaces that each open element declares, by their prefixes.
    private var scopes: [[ByteString: String]] = []
    private var parts = 0

    /// - Throws: `Damage`.
    static func read(_ bytes: [UInt8]) throws(Damage) -> XMPDocument {
        guard bytes.count <= SourcePackets.mostRead else { throw Damage(words: "is too large") }
        // Some writers end it as a text of C.
        let used = Array(bytes[..<(bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0)])
        guard String(validating: used, as: UTF8.self) != nil,
            !used.contains(where: { $0 < 0x20 && ![0x09, 0x0A, 0x0D].contains($0) })
        else { throw Damage(words: "is not a text in UTF-8") }
        var scanner = XMPScanner(used)
        return try scanner.read()
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    private mutating func read() throws(Damage) -> XMPDocument {
        _ = skip("\u{FEFF}")
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "<") {
                try markup()
            } else if open.isEmpty {
                guard isSpace(bytes[place]) else { throw .form }
                place += 1
            } else {
                try text()
            }
        }
        guard open.isEmpty, !document.elements.isEmpty else { throw .form }
        document.bytes = bytes
        return document
    }

    // MARK: Markup

    private mutating func markup() throws(Damage) {
        let start = place
        if skip("<!--") {
            try pass("-->")
            document.asides.append(start..<place)
        } else if skip("<?") {
            try pass("?>")
            document.asides.append(start..<place)
        } else if !open.isEmpty, skip("<![CDATA[") {
            let first = place
            try pass("]]>")
            add(bytes[first..<place - 3])
        } else if starts("<!") {
            throw Damage(words: "has a declaration (DOCTYPE or another)")
        } else if skip("</") {
            try close()
        } else {
            place += 1
            try element(from: start)
        }
    }

    private mutating func close() throws(Damage) {
        let name = try rawName()
        skipSpace()
        guard skip(">"), let tag = tags.popLast(), tag == name, let index = open.popLast() else {
            throw .form
        }
        scopes.removeLast()
        document.elements[index].range = document.elements[index].range.lowerBound..<place
    }

    private mutating func element(from start: Int) throws(Damage) {
        // A document has one outermost element.
        if open.isEmpty, !document.elements.isEmpty { throw .form }
        try count()
        let tag = try rawName()
        var found: [(name: ArraySlice<UInt8>, value: String, range: Range<Int>)] = []
        var scope: [ByteString: String] = [:]
        var isEmpty = false
        while true {
            let before = place
            skipSpace()
            if skip("/>") { isEmpty = true }
            if isEmpty || skip(">") { break }
            guard place > before else { throw .form }
            try count()
            let name = try rawName()
            let value = try attributeValue()
            if name.elementsEqual("xmlns".utf8) {
                scope[""] = value
            } else if name.starts(with: "xmlns:".utf8) {
                scope[ByteString(decoding: name.dropFirst(6))] = value
            } else {
                found.append((name, value, before..<place))
            }
        }
        scopes.append(scope)
        var element = XMPDocument.Element(
            name: try resolved(tag, isAttribute: false), parent: open.last, range: start..<place)
        for (name, value, range) in found {
            element.attributes.append(
                XMPDocument.Attribute(
                    name: try resolved(name, isAttribute: true), value: value, range: range))
        }
        document.elements.append(element)
        if isEmpty {
            scopes.removeLast()
        } else {
            guard open.count < Self.mostDepth else { throw Damage(words: "is nested too deeply") }
            open.append(document.elements.count - 1)
            tags.append(tag)
        }
    }

    private mutating func count() throws(Damage) {
        parts += 1
        if parts > Self.mostParts { throw Damage(words: "has too many elements") }
    }

    private mutating func attributeValue() throws(Damage) -> String {
        skipSpace()
        guard skip("=") else { throw .form }
        skipSpace()
        guard place < bytes.count else { throw .form }
        let quote = bytes[place]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw .form }
        place += 1
        var value: [UInt8] = []
        while place < bytes.count, bytes[place] != quote {
            switch bytes[place] {
            case UInt8(ascii: "<"): throw .form
            case UInt8(ascii: "&"): value += try reference()
            default:
                value.append(bytes[place])
                place += 1
            }
        }
        guard place < bytes.count else { throw .form }
        place += 1
        return String(decoding: value, as: UTF8.self)
    }

    // MARK: Text

    private mutating func text() throws(Damage) {
        if bytes[place] == UInt8(ascii: "&") {
            let scalar = try reference()
            return add(scalar[...])
        }
        let first = place
        while place < bytes.count, bytes[place] != UInt8(ascii: "<"),
            bytes[place] != UInt8(ascii: "&")
        {
            place += 1
        }
        add(bytes[first..<place])
    }

    private mutating func add(_ text: ArraySlice<UInt8>) {
        guard let index = open.last else { return }
        document.elements[index].text += text
    }

    /// A reference to a character, in UTF-8.
    private mutating func reference() throws(Damage) -> [UInt8] {
        for (text, character) in Self.entities where skip(text) { return [character] }
        guard skip("&#") else { throw Damage(words: "refers to an entity") }
        let isHexadecimal = skip("x")
        let digits = bytes[place...].prefix(10).prefix { $0 != UInt8(ascii: ";") }
        guard digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-"),
            let number = UInt32(
                String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10),
            let scalar = Unicode.Scalar(number),
            number >= 0x20 || [0x09, 0x0A, 0x0D].contains(number)
        else { throw .form }
        place += digits.count
        guard skip(";") else { throw .form }
        return Array(String(scalar).utf8)
    }

    private static let entities: [(StaticString, UInt8)] = [
        ("&amp;", UInt8(ascii: "&")), ("&lt;", UInt8(ascii: "<")), ("&gt;", UInt8(ascii: ">")),
        ("&quot;", UInt8(ascii: "\"")), ("&apos;", UInt8(ascii: "'")),
    ]

    // MARK: Names

    private mutating func rawName() throws(Damage) -> ArraySlice<UInt8> {
        let name = bytes[place...].prefix { byte in
            byte >= 0x80 || byte.isLetterOrDigit || ":_-.".utf8.contains(byte)
        }
        guard let first = name.first, first >= UInt8(ascii: "A") else { throw .form }
        place += name.count
        return name
    }

    private func resolved(
        _ name: ArraySlice<UInt8>, isAttribute: Bool
    ) throws(Damage) -> XMPDocument.Name {
        let colon = name.firstIndex(of: UInt8(ascii: ":"))
        let prefix = colon.map { ByteString(decoding: name[..<$0]) } ?? ""
        let local = String(decoding: colon.map { name[($0 + 1)...] } ?? name, as: UTF8.self)
        if prefix == "xml" { return XMPDocument.Name(XMPDocument.xml, local) }
        if colon == nil, isAttribute { return XMPDocument.Name("", local) }
        for scope in scopes.reversed() {
            if let space = scope[prefix] { return XMPDocument.Name(space, local) }
        }
        guard colon == nil else { throw Damage(words: "has a name of an unknown namespace") }
        return XMPDocument.Name("", local)
    }

    // MARK: Bytes

    private func starts(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard count <= bytes.count - place else { return false }
        return text.withUTF8Buffer { bytes[place..<place + count].elementsEqual($0) }
    }

    private mutating func skip(_ text: StaticString) -> Bool {
        guard starts(text) else { return false }
        place += text.utf8CodeUnitCount
        return true
    }

    /// Advances past the next `end`.
    private mutating func pass(_ end: StaticString) throws(Damage) {
        while place < bytes.count {
            if skip(end) { return }
            place += 1
        }
        throw .form
    }

    private func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private mutating func skipSpace() {
        while place < bytes.count, isSpace(bytes[place]) { place += 1 }
    }
}
