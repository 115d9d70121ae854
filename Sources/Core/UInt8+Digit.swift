extension UInt8 {
    /// A letter of ASCII.
    package var isLetter: Bool { (self | 0x20) &- UInt8(ascii: "a") < 26 }

    /// Whether it is a decimal digit of ASCII.
    package var isDigit: Bool { self &- UInt8(ascii: "0") <= 9 }

    package var isLetterOrDigit: Bool { isLetter || isDigit }
}
