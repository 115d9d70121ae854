/// Sizes and times for messages, in the units of the manual.
extension Quantity {
    /// Exactly this number of bytes, in the largest unit in which it is a whole number or has a single decimal: `1GiB`,
    /// `1.5KiB`, `1000B`.
    package static func text(bytes: Int) -> String {
        guard bytes != 0 else { return "0" }
        let sign = bytes < 0 ? "-" : ""
        for (name, value) in sizeUnits {
            let unit = UInt(value)
            let (whole, rest) = bytes.magnitude.quotientAndRemainder(dividingBy: unit)
            let (tenths, remainder) = (rest * 10).quotientAndRemainder(dividingBy: unit)
            guard whole > 0, remainder == 0 else { continue }
            return "\(sign)\(whole)\(tenths == 0 ? "" : ".\(tenths)")\(name)"
        }
        return "\(bytes)B"
    }

    /// Exactly this number of seconds, in the largest unit in which it is a whole number: `3650d`, `90s`, `500ms`.
    package static func text(seconds: Double) -> String {
        guard seconds != 0 else { return "0" }
        for (name, value) in timeUnits {
            // A millisecond is not a binary fraction of a second.
            let count = value < 1 ? seconds * (1 / value) : seconds / value
            if let whole = Int(exactly: count), whole.magnitude >= 1 { return "\(whole)\(name)" }
        }
        return "\(seconds)s"
    }
}
