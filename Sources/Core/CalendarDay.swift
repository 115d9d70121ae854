/// A day of the Gregorian calendar, also before its introduction.
///
///     CalendarDay(year: 2000, month: 2, day: 29)?.number   // 11016
///     CalendarDay(year: 2001, month: 2, day: 29)           // nil
///
/// Foundation's calendar takes many times as long.
package struct CalendarDay: Equatable, Sendable {
    package let year: Int
    /// From 1.
    package let month: Int
    /// From 1.
    package let day: Int
    /// The days since 1970-01-01.
    package let number: Int

    // In these sums, a year begins in March, so that the leap day is its last. 400 years have 146,097 days; those that
    // are counted begin on 0000-03-01.

    package init(number: Int) {
        let shifted = number + 719_468
        let cycle = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfCycle = shifted - cycle * 146_097
        let yearOfCycle =
            (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let month = (5 * dayOfYear + 2) / 153
        self.number = number
        year = cycle * 400 + yearOfCycle + (month >= 10 ? 1 : 0)
        self.month = month < 10 ? month + 3 : month - 9
        day = dayOfYear - (153 * month + 2) / 5 + 1
    }

    /// nil if there is no such day.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...12).contains(month) else { return nil }
        let shifted = month > 2 ? year : year - 1
        let cycle = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfCycle = shifted - cycle * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
        self.init(number: cycle * 146_097 + dayOfCycle - 719_468)
        guard (self.year, self.month, self.day) == (year, month, day) else { return nil }
    }

    /// The day of a time since 1970, and what has passed of this day.
    ///
    /// - Parameter length: of a day, in the unit of the time.
    package static func split(_ time: Int, length: Int) -> (day: CalendarDay, rest: Int) {
        var (number, rest) = time.quotientAndRemainder(dividingBy: length)
        if rest < 0 { (number, rest) = (number - 1, rest + length) }
        return (CalendarDay(number: number), rest)
    }
}
