import DarkroomPicture
import Testing

@testable import DarkroomBoard
@testable import DarkroomManifest

struct SourceSizesTests {
    private static let fixed = 32_768.0

    @Test func sumsWhatIsKnown() {
        var sizes = SourceSizes()
        #expect(sizes.sums.mean == 1)
        sizes.learn(0, bytes: 1000, images: [0: 2])
        sizes.learn(1, bytes: 5000, images: [0: 1])
        // A source without unfinished images, and one that is known already.
        sizes.learn(2, bytes: 7, images: [:])
        sizes.learn(1, bytes: 9, images: [0: 1])
        #expect(sizes.sums.left == 7000 + 3 * Self.fixed)
        #expect(sizes.sums.leftImages == 3)
        sizes.imageEnded(0, kind: 0, isLast: false)
        sizes.imageEnded(0, kind: 0, isLast: true)
        // The size of this one was never known.
        sizes.imageEnded(3, kind: 0, isLast: true)
        #expect(sizes.sums.ended == 2000 + 2 * Self.fixed && sizes.sums.endedImages == 2)
        #expect(sizes.sums.left == 5000 + Self.fixed && sizes.sums.leftImages == 1)
        #expect(sizes.sums.mean == 7000 / 3 + Self.fixed)
    }

    /// Images of one kind take ten times as long as those of the other, which their sizes do not tell.
    @Test(arguments: [(4, 2), (40, 7)])
    func learnsWhatAKindTakes(_ ended: Int, expected: Int) {
        var sizes = SourceSizes()
        for source in 0..<100 {
            sizes.learn(source, bytes: 1_000_000, images: [UInt8(source % 2): 1])
        }
        for source in 0..<ended {
            sizes.took(source, kind: UInt8(source % 2), seconds: source % 2 == 0 ? 1 : 10)
            sizes.imageEnded(source, kind: UInt8(source % 2), isLast: true)
        }
        let groups = sizes.sums.groups.sorted { $0.key < $1.key }.map(\.value)
        #expect(groups.map(\.endedImages) == [ended / 2, ended / 2])
        // 2 images count as much as the size does: of 2 + 2, and of 20 + 2.
        let doubt = 2.0
        let images = Double(ended / 2)
        let rates = [1 / 5.5, 10 / 5.5].map { ($0 * images + doubt) / (images + doubt) }
        for (group, rate) in zip(groups, rates) {
            #expect(abs(group.rate - rate) < 1e-9, "\(group.rate) is not \(rate)")
        }
        #expect(Int((rates[1] / rates[0]).rounded()) == expected, "\(rates)")
        #expect(sizes.sums.leftImages == 100 - ended && sizes.sums.endedImages == ended)
    }

    @Test func kindsAreFiltersAndOutputs() {
        func image(_ filters: [Filter], _ format: OutputFormat = .png) -> Manifest.Image {
            Manifest.Image(
                name: "a", origin: .source("a.png"), filters: filters,
                output: OutputOptions(format: format))
        }
        let kinds = WorkKinds(of: [
            image([]), image([.sepia(intensity: 1)]), image([]), image([], .jpeg),
        ])
        #expect((0..<4).map { kinds[$0] } == [0, 1, 0, 2])
        #expect(!kinds.areAllOne)
        let alike = WorkKinds(of: [image([]), image([])])
        #expect(alike.areAllOne && alike[1] == 0)
        // The number of kinds is bounded.
        let many = WorkKinds(of: (0..<40).map { image([.sepia(intensity: Double($0) / 40)]) })
        #expect((0..<40).map { Int(many[$0]) } == (0..<40).map { min($0, 15) })
    }

    /// Images of this many bytes take so long; the fixed part that they show.
    @Test(
        arguments: [
            // Too few, and all of one size.
            ([(1000, 1.0)], 8, 32_768), ([(1000, 1)], 100, 32_768),
            ([(1000, 1), (1100, 3)], 100, 32_768),
            // 100 kB are as much as what every image takes.
            ([(0, 1), (100_000, 2)], 8, 100_000), ([(50_000, 1.5), (100_000, 2)], 20, 100_000),
            ([(10_000, 1.1), (100_000, 2), (6_000_000, 61)], 20, 100_000),
            // Sizes that do not matter, and times that depend on nothing else.
            ([(1000, 2), (100_000, 1)], 20, 67_108_864), ([(1000, 1), (100_000, 100)], 20, 1024),
        ] as [([(Int, Double)], Int, Double)])
    func learnsTheFixedPart(images: [(Int, Double)], times: Int, fixed: Double) {
        var model = WorkModel()
        for _ in 0..<times {
            for (bytes, seconds) in images { model.add(bytes: bytes, seconds: seconds) }
        }
        #expect(abs(model.fixed - fixed) < fixed * 1e-6, "\(model.fixed)")
    }

    /// A longer time of one image does not move it far.
    @Test func isNotMovedByOne() {
        var model = WorkModel()
        for number in 0..<200 {
            let bytes = [20_000, 300_000, 4_000_000][number % 3]
            model.add(bytes: bytes, seconds: Double(bytes + 60_000) * 1e-6 * (number == 99 ? 5 : 1))
        }
        #expect((30_000...120_000).contains(model.fixed), "\(model.fixed)")
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
