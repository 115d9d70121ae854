/// Text in the path of a URL.
package enum PercentEncoding {
    /// Each component is percent-encoded except letters, digits, `-`, `.` and `_`.
    package static func component(_ text: ByteString) -> String {
        encoded(text, keepsSlash: false)
    }

    /// The same for components with slashes between them.
    package static func path(_ text: String) -> String {
        encoded(ByteString(text), keepsSlash: true)
    }

    private static func encoded(_ text: ByteString, keepsSlash: Bool) -> String {
        func isKept(_ byte: UInt8) -> Bool {
            byte.isLetter || byte.isDigit || (keepsSlash ? "-._/" : "-._").utf8.contains(byte)
        }
        guard !text.utf8.allSatisfy(isKept) else { return text.string }
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in text.utf8 {
            if isKept(byte) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
