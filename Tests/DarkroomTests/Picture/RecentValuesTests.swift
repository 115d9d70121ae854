import Synchronization
import Testing

@testable import DarkroomPicture

/// What is kept of the values that were made last.
final class RecentValuesTests {
    private let values = RecentValues<Int, String>(most: 2)
    private let made = Mutex<[Int]>([])

    private func value(_ key: Int) -> String {
        values.value(
            for: key, isKept: { $0.count < 4 },
            make: {
                made.withLock { $0.append(key) }
                return "\(key)"
            })
    }

    @Test(arguments: [
        ([1, 1, 1], [1]), ([1, 2, 1, 2], [1, 2]),
        // The one that was used the longest time ago leaves.
        ([1, 2, 1, 3, 1, 2], [1, 2, 3, 2]),
        // Large ones are not kept, and nothing leaves for them.
        ([1, 2, 1000, 1000, 1, 2], [1, 2, 1000, 1000]),
    ])
    func makesWhatIsNotKept(keys: [Int], expected: [Int]) {
        for key in keys { #expect(value(key) == "\(key)") }
        #expect(made.withLock { $0 } == expected)
    }

    /// Pictures of one size have the same weights, those of another size others.
    @Test func axesDependOnAllOfTheirKey() {
        let keys = [
            (100, 50, 0..<50, Filter.Kernel.lanczos3), (101, 50, 0..<50, .lanczos3),
            (100, 51, 0..<50, .lanczos3), (100, 50, 1..<50, .lanczos3), (100, 50, 0..<50, .cubic),
        ]
        for (input, scaled, window, kernel) in keys + keys.reversed() {
            let axis = ResampleAxis.of(
                ResampleAxis.Key(
                    input: .init(input), scaled: scaled, window: window, kernel: kernel))
            let fresh = ResampleAxis(
                input: input, scaled: scaled, window: window, kernel: kernel)
            #expect(axis.first == fresh.first)
            #expect(axis.offsets == fresh.offsets)
            #expect(axis.weights == fresh.weights)
            for shift in [15, 21] {
                #expect(
                    axis.integers(largestShift: shift).values
                        == IntegerWeights(
                            fresh.weights, groups: fresh.offsets, largestShift: shift
                        ).values)
            }
        }
    }
}
