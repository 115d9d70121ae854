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
        let day = (Double(value) / 86_400_000).rounded(.down)
        let rest = value - Int(day) * 86_400_000
        let (year, month, date) = Self.date(ofDay: Int(day))
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
        add(year, digits: 4, then: "-")
        add(month, digits: 2, then: "-")
        add(date, digits: 2, then: "T")
        add(rest / 3_600_000, digits: 2, then: ":")
        add(rest / 60_000 % 60, digits: 2, then: ":")
        add(rest / 1000 % 60, digits: 2, then: ".")
        add(rest % 1000, digits: 3, then: "Z")
        return String(decoding: bytes, as: UTF8.self)
    }

    /// nil if the text is not a time in the form of RFC 3339 with fractions of a second.
    package init?(_ text: String) {
        guard let date = Clock.date(text) else { return nil }
        milliseconds = Int(clamping: (date.timeIntervalSince1970 * 1000).rounded())
    }

    /// The date of a day, counted from 1970-01-01. The year begins in March here, so that the leap day is its last.
    private static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
        // 400 years have 146,097 days. The count begins on 0000-03-01.
        let shifted = day + 719_468
        let cycle = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfCycle = shifted - cycle * 146_097
        let yearOfCycle =
            (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let month = (5 * dayOfYear + 2) / 153
        return (
            cycle * 400 + yearOfCycle + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let moment = Moment(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not a time in the form of RFC 3339")
        }
        self = moment
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
