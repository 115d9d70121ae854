import TestPictures
import Testing

@testable import DarkroomBoard
@testable import DarkroomWork

/// Rates and estimates from tables of times. Nothing here waits.
struct ProgressMeterTests {
    /// A moment in seconds, the images that have ended, and whether work may begin from then on.
    typealias Moment = (time: Double, images: Int, mayWork: Bool)

    /// Each image has an output of 1000 bytes.
    private static func meter(_ moments: [Moment]) -> ProgressMeter {
        var meter = ProgressMeter()
        for moment in moments {
            meter.add(
                time: UInt64(moment.time * 1e9), images: moment.images,
                bytes: 1000 * moment.images, mayWork: moment.mayWork)
        }
        return meter
    }

    @Test(
        arguments: [
            // Nothing is known yet.
            ([], nil), ([(0, 0, true)], nil), ([(0, 0, true), (5, 0, true)], nil),
            ([(0, 0, true), (5, 10, true)], 2),
            // What a former run has done does not count.
            ([(0, 1000, true), (5, 1010, true)], 2),
            // Only what was lately.
            ([(0, 0, true), (10, 1000, true), (15, 1005, true), (20, 1010, true)], 1),
            // Fewer than five images are not enough for a rate, however long they have taken.
            ([(0, 0, true), (10, 8, true), (20, 9, true), (30, 10, true)], 1.0 / 3),
            ([(0, 0, true), (100, 1, true), (200, 1, true)], 0.005),
            // While nothing may begin, there is none, and that time does not count.
            ([(0, 0, true), (5, 10, true), (6, 12, false)], nil),
            ([(0, 0, true), (5, 10, true), (6, 12, false), (100, 12, true), (102, 16, true)], 2),
            ([(0, 0, false), (50, 0, true), (55, 10, true)], 2),
            // A clock that stands still tells nothing.
            ([(0, 0, true), (0, 10, true)], nil),
        ] as [([Moment], Double?)])
    func measuresTheRate(moments: [Moment], rate: Double?) throws {
        let meter = Self.meter(moments)
        guard let rate else {
            #expect(meter.imagesPerSecond == nil && meter.bytesPerSecond == nil)
            return
        }
        #expect(abs(try #require(meter.imagesPerSecond) - rate) < 1e-9)
        #expect(abs(try #require(meter.bytesPerSecond) - 1000 * rate) < 1e-6)
    }

