import TestPictures
import Testing

@testable import DarkroomPicture

/// What a blur can be off by in any picture, from the kernel that the code really has.
///
/// A sample of the result is a sum of samples times weights. With weights that differ from the Gaussian's by
/// e, which sum up to 0, it is off by Σ e·sample; no samples from 0 to white make more of that than white where
/// e is positive and black elsewhere, which is white · Σ|e| / 2.
struct BlurBoundTests {
    static let sigmas = [
        0.1, 0.3, 0.7, 1, 1.6, 2.5, 4, 6.3, 10, 15.9, 16, 16.01, 17, 20, 30, 50, 100, 250,
    ]
    /// The `amount` of an unsharp mask multiplies what its blur is off by; 1 for a blur itself.
    static let gains = [1, GaussianKernel.Precision.largestGainOfBytes, 10]

    /// Before it is rounded no sample of 8 bits is off by a whole step; so it is by one at most after.
    @Test(arguments: sigmas, gains)
    func noPictureIsOffByMore(sigma: Double, gain: Double) throws {
        let kernel = try MeasuredKernel(sigma: sigma, gain: gain, depth: 8)
        #expect(gain * (kernel.largestError * 255 + kernel.rounding) < 0.75)
    }

    /// Of 16 bits a blur keeps to a quarter of a step, except for what sums of floats are off by.
    @Test(arguments: sigmas)
    func noPictureOfWordsIsOffByMore(sigma: Double) throws {
        let kernel = try MeasuredKernel(sigma: sigma, gain: 1, depth: 16)
        #expect(kernel.largestError * 65535 < 0.25)
    }

    /// Down the columns it is the same kernel.
    @Test(arguments: sigmas, gains)
    func columnsAreLikeRows(sigma: Double, gain: Double) throws {
        let kernel = try MeasuredKernel(sigma: sigma, gain: gain, depth: 8)
        let count = kernel.own.count
        let line = PixelGrid(1, count, channels: 1) { _, y, _ in y == count / 2 ? 255 : 0 }
        let blurred = try MeasuredKernel.blur(line, sigma: sigma, gain: gain)
        for (weight, sample) in zip(kernel.own, blurred) {
            #expect(abs(Double(sample) - 255 * weight) <= kernel.rounding + 1e-4)
        }
    }

    /// The pictures that are worst of all, through the filters themselves: in their middle all differences
    /// add up, upwards or downwards. For an unsharp mask the middle is about what the blur makes of it.
    @Test(arguments: [2.2, 16, 16.01, 30], gains)
    func theWorstPicturesAreRight(sigma: Double, gain: Double) throws {
        let kernel = try MeasuredKernel(sigma: sigma, gain: gain, depth: 8)
        let middle = kernel.own.count / 2
        for isUpwards in [true, false] {
            var grid = PixelGrid(kernel.own.count, kernel.own.count, channels: 1) { x, y, _ in
                (kernel.error(x, y) > 0) == isUpwards ? 255 : 0
            }
            grid[middle, middle, 0] = 0
            let around = kernel.gaussianSum(of: grid)
            let centre = kernel.gaussian[middle] * kernel.gaussian[middle]
            let value = (around / (1 - centre)).rounded()
            grid[middle, middle, 0] = UInt16(value)
            let blurred = around + centre * value
            let sharpened = value + gain * (value - blurred)
            let blur = try grid.developed(.blur(sigma: sigma))
            #expect(abs(Double(blur[middle, middle, 0]) - blurred.rounded()) <= 1)
            let filter = Filter.sharpen(sigma: sigma, amount: gain, threshold: 0)
            let sharp = try grid.developed(filter)
            #expect(abs(Double(sharp[middle, middle, 0]) - sharpened.rounded()) <= 1)
        }
    }
}

/// The kernel along one axis as the code has it, found by blurring a single point in a row, beside the Gaussian.
private struct MeasuredKernel {
    /// Both from one end to the other, as far as the Gaussian goes.
    let own: [Double]
    let gaussian: [Double]
    /// What whole numbers between the two passes are off by, in steps of the result.
    let rounding: Double

    init(sigma: Double, gain: Double, depth: Int) throws {
        let gaussian = BlurReference.gaussian(sigma, reach: 8)
        let white: UInt16 = depth == 8 ? 255 : 65535
        let point = PixelGrid(gaussian.count, 1, channels: 1, depth: depth) { x, _, _ in
            x == gaussian.count / 2 ? white : 0
        }
        self.gaussian = gaussian
        own = try Self.blur(point, sigma: sigma, gain: gain).map { Double($0) / Double(white) }
        rounding = depth == 8 ? 1.0 / 128 : 0
    }

    /// The samples of a blurred picture before they are rounded.
    static func blur(_ grid: PixelGrid, sigma: Double, gain: Double) throws -> [Float] {
        let rows = try BlurredRows(
            sigma: sigma, gain: gain, GridStage(grid), PictureMemory(limit: 1 << 24), for: "blur")
        return try (0..<grid.layout.height).flatMap { _ in
            let start = try rows.next().blurred
            return withExtendedLifetime(rows) {
                Array(UnsafeBufferPointer(start: start, count: grid.layout.width))
            }
        }
    }

    /// How far the weights of both axes together are from the Gaussian's.
    func error(_ x: Int, _ y: Int) -> Double { own[x] * own[y] - gaussian[x] * gaussian[y] }

    /// What a sample can be off by at most, as a part of white.
    ///
    /// Along both axes: a⊗a − g⊗g = (a − g)⊗a + g⊗(a − g), the sum of whose absolute values is that of one
    /// axis times what the two kernels weigh.
    var largestError: Double {
        let apart = zip(own, gaussian).reduce(0) { $0 + abs($1.0 - $1.1) }
        return apart * (own.reduce(0) { $0 + abs($1) } + 1) / 2
    }

    /// The Gaussian's value in the middle of a picture of its own size.
    func gaussianSum(of grid: PixelGrid) -> Double {
        var sum = 0.0
        for y in gaussian.indices {
            for x in gaussian.indices where grid[x, y, 0] > 0 {
                sum += gaussian[x] * gaussian[y] * Double(grid[x, y, 0])
            }
        }
        return sum
    }
}
