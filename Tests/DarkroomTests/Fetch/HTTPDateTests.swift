import Foundation
import Testing

@testable import DarkroomFetch

struct HTTPDateTests {
    /// 1 January 2026.
    static let now = 1_767_225_600

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Sun Nov 16 08:49:37 1994", 784_975_777),
        ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777),
        ("SUN, 06 NOV 1994 08:49:37 UTC", 784_111_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_799),
        ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        // More than 50 years after 2026, so of the last century.
        ("Friday, 31-Dec-77 00:00:00 GMT", 252_374_400),
        ("Thursday, 31-Dec-76 00:00:00 GMT", 3_376_598_400),
        ("Monday, 01-Jan-00 00:00:00 GMT", 946_684_800),
    ])
    func reads(text: String, seconds: Int) {
        #expect(HTTPDate(text.utf8, now: Self.now)?.secondsSince1970 == seconds)
    }

    @Test(arguments: [
        "", "0", "-1", "now", "Sun", "Sun,", "Sun, 06 Nov 1994", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 GMT ",
        " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMTx", "Xun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nvo 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT",
        "Sun, 29 Feb 2001 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49:37.5 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov 06  08:49:37 1994",
        "Sun Nov  6 08:49:37 1994 GMT", "Sunday Nov  6 08:49:37 1994",
        "Sun, ٠٦ Nov 1994 08:49:37 GMT",
        "1994-11-06T08:49:37Z", String(repeating: "S", count: 100_000),
    ])
    func refuses(text: String) {
        #expect(HTTPDate(text.utf8, now: Self.now) == nil)
    }

    /// Against Foundation's calendar, over 400 years, in steps that meet every day of the week and month.
    @Test func printsAndReadsBack() {
        let style = Date.VerbatimFormatStyle(
            format:
                "\(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT",
            locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt,
            calendar: Calendar(identifier: .gregorian))
        for seconds in stride(from: -6_000_000_000, to: 7_000_000_000, by: 13_000_003) {
            let date = HTTPDate(secondsSince1970: seconds)
            let expected = Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(style)
            #expect("\(date)" == expected)
            #expect(HTTPDate("\(date)".utf8) == date)
        }
    }
}