    @Test(
        arguments: [
            ([], 10, nil), ([(0, 0, true), (5, 0, true)], 10, nil),
            // What happens before the first image has ended, does not happen again.
            ([(0, 0, true), (60, 1, true), (62, 3, true)], 10, 10),
            // A few of many images in a moment tell nothing.
            ([(0, 0, true), (1, 1, true), (2, 2, true)], 1000, nil),
            ([(0, 0, true), (1, 1, true), (2, 2, true)], 10, 10),
            // One large picture is enough if it has taken long.
            ([(0, 0, true), (30, 1, true)], 4, 120), ([(0, 0, true), (1, 1, true)], 4, nil),
            // While an image takes as long as the others did, the time passes; then the estimate waits, and grows.
            ([(0, 0, true), (1, 1, true), (11, 11, true), (11.5, 11, true)], 10, 9.5),
            ([(0, 0, true), (1, 1, true), (11, 11, true), (12, 11, true)], 10, 9),
            ([(0, 0, true), (1, 1, true), (11, 11, true), (33, 11, true)], 10, 26.181818),
            // The time of a pause does not count.
            ([(0, 0, true), (1, 1, true), (6, 6, false), (600, 6, true), (605, 11, true)], 10, 10),
            ([(0, 0, true), (1, 1, true), (11, 11, false), (600, 11, false)], 10, 10),
            // All of the batch counts, not what was lately.
            ([(0, 0, true), (1, 1, true), (11, 21, true), (31, 31, true)], 30, 30),
            ([(0, 0, true), (1, 1, true), (3, 3, true)], 0, 0),
        ] as [([Moment], Int, Double?)])
    func estimatesTheRest(moments: [Moment], left: Int, seconds: Double?) throws {
        let found = Self.meter(moments).secondsLeft(images: left)
        guard let seconds else { return #expect(found == nil) }
        #expect(abs(try #require(found) - seconds) < 1e-5)
    }

    /// Small pictures and some that take thirty times as long, in any order, by several threads, after a download that
    /// nothing goes before: from a fifth on the estimate is a quarter off at most, until so few are left that their
    /// sizes decide.
    @Test(arguments: [1, 2, 3, 4, 5], [1, 2, 8]) func isAQuarterOffAtMost(
        seed: UInt64, threads: Int
    ) {
        var random = SplitMix64(seed: seed)
        let seconds = (0..<1000).map { _ -> Double in
            let kind = random.next() % 10
            return [0.05, 0.05, 0.1, 0.1, 0.2, 0.2, 0.4, 0.6, 1, 1.5][Int(kind)]
        }
        var free = [Double](repeating: 3, count: threads)
        var ends: [Double] = []
        for time in seconds {
            let next = free.indices.min { free[$0] < free[$1] } ?? 0
            free[next] += time
            ends.append(free[next])
        }
        ends.sort()
        let whole = ends[ends.count - 1]
        var meter = ProgressMeter()
        var worst = 0.0
        var checks = 0
        var ended = 0
        for moment in stride(from: 0, to: whole, by: 0.5) {
            while ended < ends.count, ends[ended] <= moment { ended += 1 }
            meter.add(time: UInt64(moment * 1e9), images: ended, bytes: 0, mayWork: true)
            guard ended >= ends.count / 5, ended < ends.count * 4 / 5,
                let left = meter.secondsLeft(images: ends.count - ended)
            else { continue }
            checks += 1
            worst = max(worst, abs(left - (whole - moment)) / (whole - moment))
        }
        #expect(checks > 10)
        #expect(worst < 0.25)
    }

    /// The small ones first, the hardest order: with the sizes of the sources the estimate is right from the beginning.
    /// The work is not quite what the sizes tell, and what each image takes beside that shows on the way.
    @Test(arguments: [1, 2, 3, 4, 5], [30_000, 200_000])
    func knowsByTheSizesWhatIsLeft(seed: UInt64, fixed: Int) {
        var random = SplitMix64(seed: seed)
        var sizes = SourceSizes()
        let small = [20_000, 60_000, 150_000, 400_000]
        let bytes = (0..<200).map { $0 < 150 ? small[$0 % 4] : 6_000_000 }
        let seconds = bytes.map {
            Double($0 + fixed) * 1e-6 * Double(0.85 + 0.3 * random.unit())
        }
        for (source, count) in bytes.enumerated() {
            sizes.learn(source, bytes: count, images: [0: 1])
        }
        let whole = seconds.reduce(0, +)
        var meter = ProgressMeter()
        var (time, worst, checks) = (0.0, 0.0, 0)
        for (source, duration) in seconds.enumerated() {
            meter.add(
                time: UInt64(time * 1e9), images: source, bytes: 0, sizes: sizes.sums,
                mayWork: true)
            if source >= 40, source < 180, let left = meter.secondsLeft(images: 200 - source) {
                worst = max(worst, abs(left - (whole - time)) / (whole - time))
                checks += 1
            }
            time += duration
            sizes.took(source, kind: 0, seconds: duration)
            sizes.imageEnded(source, kind: 0, isLast: true)
        }
        #expect(checks == 140 && worst < 0.25)
    }

    @Test(arguments: [
        (0, 0), (0.012345, 0.0123), (1.2345, 1.23), (12.345, 12.3), (123.45, 123),
        (123_456.7, 123_457), (0.000_000_4, 0),
    ])
    func shortensNumbers(number: Double, shortened: Double) {
        #expect(number.shortened == shortened)
    }
}
