extension UInt8 {
    /// Whether it is a decimal digit of ASCII.
    package var isDigit: Bool { self &- UInt8(ascii: "0") <= 9 }
}
