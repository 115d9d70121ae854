import Foundation

/// A time of day to the millisecond: a number in memory, a text in a file.
///
/// A large batch has hundreds of thousands of them.
package struct Moment: Codable, Sendable, Equatable, Comparable {
    /// Since 1970, in UTC.
    package var milliseconds: Int

    package init(milliseconds: Int) { self.milliseconds = milliseconds }

    package static var now: Moment { Moment(milliseconds: Int(Clock.wall * 1000)) }

    package static func < (a: Moment, b: Moment) -> Bool { a.milliseconds < b.milliseconds }

    // MARK: Text

    /// The form of `Clock.timestamp`: `2026-11-21T08:00:00.123Z`. Years that do not have four digits become the next
    /// ones that do.
    package var text: String {
        let value = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let (date, rest) = CalendarDay.split(value, length: 86_400_000)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        func add(_ number: Int, digits: Int, then character: Unicode.Scalar) {
            var divisor = 1
            for _ in 1..<digits { divisor *= 10 }
            while divisor > 0 {
                bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
                divisor /= 10
            }
            bytes.append(UInt8(ascii: character))
        }
        add(date.year, digits: 4, then: "-")
        add(date.month, digits: 2, then: "-")
        add(date.day, digits: 2, then: "T")
        add(rest / 3_600_000, digits: 2, then: ":")
        add(rest / 60_000 % 60, digits: 2, then: ":")
        add(rest / 1000 % 60, digits: 2, then: ".")
        add(rest % 1000, digits: 3, then: "Z")
        return String(decoding: bytes, as: UTF8.self)
    }

    /// nil if the text is not a time in the form of RFC 3339 with fractions of a second.
    package init?(_ text: String) {
        if let known = Self.milliseconds(of: text) {
            milliseconds = known
            return
        }
        guard let date = Clock.date(text) else { return nil }
        milliseconds = Int(clamping: (date.timeIntervalSince1970 * 1000).rounded())
    }

    /// The value of a text in exactly the form of `text`; nil for any other one. Foundation takes many times as long.
    private static func milliseconds(of text: String) -> Int? {
        let form = "dddd-dd-ddTdd:dd:dd.dddZ".utf8
        guard text.utf8.count == form.count else { return nil }
        // Year, month, day, hour, minute, second, milliseconds.
        var fields: [Int] = [0]
        for (byte, expected) in zip(text.utf8, form) {
            guard expected == UInt8(ascii: "d") else {
                guard byte == expected else { return nil }
                fields.append(0)
                continue
            }
            guard byte.isDigit else { return nil }
            fields[fields.count - 1] = fields[fields.count - 1] * 10 + Int(byte - UInt8(ascii: "0"))
        }
        let (year, month, day) = (fields[0], fields[1], fields[2])
        let (hour, minute, second) = (fields[3], fields[4], fields[5])
        guard year > 0, hour < 24, minute < 60, second < 60,
            let date = CalendarDay(year: year, month: month, day: day)
        else { return nil }
        return date.number * 86_400_000 + hour * 3_600_000 + minute * 60_000 + second * 1000
            + fields[6]
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let moment = Moment(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not a time in the form of RFC 3339")
        }
        self = moment
    }

    package func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}
