extension ArraySlice<UInt8> {
    /// The bytes without the escapes of RFC 3986; a percent sign that begins none stays.
    var percentDecoded: [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(count)
        var rest = self
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, digits.first?.isSign == false,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                decoded.append(value)
                rest.removeFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }
}
