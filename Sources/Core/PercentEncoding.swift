/// Text in the path of a URL.
package enum PercentEncoding {
    /// Each component is percent-encoded but for letters, digits, `-`, `.` and `_`.
    package static func component(_ text: ByteString) -> String {
        encoded(text, keepsSlash: false)
    }

    /// The same for components with slashes between them.
    package static func path(_ text: String) -> String {
        encoded(ByteString(text), keepsSlash: true)
    }

    private static func encoded(_ text: ByteString, keepsSlash: Bool) -> String {
        func isKept(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                true
            default: keepsSlash && byte == UInt8(ascii: "/")
            }
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
