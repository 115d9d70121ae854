import Testing

@testable import DarkroomBatch

@Suite struct SourceSizesTests {
    private static let fixed = 32_768.0

    @Test func sumsWhatIsKnown() {
        var sizes = SourceSizes()
        #expect(sizes.sums.mean == 1)
        sizes.learn(0, bytes: 1000, images: 2)
        sizes.learn(1, bytes: 5000, images: 1)
        // A source without unfinished images, and one that is known already.
        sizes.learn(2, bytes: 7, images: 0)
        sizes.learn(1, bytes: 9, images: 1)
        #expect(sizes.sums.left == 7000 + 3 * Self.fixed)
        #expect(sizes.sums.leftImages == 3)
        sizes.imageEnded(0, isLast: false)
        sizes.imageEnded(0, isLast: true)
        // The size of this one was never known.
        sizes.imageEnded(3, isLast: true)
        #expect(sizes.sums.ended == 2000 + 2 * Self.fixed && sizes.sums.endedImages == 2)
        #expect(sizes.sums.left == 5000 + Self.fixed && sizes.sums.leftImages == 1)
        #expect(sizes.sums.mean == 7000 / 3 + Self.fixed)
    }

    @Test(arguments: [(1, false), (7, false), (8, true), (4096, true), (4097, false)])
    func areExaminedOnceIfWorthWhile(images: Int, isWorthWhile: Bool) {
        var sizes = SourceSizes()
        let first = sizes.beginExamination(images: images)
        #expect(first == isWorthWhile)
        let second = sizes.beginExamination(images: images)
        #expect(!second)
    }
}
