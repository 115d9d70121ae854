/// Hexadecimal digits, two for each byte; in lower case where nothing else is said.
package enum Hexadecimal {
    package static let lowercase = Array("0123456789abcdef".utf8)
    package static let uppercase = Array("0123456789ABCDEF".utf8)

    package static func digits(of byte: UInt8) -> [UInt8] {
        [lowercase[Int(byte >> 4)], lowercase[Int(byte & 15)]]
    }

    package static func text(of bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap(digits), as: UTF8.self)
    }

    /// The value of a digit; nil for any other character, a capital letter too.
    package static func value(of digit: UInt8) -> UInt8? {
        lowercase.firstIndex(of: digit).map { UInt8($0) }
    }

    /// A character below U+10000 as an escape of JSON and YAML, such as `\u202e`.
    package static func escape(_ scalar: Unicode.Scalar) -> String {
        "\\u" + text(of: [UInt8(scalar.value >> 8), UInt8(scalar.value & 0xFF)])
    }
}
