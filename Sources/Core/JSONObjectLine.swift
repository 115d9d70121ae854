/// The text of one JSON object in one line, for small files that are written often: for them, Foundation's encoder costs
/// as much as the file. The result is the encoder's with `sortedKeys` and `withoutEscapingSlashes`, if the keys are
/// added in alphabetical order.
package struct JSONObjectLine: Sendable {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]
    private var isEmpty = true

    package init() {
        bytes.reserveCapacity(1024)
    }

    package mutating func add(_ key: StaticString, _ value: Int?) {
        guard let value else { return }
        begin(key)
        bytes += "\(value)".utf8
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
        bytes.append(UInt8(ascii: "\""))
        for byte in value.utf8 { escape(byte) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// An object in this object.
    package mutating func add(_ key: StaticString, _ body: (inout JSONObjectLine) -> Void) {
        begin(key)
        bytes += JSONObjectLine(body).bytes
    }

    /// A list of objects.
    package mutating func add<Element>(
        _ key: StaticString, _ list: [Element]?,
        _ body: (inout JSONObjectLine, Element) -> Void
    ) {
        guard let list else { return }
        begin(key)
        bytes.append(UInt8(ascii: "["))
        for (index, element) in list.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += JSONObjectLine { body(&$0, element) }.bytes
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// The line with its end.
    package consuming func text() -> [UInt8] {
        bytes += [UInt8(ascii: "}"), UInt8(ascii: "\n")]
        return bytes
    }

    /// A complete object.
    private init(_ body: (inout JSONObjectLine) -> Void) {
        body(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func begin(_ key: StaticString) {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        isEmpty = false
        bytes.append(UInt8(ascii: "\""))
        key.withUTF8Buffer { bytes += $0 }
        bytes += [UInt8(ascii: "\""), UInt8(ascii: ":")]
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
            let digits = Array("0123456789abcdef".utf8)
            bytes += "\\u00".utf8
            bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        default: bytes.append(byte)
        }
    }
}
