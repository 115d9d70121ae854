/// Percent-encoding (RFC 3986, section 2.1): `%` and two hexadecimal digits stand for a byte.
package enum PercentEncoding {
    /// A component of the path of a URL: all but letters, digits, `-`, `.` and `_` is encoded.
    package static func component(_ text: ByteString) -> String {
        encoded(text.utf8) { $0.isLetterOrDigit || "-._".utf8.contains($0) }
    }

    /// The same for components with slashes between them.
    package static func path(_ text: String) -> String {
        encoded(text.utf8) { $0.isLetterOrDigit || "-._/".utf8.contains($0) }
    }

    /// The path, query and fragment of a URL that somebody has written, in ASCII, as browsers send them: spaces and
    /// bytes beyond ASCII are encoded. What is encoded already stays.
    package static func reference(_ bytes: some Collection<UInt8>) -> String {
        encoded(bytes) { !needsEncoding($0) }
    }

    /// Whether `reference` encodes a byte.
    package static func needsEncoding(_ byte: UInt8) -> Bool { byte == 0x20 || byte >= 0x80 }

    /// - Parameters:
    ///   - digits: the hexadecimal digits; URLs have capital letters.
    ///   - isKept: whether a byte, which is ASCII, stands for itself.
    package static func encoded(
        _ bytes: some Collection<UInt8>, digits: [UInt8] = Hexadecimal.uppercase,
        keeping isKept: (UInt8) -> Bool
    ) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count)
        for byte in bytes {
            if isKept(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// The bytes that a text stands for. A percent sign that begins no escape stays, and the text is not valid.
    package static func decoded(_ text: some Collection<UInt8>) -> (bytes: [UInt8], isValid: Bool) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var isValid = true
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap { Hexadecimal.value(of: $0.asciiLowercased) }
            if digits.count == 2 {
                bytes.append(digits[0] << 4 | digits[1])
                rest.removeFirst(2)
            } else {
                bytes.append(byte)
                isValid = false
            }
        }
        return (bytes, isValid)
    }
}
