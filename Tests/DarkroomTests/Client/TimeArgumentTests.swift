import DarkroomClient
import Foundation
import Testing

struct TimeArgumentTests {
    private static let now = Date(timeIntervalSince1970: 1_795_392_000)

    @Test(
        arguments: [
            ("now", 0.0), ("90min", -5400), ("12h", -43200), ("7d", -604_800), ("1w", -604_800),
            ("2 hours", -7200),
            ("today", 0), ("yesterday", -86400), ("2026-11-21", -172_800),
            ("2026-11-22 08:30", -55800),
            ("2026-11-22T08:30:15", -55785), ("2026-11-22T08:30:00Z", -55800),
            ("2026-11-22T08:30:00.500Z", -55799.5),
        ] as [(String, Double)])
    func readsTimes(text: String, offset: Double) throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let date = try #require(TimeArgument.date(text, now: Self.now, calendar: calendar))
        #expect(date.timeIntervalSince(Self.now) == offset)
    }

    @Test(arguments: [
        "", "soon", "2026", "12", "2026-13-01", "2026-02-30", "2026-11-22 8", "-1h",
        "2026-11-22 25:00",
    ])
    func refusesOtherTimes(text: String) {
        #expect(TimeArgument.date(text, now: Self.now) == nil)
    }
}
