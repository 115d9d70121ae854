import Foundation
import Testing

@testable import DarkroomCore

/// A moment has the text of `Clock.timestamp`.
struct MomentTests {
    @Test(arguments: [
        0, 1, 999, 86_399_999, 86_400_000, 951_782_400_000, 951_868_800_000, 1_709_164_800_123,
        1_767_225_599_999, 4_107_456_000_000, 253_402_300_799_999, -1, -86_400_001,
        -2_203_891_200_000,
    ])
    func hasTheTextOfTheClock(milliseconds: Int) throws {
        // The text of a date has the whole milliseconds before it, and a whole one is not exact in seconds.
        let date = Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1000)
        let moment = Moment(milliseconds: milliseconds)
        #expect(moment.text == Clock.timestamp(date))
        #expect(Moment(moment.text) == moment)
        let file = try JSONEncoder().encode([moment])
        #expect(String(decoding: file, as: UTF8.self) == "[\"\(moment.text)\"]")
        #expect(try JSONDecoder().decode([Moment].self, from: file) == [moment])
    }

    @Test(arguments: [Int.min, .max]) func numbersOfAFileMayHaveAnyValue(milliseconds: Int) {
        #expect(Moment(milliseconds: milliseconds).text.utf8.count == 24)
    }

    @Test(arguments: ["", "yesterday", "2026-13-01T00:00:00.000Z"])
    func refusesOtherTexts(text: String) {
        #expect(Moment(text) == nil)
    }
}
