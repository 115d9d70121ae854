import DarkroomCore
import DarkroomPicture

/// The meaning of a YAML scalar without quotes, according to the core schema of YAML 1.2 (section 10.3.2).
///
/// The reader of a manifest asks for the type that it expects. So an image named `no`, `on` or `007` keeps its name,
/// and `yes` is not a boolean as in YAML 1.1.
package enum PlainScalar {
    package static func isNull(_ text: ByteString) -> Bool {
        switch text {
        case "", "~", "null", "Null", "NULL": true
        default: false
        }
    }

    package static func boolean(_ text: ByteString) -> Bool? {
        switch text {
        case "true", "True", "TRUE": true
        case "false", "False", "FALSE": false
        default: nil
        }
    }

    /// Decimal integers, `0o` and `0x` integers, decimal fractions, `.inf` and `.nan`. An integer beyond 64 bits
    /// becomes a number.
    package static func number(_ text: ByteString) -> FilterArgument? {
        // With aliases, the same text may be checked often, so only the length of a long text is checked.
        guard text.utf8.count <= NumberText.maximumLength else { return nil }
        let bytes = Array(text.utf8)
        if text.hasPrefix("0o") || text.hasPrefix("0x") {
            let digits = Substring(text.utf8.dropFirst(2))
            guard digits.utf8.first?.isSign == false else { return nil }
            return Int(digits, radix: text.hasPrefix("0o") ? 8 : 16).map { .integer($0) }
        }
        var unsigned = bytes[...]
        let isNegative = unsigned.first == UInt8(ascii: "-")
        if unsigned.first?.isSign == true { unsigned.removeFirst() }
        switch ByteString(decoding: unsigned) {
        case ".inf", ".Inf", ".INF": return .number(isNegative ? -.infinity : .infinity)
        case ".nan", ".NaN", ".NAN": return unsigned.count == bytes.count ? .number(.nan) : nil
        default: return NumberText.isDecimal(unsigned) ? NumberText.value(of: text) : nil
        }
    }
}

/// Decimal numbers in the notation of the formats.
package enum NumberText {
    /// Longer numbers are refused: no value of a filter needs them, and the cost of a conversion grows faster than the
    /// length.
    package static let maximumLength = 512

    /// Digits with an optional fraction and exponent, without a sign: `1`, `1.`, `.5`, `1.5e-3`.
    package static func isDecimal(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        let whole = rest.takeDigits()
        var fraction = 0
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            fraction = rest.takeDigits()
        }
        guard whole + fraction > 0 else { return false }
        if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            if rest.first?.isSign == true { rest.removeFirst() }
            guard rest.takeDigits() > 0 else { return false }
        }
        return rest.isEmpty
    }

    /// The value of a decimal number with an optional sign. It is a number, not an integer, if it has a fraction or an
    /// exponent or is beyond 64 bits. A number beyond the range of Double is infinite.
    package static func value(of text: ByteString) -> FilterArgument {
        if let integer = Int(text.string) { return .integer(integer) }
        if let number = Double(text.string) { return .number(number) }
        return .number(text.utf8.first == UInt8(ascii: "-") ? -.infinity : .infinity)
    }
}

extension UInt8 {
    var isSign: Bool { self == UInt8(ascii: "-") || self == UInt8(ascii: "+") }
}

extension ArraySlice<UInt8> {
    /// Removes the digits at the start and returns their count.
    mutating func takeDigits() -> Int {
        let digits = prefix(while: \.isDigit).count
        removeFirst(digits)
        return digits
    }
}
