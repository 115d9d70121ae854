import DarkroomCore
import Foundation

/// A moment in the past, as people write it on a command line.
package enum TimeArgument {
    /// `2026-11-21`, `2026-11-21 08:00`, `2026-11-21T08:00:00Z`, `today`, `yesterday`, or how long ago: `90min`, `7d`,
    /// `1w`. A date without a time zone is in the user's. nil for anything else.
    package static func date(
        _ text: String, now: Date = Date(), calendar: Calendar = Calendar(identifier: .gregorian)
    ) -> Date? {
        switch text {
        case "now": return now
        case "today": return calendar.startOfDay(for: now)
        case "yesterday":
            return calendar.date(byAdding: .day, value: -1, to: calendar.startOfDay(for: now))
        default: break
        }
        // A bare number would be a number of seconds, or a year.
        let hasUnit = text.last?.isLetter == true
        if hasUnit, let seconds = Quantity.seconds(Quantity.correctedTime(text) ?? text) {
            return now.addingTimeInterval(-seconds)
        }
        return Clock.date(text) ?? (try? Date(text, strategy: .iso8601)) ?? local(text, calendar)
    }

    private static func local(_ text: String, _ calendar: Calendar) -> Date? {
        let parts = text.split(whereSeparator: { $0 == " " || $0 == "T" })
        guard let day = parts.first, parts.count <= 2 else { return nil }
        let date = day.split(separator: "-").map { Int($0) }
        let time = parts.count > 1 ? parts[1].split(separator: ":").map { Int($0) } : []
        guard date.count == 3, day.utf8.count == 10, time.count != 1, time.count <= 3,
            !date.contains(nil), !time.contains(nil)
        else { return nil }
        let components = DateComponents(
            calendar: calendar, timeZone: calendar.timeZone, year: date[0], month: date[1],
            day: date[2], hour: time.first ?? 0, minute: time.count > 1 ? time[1] : 0,
            second: time.count > 2 ? time[2] : 0)
        return components.isValidDate ? components.date : nil
    }
}
