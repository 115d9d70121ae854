/// Percent-escapes of URLs (RFC 3986, 2.1).
enum PercentEscapes {
    static func isEscaped(_ byte: UInt8) -> Bool { byte == 0x20 || byte >= 0x80 }

    /// The bytes as ASCII: spaces and bytes beyond ASCII are escaped. Existing escapes stay.
    static func escape(_ bytes: some Collection<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var escaped: [UInt8] = []
        escaped.reserveCapacity(bytes.count)
        for byte in bytes {
            if isEscaped(byte) {
                escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            } else {
                escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}
