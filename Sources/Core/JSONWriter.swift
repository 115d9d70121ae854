/// Writes the text of one JSON object, for small files that are written often: for them, Foundation's encoder costs as
/// much as the file. The result is the encoder's with `sortedKeys` and `withoutEscapingSlashes`, if the keys are added
/// in alphabetical order.
///
///     var writer = JSONWriter()
///     writer.add("name", "beach")
///     writer.add("size") { $0.add("width", 800) }
///     let text = writer.text()   // {"name":"beach","size":{"width":800}} and a newline
package struct JSONWriter: Sendable {
    private var bytes: [UInt8] = []
    private var depth = 0
    /// Whether nothing has been added to the innermost object or list.
    private var isEmpty = true
    private let isIndented: Bool

    /// Begins the object.
    ///
    /// - Parameter isIndented: whether each member has a line of its own, as with `prettyPrinted`.
    package init(isIndented: Bool = false) {
        self.isIndented = isIndented
        bytes.reserveCapacity(2048)
        begin(UInt8(ascii: "{"))
    }

    // MARK: Members

    package mutating func add(_ key: StaticString, _ value: Int?) { add(key, bare: value) }
    package mutating func add(_ key: StaticString, _ value: Bool?) { add(key, bare: value) }

    private mutating func add(_ key: StaticString, bare value: (some CustomStringConvertible)?) {
        guard let value else { return }
        begin(key)
        bytes += value.description.utf8
    }

    /// - Parameter value: a finite number.
    package mutating func add(_ key: StaticString, _ value: Double?) {
        guard let value else { return }
        begin(key)
        let text = value.description
        bytes += text.hasSuffix(".0") ? text.utf8.dropLast(2) : text.utf8[...]
    }

    package mutating func add(_ key: StaticString, _ value: String?) {
        guard let value else { return }
        begin(key)
        write(value)
    }

    /// An object.
    package mutating func add(_ key: StaticString, _ body: (inout JSONWriter) -> Void) {
        begin(key)
        object(body)
    }

    /// The same for a value that may be missing.
    package mutating func add<Value>(
        _ key: StaticString, _ value: Value?, _ body: (inout JSONWriter, Value) -> Void
    ) {
        if let value { add(key) { body(&$0, value) } }
    }

    /// An object whose keys are not known beforehand.
    package mutating func add(_ key: StaticString, _ map: [String: String]?) {
        add(key, map) { writer, map in
            let members = map.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (key, value) in members {
                writer.next()
                writer.write(key)
                writer.endKey()
                writer.write(value)
            }
        }
    }

    package mutating func add(_ key: StaticString, _ list: [String]?) {
        guard let list else { return }
        beginList(key)
        for text in list {
            next()
            write(text)
        }
        endList()
    }

    package mutating func add<Element>(
        _ key: StaticString, _ list: [Element]?, _ body: (inout JSONWriter, Element) -> Void
    ) {
        guard let list else { return }
        beginList(key)
        for element in list { add { body(&$0, element) } }
        endList()
    }

    // MARK: Long lists

    /// Begins a list of objects.
    package mutating func beginList(_ key: StaticString) {
        begin(key)
        begin(UInt8(ascii: "["))
    }

    package mutating func add(_ body: (inout JSONWriter) -> Void) {
        next()
        object(body)
    }

    package mutating func endList() { end(UInt8(ascii: "]")) }

    // MARK: The text

    package var count: Int { bytes.count }

    /// The text since the last call.
    package mutating func take() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    /// The rest of the text, with the end of the object and of its line.
    package consuming func text() -> [UInt8] {
        end(UInt8(ascii: "}"))
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    // MARK: Parts

    private mutating func object(_ body: (inout JSONWriter) -> Void) {
        begin(UInt8(ascii: "{"))
        body(&self)
        end(UInt8(ascii: "}"))
    }

    private mutating func begin(_ bracket: UInt8) {
        bytes.append(bracket)
        if isIndented { bytes.append(UInt8(ascii: "\n")) }
        depth += 1
        isEmpty = true
    }

    private mutating func end(_ bracket: UInt8) {
        depth -= 1
        if isIndented { bytes.append(UInt8(ascii: "\n")) }
        indent()
        bytes.append(bracket)
        isEmpty = false
    }

    /// Begins a member of an object or a list.
    private mutating func next() {
        if !isEmpty {
            bytes.append(UInt8(ascii: ","))
            if isIndented { bytes.append(UInt8(ascii: "\n")) }
        }
        isEmpty = false
        indent()
    }

    private mutating func indent() {
        if isIndented {
            bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
        }
    }

    private mutating func begin(_ key: StaticString) {
        next()
        bytes.append(UInt8(ascii: "\""))
        key.withUTF8Buffer { bytes += $0 }
        bytes.append(UInt8(ascii: "\""))
        endKey()
    }

    private mutating func endKey() { bytes += isIndented ? " : ".utf8 : ":".utf8 }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            if utf8.contains(where: Self.isEscaped) {
                for byte in utf8 { escape(byte) }
            } else {
                bytes += utf8
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0x08: bytes += "\\b".utf8
        case 0x09: bytes += "\\t".utf8
        case 0x0A: bytes += "\\n".utf8
        case 0x0C: bytes += "\\f".utf8
        case 0x0D: bytes += "\\r".utf8
        case 0..<0x20:
            bytes += Hexadecimal.escape(Unicode.Scalar(byte)).utf8
        default: bytes.append(byte)
        }
    }
}
