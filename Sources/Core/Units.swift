/// Sizes and times in the units of the settings, so that a value in a message can be found in the manual and written
/// into the configuration.
package enum Units {
    static let binary = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]

    /// `1 GiB`, `64 KiB`, `4095 bytes`. A number that is not a multiple of a unit is shown in bytes, and a large one
    /// also as a rounded value: `268435457 bytes (256.0 MiB)`, `1290052 KiB (1.2 GiB)`.
    package static func bytes(_ count: some BinaryInteger) -> String {
        var whole = count
        var unit = 0
        while whole != 0, whole % 1024 == 0, unit < binary.count - 1 {
            whole /= 1024
            unit += 1
        }
        let exact = "\(whole) \(whole == 1 && unit == 0 ? "byte" : binary[unit])"
        return whole < 10 << 10 ? exact : "\(exact) (\(rounded(Double(count))))"
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

    /// A time in the notation of settings, in the largest unit in which it is a whole number: `3650d`, `90s`, `2min`,
    /// `500ms`.
    package static func time(_ duration: Duration) -> String {
        Quantity.text(seconds: duration / .seconds(1))
    }
}

extension Double {
    /// The number as text, without `.0` if it is whole.
    package var briefly: String { Int(exactly: self).map { "\($0)" } ?? "\(self)" }
}
