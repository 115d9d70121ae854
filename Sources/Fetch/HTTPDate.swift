import DarkroomCore
import Glibc

/// A time in HTTP, in whole seconds (RFC 9110, 5.6.7).
package struct HTTPDate: Sendable, Hashable, Comparable {
    package var secondsSince1970: Int

    package init(secondsSince1970: Int) { self.secondsSince1970 = secondsSince1970 }

    /// Reads one of the three formats: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6
    /// 08:49:37 1994`. In upper or lower case, and with UTC for GMT (RFC 9111, 4.2). The day of the week must be valid,
    /// but it is not compared with the date.
    ///
    /// - Parameter now: seconds since 1970. A year of two digits that would be more than 50 years later belongs to the
    ///   previous century.
    package init?(_ bytes: some Collection<UInt8>, now: Int = HTTPDate.now.secondsSince1970) {
        // No format is longer: "Wednesday, 06-Nov-94 08:49:37 GMT".
        guard bytes.count <= 40 else { return nil }
        var scanner = Scanner(rest: bytes.map(\.asciiLowercased)[...])
        guard let seconds = scanner.date(now: now) else { return nil }
        secondsSince1970 = seconds
    }

    package static var now: HTTPDate { HTTPDate(secondsSince1970: Int(time(nil))) }

    /// The time a number of seconds later, from 0 to 2³¹.
    func advanced(by seconds: Int) -> HTTPDate {
        HTTPDate(secondsSince1970: secondsSince1970 + seconds)
    }

    package static func < (left: HTTPDate, right: HTTPDate) -> Bool {
        left.secondsSince1970 < right.secondsSince1970
    }
}

extension HTTPDate: CustomStringConvertible {
    /// The usual format: `Sun, 06 Nov 1994 08:49:37 GMT`.
    package var description: String {
        let (date, second) = CalendarDay.split(secondsSince1970, length: Self.day)
        // 1970-01-01 was a Thursday.
        let weekday = Self.weekdays[((date.number + 4) % 7 + 7) % 7]
        return "\(weekday.prefix(3)), \(two(date.day)) \(Self.months[date.month - 1]) "
            + "\(date.year.digits(width: 4)) "
            + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
    }

    private func two(_ number: Int) -> String { number.digits(width: 2) }

    /// In seconds.
    fileprivate static let day = 86_400
    fileprivate static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    fileprivate static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

private struct Scanner {
    var rest: ArraySlice<UInt8>

    /// In seconds since 1970.
    mutating func date(now: Int) -> Int? {
        guard let weekday = word() else { return nil }
        let isLong = HTTPDate.weekdays.contains { $0.lowercased() == weekday }
        guard isLong || HTTPDate.weekdays.contains(where: { $0.prefix(3).lowercased() == weekday })
        else { return nil }
        if isLong { return rfc850(now: now) }
        return take(",") ? fixed() : asctime()
    }

    /// ` 06 Nov 1994 08:49:37 GMT`
    private mutating func fixed() -> Int? {
        guard take(" "), let day = number(2), take(" "), let month = month(), take(" "),
            let year = number(4), take(" "), let time = time(), zone()
        else { return nil }
        return seconds(year, month, day, time)
    }

    /// `, 06-Nov-94 08:49:37 GMT`
    private mutating func rfc850(now: Int) -> Int? {
        guard take(", "), let day = number(2), take("-"), let month = month(), take("-"),
            let year = number(2), take(" "), let time = time(), zone()
        else { return nil }
        let thisYear = CalendarDay.split(now, length: HTTPDate.day).day.year
        var full = thisYear - thisYear % 100 + year
        if full > thisYear + 50 { full -= 100 }
        return seconds(full, month, day, time)
    }

    /// ` Nov  6 08:49:37 1994`
    private mutating func asctime() -> Int? {
        guard take(" "), let month = month(), take(" ") else { return nil }
        guard let day = take(" ") ? number(1) : number(2), take(" "), let time = time(), take(" "),
            let year = number(4), rest.isEmpty
        else { return nil }
        return seconds(year, month, day, time)
    }

    private func seconds(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> Int? {
        CalendarDay(year: year, month: month, day: day).map { $0.number * HTTPDate.day + time }
    }

    /// The seconds of `08:49:37`. A leap second becomes the second before it, because these days have none.
    private mutating func time() -> Int? {
        guard let hour = number(2), take(":"), let minute = number(2), take(":"),
            let second = number(2), hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + min(second, 59)
    }

    private mutating func zone() -> Bool { (take(" gmt") || take(" utc")) && rest.isEmpty }

    private mutating func month() -> Int? {
        guard let name = word() else { return nil }
        return HTTPDate.months.firstIndex { $0.lowercased() == name }.map { $0 + 1 }
    }

    private mutating func word() -> String? {
        let letters = rest.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        rest = rest.dropFirst(letters.count)
        return letters.isEmpty ? nil : String(decoding: letters, as: UTF8.self)
    }

    private mutating func number(_ digits: Int) -> Int? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.allSatisfy(\.isDigit) else { return nil }
        rest = rest.dropFirst(digits)
        return text.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }
}
