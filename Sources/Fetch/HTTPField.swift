import DarkroomCore

/// Parts of the values of HTTP header fields (RFC 9110, 5.6).
enum HTTPField {
    /// The value without surrounding spaces and tabs.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = bytes.firstIndex { !isBlank($0) } ?? bytes.endIndex
        let end = bytes.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start
        return bytes[start..<max(start, end)]
    }

    /// The elements of a comma-separated list, without spaces and without empty elements. Not for lists with quoted
    /// strings.
    static func elements(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: ",")).map(trimmed).filter { !$0.isEmpty }
    }

    /// A decimal number without a sign; nil for anything else and for a number beyond Int64.
    static func number(_ bytes: ArraySlice<UInt8>) -> Int64? {
        isDigits(bytes) ? Int64(String(decoding: bytes, as: UTF8.self)) : nil
    }

    /// A number of seconds; a number that is too large becomes the largest (RFC 9111, 1.2.2).
    static func seconds(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard isDigits(bytes) else { return nil }
        return Int(min(number(bytes) ?? .max, Int64(longestTime)))
    }

    /// 2³¹ seconds are 68 years.
    static let longestTime = 1 << 31

    static func isDigits(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy(\.isDigit)
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// The characters of names of fields, directives and the like (RFC 9110, 5.6.2).
    static func isToken(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    /// Whether a value may have a byte: all but control characters other than a tab (RFC 9110, 5.5).
    static func isText(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == 0x09 }

    /// A token in lower case; nil if it is not a token.
    static func token(_ bytes: ArraySlice<UInt8>) -> ByteString? {
        guard !bytes.isEmpty, bytes.allSatisfy(isToken) else { return nil }
        return ByteString(decoding: bytes.map(\.asciiLowercased))
    }

    /// The text of a value of at most `limit` bytes; nil if it is longer, contains control characters or is not UTF-8.
    static func text(_ bytes: ArraySlice<UInt8>, limit: Int) -> ByteString? {
        guard !bytes.isEmpty, bytes.count <= limit, bytes.allSatisfy(isText) else { return nil }
        return ByteString(validating: bytes)
    }
}
