import TestPictures
import Testing

@testable import DarkroomPicture

/// Weights as whole numbers: exact sums, and as near to the real ones as their unit allows.
struct IntegerWeightsTests {
    static let axes = [(4000, 800), (800, 4000), (12000, 100), (7, 5), (5, 7), (3, 1), (1, 3)]

    @Test(arguments: ResizeFilterTests.kernels, axes)
    func groupsSumUpToOne(_ kernel: Filter.Kernel, sizes: (Int, Int)) {
        let axis = ResampleAxis(
            input: sizes.0, scaled: sizes.1, window: 0..<sizes.1, kernel: kernel)
        let whole = IntegerWeights(axis.weights, groups: axis.offsets, largestShift: 21)
        let unit = 1 << whole.shift
        for index in 0..<axis.count {
            let group = axis.offsets[index]..<axis.offsets[index + 1]
            let values = group.map { Int(whole.values[$0]) }
            #expect(values.reduce(0, +) == unit)
            // So that sums of bytes fit 32 bits.
            #expect(values.reduce(0) { $0 + abs($1) } <= 1 << 23)
            let errors: Double = zip(values, group).reduce(0) { sum, pair in
                sum + abs(Double(pair.0) / Double(unit) - Double(axis.weights[pair.1]))
            }
            // Half a unit each; the heaviest takes what they come to.
            #expect(errors * Double(unit) <= Double(group.count) + 1)
            // In the worst picture, black where they are too small and white elsewhere, a sample of 8 bits
            // is off by half their sum.
            #expect(errors / 2 * 255 < 0.25)
        }
    }

    /// A sample of fewer stored pixels than others counts less, and each output pixel is at its place among the stored
    /// pixels: nothing is moved, at neither end.
    @Test(arguments: ResizeFilterTests.kernels, [(801, 2), (1003, 4), (999, 8), (1607, 8)])
    func reducedSidesKeepTheirPlaces(_ kernel: Filter.Kernel, side: (length: Int, divisor: Int)) {
        let scaled = side.length / side.divisor / 3
        func axis(_ beginsWithRest: Bool) -> ResampleAxis {
            ResampleAxis.of(
                ResampleAxis.Key(
                    input: .init(
                        side.length, divisor: side.divisor, beginsWithRest: beginsWithRest),
                    scaled: scaled, window: 0..<scaled, kernel: kernel))
        }
        let (end, start) = (axis(false), axis(true))
        let samples = (side.length + side.divisor - 1) / side.divisor
        for index in 0..<scaled {
            let taps = end.taps(index)
            let weights = end.weights[end.offsets[index]..<end.offsets[index + 1]]
            #expect(abs(weights.reduce(0, +) - 1) < 1e-5)
            // The picture turned round has the same weights, turned round.
            let other = scaled - 1 - index
            let turned = start.weights[start.offsets[other]..<start.offsets[other + 1]].reversed()
            #expect(start.taps(other) == samples - taps.upperBound..<samples - taps.lowerBound)
            #expect(zip(weights, turned).allSatisfy { abs($0 - $1) < 1e-5 })
            // In the middle, the weights of a ramp come to the centre of the output pixel, in stored pixels.
            guard taps.lowerBound > 0, taps.upperBound < samples else { continue }
            let centre = zip(taps, weights).reduce(0.0) {
                $0 + (Double($1.0) + 0.5) * Double(side.divisor) * Double($1.1)
            }
            let wanted = (Double(index) + 0.5) * Double(side.length) / Double(scaled)
            #expect(abs(centre - wanted) < 0.1 * Double(side.divisor), "\(index)")
        }
    }

    @Test(arguments: [0.1, 0.5, 1, 2, 7.7, 16])
    func symmetricKernelsSumUpToOne(sigma: Double) {
        let weights = GaussianKernel.weights(sigma: sigma, .bytes).map { Float($0) }
        let whole = IntegerWeights(symmetric: weights, largestShift: 17)
        let sum = whole.values.dropFirst().reduce(Int(whole.values[0])) { $0 + 2 * Int($1) }
        #expect(sum == 1 << whole.shift)
        #expect((14...17).contains(whole.shift))
        #expect(whole.values.allSatisfy { $0 >= 0 })
    }
}

/// The fast stage for opaque pictures of 8 bits against the one for all pictures.
struct OpaqueResampleTests {
    @Test(arguments: ResizeFilterTests.kernels, [(90, 70), (300, 20), (31, 200), (1, 1)])
    func agreesWithTheGeneralStage(_ kernel: Filter.Kernel, size: (Int, Int)) throws {
        for channels in [1, 3] {
            let grid = PixelGrid.noise(151, 103, channels: channels)
            let (across, down) = axes(grid, to: size, kernel)
            let layout = PixelLayout(width: size.0, height: size.1, channels: channels, depth: 8)
            let memory = PictureMemory(limit: 1 << 24)
            let fast = try PixelGrid(
                pulling: OpaqueResampleStage(
                    layout, across: across, down: down, GridStage(grid), memory))
            let general = try PixelGrid(
                pulling: ResampleStage(
                    layout, across: across, down: down, linear: false, GridStage(grid), memory))
            let steps = zip(fast.samples, general.samples).map { abs(Int($0) - Int($1)) }
            let different = steps.reduce(0, +)
            #expect(steps.allSatisfy { $0 <= 1 })
            // They round at other places, which seldom shows.
            #expect(different * 20 <= steps.count, "\(different) of \(steps.count)")
        }
    }

    @Test func isTakenWhereItsRowsAreFew() {
        let wide = PixelLayout(width: 12_000, height: 8000, channels: 3, depth: 8)
        func suits(_ layout: PixelLayout, to height: Int) -> Bool {
            OpaqueResampleStage.suits(
                layout,
                down: ResampleAxis(
                    input: layout.height, scaled: height, window: 0..<height, kernel: .lanczos3))
        }
        #expect(suits(wide, to: 533))
        #expect(suits(wide, to: 16_000))
        // 600 rows of 36 KB
        #expect(!suits(wide, to: 80))
        let narrow = PixelLayout(width: 10, height: 100_000, channels: 1, depth: 8)
        #expect(suits(narrow, to: 600))
        // 1200 rows, however short
        #expect(!suits(narrow, to: 500))
        for (channels, depth) in [(2, 8), (4, 8), (1, 16), (3, 16)] {
            let other = PixelLayout(width: 100, height: 80, channels: channels, depth: depth)
            #expect(!suits(other, to: 40))
        }
    }

    private func axes(
        _ grid: PixelGrid, to size: (Int, Int), _ kernel: Filter.Kernel
    ) -> (ResampleAxis, ResampleAxis) {
        let (width, height) = (grid.layout.width, grid.layout.height)
        return (
            ResampleAxis(input: width, scaled: size.0, window: 0..<size.0, kernel: kernel),
            ResampleAxis(input: height, scaled: size.1, window: 0..<size.1, kernel: kernel)
        )
    }
}
