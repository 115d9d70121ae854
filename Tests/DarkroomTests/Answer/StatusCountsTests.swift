import Foundation
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore

/// How images with warnings are counted.
struct StatusCountsTests {
    private static func image(_ state: ImageState, _ warnings: [String]?) -> ImageStatus {
        ImageStatus(name: "a", state: state, warnings: warnings)
    }

    private static func counts(total: Int = 4, filtered: Int = 4, _ warnings: Int?) -> Status.Counts
    {
        var counts = Status.Counts()
        counts.total = total
        counts.filtered = filtered
        counts.warnings = warnings
        return counts
    }

    @Test(arguments: ImageState.allCases) func onlyFilteredImagesCount(state: ImageState) {
        let images = [nil, [], ["w"], ["w", "v"]].map { Self.image(state, $0) }
        let counts = Status.Counts(of: images)
        #expect(ImageState.allCases.allSatisfy { counts[$0] == ($0 == state ? 4 : 0) })
        #expect(counts.warnings == (state == .filtered ? 2 : 0))
        #expect(counts.finished == (state.isFinal ? 4 : 0))
        var less = counts
        for image in images { less.count(image.state, isWarned: image.isWarned, times: -1) }
        less.total = 0
        #expect(less == Status.Counts())
    }

    /// Two counts, their sum, and whether a status with the first ones may have the images that the second ones count.
    @Test(arguments: [
        (counts(1), counts(1), Int?(2), true), (counts(1), counts(2), 3, false),
        (counts(nil), counts(2), nil, true), (counts(2), counts(nil), nil, false),
        (counts(nil), counts(nil), nil, true),
        (counts(.max), counts(1), .max, false),
        (counts(filtered: 3, nil), counts(2), nil, false),
    ])
    func whatIsNotKnownOfAPartIsNotKnownOfAll(
        a: Status.Counts, b: Status.Counts, sum: Int?, isSame: Bool
    ) {
        var both = a
        both.add(b)
        #expect(both.warnings == sum && both.total == 8)
        #expect(a.agree(with: b) == isSame)
        if sum == .max { return }
        both.subtract(b)
        #expect(both.warnings == (sum == nil ? nil : a.warnings))
    }

    /// A file of an older version does not have the number.
    @Test(arguments: [nil, 0, 7] as [Int?]) func comesBackFromItsFile(warnings: Int?) throws {
        let counts = Self.counts(warnings)
        var writer = JSONWriter()
        counts.write(&writer)
        let text = String(decoding: writer.text(), as: UTF8.self)
        #expect(text.contains("\"warnings\":\(warnings ?? -1)") == (warnings != nil), "\(text)")
        #expect(try JSONDecoder().decode(Status.Counts.self, from: Data(text.utf8)) == counts)
    }

    @Test(arguments: [(nil, nil), (0, nil), (3, "3 with warnings")] as [(Int?, String?)])
    func saysHowManyThereAre(warnings: Int?, text: String?) {
        #expect(Self.counts(warnings).warningText == text)
    }
}
