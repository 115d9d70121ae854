extension BinaryInteger {
    /// The digits of a number that is not negative, with zeros before them: `007` for 7 and a width of 3.
    package func digits(width: Int, radix: Int = 10) -> String {
        let digits = String(self, radix: radix)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
