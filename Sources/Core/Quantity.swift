import Foundation

/// Sizes and times in the notation of the configuration, a number and a unit: `64MiB`, `30d`.
package enum Quantity {
    /// The units of sizes in bytes, the largest first.
    static let sizeUnits: [(name: String, value: Double)] = [
        ("TiB", 0x1p40), ("GiB", 0x1p30), ("MiB", 0x1p20), ("KiB", 0x1p10), ("B", 1),
    ]
    /// The units of times in seconds, the largest first.
    static let timeUnits: [(name: String, value: Double)] = [
        ("d", 86400), ("h", 3600), ("min", 60), ("s", 1), ("ms", 0.001),
    ]

    /// A size in bytes; nil if the text is not a size. Without a unit, the number is in bytes.
    package static func bytes(_ text: String) -> Int? {
        value(of: text, sizeUnits).flatMap { Int(exactly: $0.rounded()) }
    }

    /// A time in seconds; nil if the text is not a time. Without a unit, the number is in seconds.
    package static func seconds(_ text: String) -> Double? { value(of: text, timeUnits) }

    /// The correct form of a size with another spelling of the unit: `1GiB` for `1gb`.
    package static func correctedSize(_ text: String) -> String? {
        corrected(text) { unit in
            switch unit.lowercased() {
            case "byte", "bytes": "B"
            case "k", "kb", "kib", "kbyte", "kbytes": "KiB"
            case "m", "mb", "mib", "mbyte", "mbytes": "MiB"
            case "g", "gb", "gib", "gbyte", "gbytes": "GiB"
            case "t", "tb", "tib", "tbyte", "tbytes": "TiB"
            default: nil
            }
        }
    }

    /// The correct form of a time with another spelling of the unit or with a longer unit: `2min` for `2m`, `7d` for
    /// `1w`.
    package static func correctedTime(_ text: String) -> String? {
        inDays(text)
            ?? corrected(text) { unit in
                switch unit.lowercased() {
                case "msec", "msecs", "millisecond", "milliseconds": "ms"
                case "s", "sec", "secs", "second", "seconds": "s"
                case "m", "min", "mins", "minute", "minutes": "min"
                case "h", "hr", "hrs", "hour", "hours": "h"
                case "d", "day", "days": "d"
                default: nil
                }
            }
    }

    /// Weeks and years, which are not units of the configuration, in days.
    private static func inDays(_ text: String) -> String? {
        guard let (digits, unit) = split(text), let number = Double(digits) else { return nil }
        let days: Double
        switch unit.lowercased() {
        case "w", "wk", "wks", "week", "weeks": days = 7
        case "y", "yr", "yrs", "year", "years": days = 365
        default: return nil
        }
        let sum = number * days
        return Int(exactly: sum).map { "\($0)d" } ?? "\(sum)d"
    }

    private static func value(
        of text: String, _ units: [(name: String, value: Double)]
    ) -> Double? {
        guard let (digits, unit) = split(text), let number = Double(digits) else { return nil }
        if unit.isEmpty { return number }
        return units.first { $0.name == unit }.map { number * $0.value }
    }

    private static func corrected(_ text: String, _ unit: (String) -> String?) -> String? {
        guard let (digits, name) = split(text), Double(digits) != nil else { return nil }
        return unit(name).map { digits + $0 }
    }

    /// A non-negative decimal number and the letters after it.
    private static func split(_ text: String) -> (digits: String, unit: String)? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard !digits.isEmpty else { return nil }
        return (
            String(digits),
            text.dropFirst(digits.count).trimmingCharacters(in: .whitespaces)
        )
    }
}
