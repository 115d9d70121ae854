/// Amounts with the units that settings are written in, so that what a message tells can be found in the manual and
/// be written into the configuration.
package enum Units {
    private static let binary = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]

    /// `1 GiB`, `64 KiB`, `4095 bytes`. An amount that is no whole number of a unit is told to the byte, and a large
    /// one also in round figures: `268435457 bytes (256.0 MiB)`.
    package static func bytes(_ count: some BinaryInteger) -> String {
        var whole = count
        var unit = 0
        while whole != 0, whole % 1024 == 0, unit < binary.count - 1 {
            whole /= 1024
            unit += 1
        }
        if unit > 0 { return "\(whole) \(binary[unit])" }
        let exact = "\(count) \(count == 1 ? "byte" : "bytes")"
        return count < 10 << 10 ? exact : "\(exact) (\(rounded(Double(count))))"
    }

    private static func rounded(_ bytes: Double) -> String {
        var amount = bytes
        var unit = 0
        while amount >= 1024, unit < binary.count - 1 {
            amount /= 1024
            unit += 1
        }
        return "\((amount * 10).rounded() / 10) \(binary[unit])"
    }

    /// As settings take it, in the largest unit of which it is a whole number: `3650d`, `90s`, `2min`, `500ms`.
    package static func time(_ duration: Duration) -> String {
        Quantity.text(seconds: duration / .seconds(1))
    }
}

extension Double {
    /// Without `.0` where it is whole.
    package var briefly: String {
        Int(exactly: self).map { "\($0)" } ?? "\(self)"
    }
}
