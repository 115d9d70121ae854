import Glibc

/// Reads the text of a JSON object whose keys are in a known order, as `JSONWriter` writes them: for the images of a
/// status, of which there may be a million. It is some thirty times as fast as Foundation's decoder.
///
/// It knows few escapes and no other order. Where the text has anything else, `isWrong` is set, and what was read counts
/// for nothing: the caller then uses the decoder. So this decides about the time only.
package struct JSONScanner {
    private let text: UnsafeRawBufferPointer
    private var position = 0
    /// Whether no member of the innermost object has been read.
    private var isFirst = true
    package private(set) var isWrong = false

    /// - Parameter text: it must outlive this value.
    package init(_ text: UnsafeRawBufferPointer) { self.text = text }

    // MARK: Values

    /// The object of the whole text.
    package mutating func whole(_ body: (inout JSONScanner) -> Void) {
        skipSpace()
        object(body)
        skipSpace()
        if position != text.count { isWrong = true }
    }

    /// The member if it comes next; nil otherwise, also for the others.
    package mutating func string(_ key: StaticString) -> String? {
        guard enter(key) else { return nil }
        return string()
    }

    /// A value in a text. The object is wrong if `read` returns nil.
    package mutating func string<Value>(
        _ key: StaticString, _ read: (String) -> Value?
    ) -> Value? {
        guard let text = string(key) else { return nil }
        let value = read(text)
        if value == nil { isWrong = true }
        return value
    }

    package mutating func int(_ key: StaticString) -> Int? {
        guard enter(key) else { return nil }
        let isNegative = skip("-")
        var value = 0
        let start = position
        while let digit = current, digit.isDigit {
            // A longer number is left to the decoder.
            guard position - start < 18 else {
                isWrong = true
                return nil
            }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
            position += 1
        }
        // JSON has no leading zeros.
        let hasZero = position - start > 1 && text[start] == UInt8(ascii: "0")
        if position == start || hasZero { isWrong = true }
        return isNegative ? -value : value
    }

    package mutating func double(_ key: StaticString) -> Double? {
        guard enter(key) else { return nil }
        let start = position
        while let byte = current, byte.isDigit || "+-.eE".utf8.contains(byte) { position += 1 }
        let value = Double(String(decoding: text[start..<position], as: UTF8.self))
        if value == nil { isWrong = true }
        return value
    }

    package mutating func bool(_ key: StaticString) -> Bool? {
        guard enter(key) else { return nil }
        if skip("true") { return true }
        if !skip("false") { isWrong = true }
        return false
    }

    /// Calls `body` if the member comes next. The object is wrong if `body` returns nil.
    package mutating func object<Value>(
        _ key: StaticString, _ body: (inout JSONScanner) -> Value?
    ) -> Value? {
        guard enter(key) else { return nil }
        let value = object(body)
        if value == nil { isWrong = true }
        return value
    }

    /// An object whose keys are not known beforehand.
    package mutating func strings(_ key: StaticString) -> [String: String]? {
        object(key) { scanner in
            var map: [String: String] = [:]
            while !scanner.isWrong, scanner.nextMember() {
                let key = scanner.string()
                scanner.endKey()
                map[key] = scanner.string()
            }
            return map
        }
    }

    package mutating func list(_ key: StaticString) -> [String]? {
        guard enter(key) else { return nil }
        if !skip("[") { isWrong = true }
        var list: [String] = []
        skipSpace()
        while !isWrong, !skip("]") {
            if !list.isEmpty, !skip(",") { isWrong = true }
            skipSpace()
            list.append(string())
            skipSpace()
        }
        return list
    }

    // MARK: Parts

    private mutating func object<Value>(_ body: (inout JSONScanner) -> Value) -> Value {
        if !skip("{") { isWrong = true }
        isFirst = true
        let value = body(&self)
        skipSpace()
        if !skip("}") { isWrong = true }
        isFirst = false
        return value
    }

    private mutating func enter(_ key: StaticString) -> Bool {
        let (start, wasFirst) = (position, isFirst)
        if !isWrong, nextMember(), skip("\""), skip(key), skip("\"") {
            endKey()
            return true
        }
        (position, isFirst) = (start, wasFirst)
        return false
    }

    private mutating func nextMember() -> Bool {
        skipSpace()
        if !isFirst {
            guard skip(",") else { return false }
            skipSpace()
            // After a comma, there must be a member.
            if current != UInt8(ascii: "\"") { isWrong = true }
        }
        isFirst = false
        return current == UInt8(ascii: "\"")
    }

    private mutating func endKey() {
        skipSpace()
        if !skip(":") { isWrong = true }
        skipSpace()
    }

    private mutating func string() -> String {
        guard skip("\""), let base = text.baseAddress,
            let end = memchr(base + position, CInt(UInt8(ascii: "\"")), text.count - position)
        else {
            isWrong = true
            return ""
        }
        let length = UnsafeRawPointer(end) - base - position
        let start = base + position
        let bytes = UnsafeRawBufferPointer(start: start, count: length)
        position += length + 1
        guard memchr(start, CInt(UInt8(ascii: "\\")), length) == nil else {
            position -= length + 1
            return escapedString()
        }
        return text(of: bytes)
    }

    private mutating func text(of bytes: some Collection<UInt8>) -> String {
        let text = String(validating: bytes, as: UTF8.self)
        if text == nil { isWrong = true }
        return text ?? ""
    }

    /// The rest of a string with escapes, of which it knows those of one character.
    private mutating func escapedString() -> String {
        var bytes: [UInt8] = []
        while let byte = current, byte != UInt8(ascii: "\"") {
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            switch current {
            case UInt8(ascii: "\"")?, UInt8(ascii: "\\")?, UInt8(ascii: "/")?:
                bytes.append(text[position])
            case UInt8(ascii: "n")?: bytes.append(UInt8(ascii: "\n"))
            case UInt8(ascii: "t")?: bytes.append(UInt8(ascii: "\t"))
            default: isWrong = true
            }
            position += 1
        }
        if !skip("\"") { isWrong = true }
        return text(of: bytes)
    }

    private var current: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") {
            position += 1
        }
    }

    private mutating func skip(_ words: StaticString) -> Bool {
        let count = words.utf8CodeUnitCount
        guard position + count <= text.count, let base = text.baseAddress,
            memcmp(base + position, words.utf8Start, count) == 0
        else { return false }
        position += count
        return true
    }
}
