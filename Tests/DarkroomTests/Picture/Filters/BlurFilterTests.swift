import Glibc
import TestPictures
import Testing

@testable import DarkroomPicture

/// Blur and sharpen against naive convolutions in double precision.
struct BlurFilterTests {
    static let sigmas = [0.1, 0.5, 1, 2.3, 5]

    @Test(arguments: sigmas, GeometryFilterTests.layouts)
    func blurAgreesWithTheGaussian(sigma: Double, layout: (Int, Int)) throws {
        for (width, height) in [(23, 17), (1, 30), (30, 1)] {
            let grid = PixelGrid.noise(width, height, channels: layout.0, depth: layout.1)
            // Twice as far out as the filter goes.
            let reference = BlurReference(grid, kernel: BlurReference.gaussian(sigma, reach: 10))
            expectAlike(try grid.developed(.blur(sigma: sigma)), reference.pixel)
        }
    }

    /// At the largest σ that is convolved.
    @Test func blurAgreesUpToItsLargestDirectSigma() throws {
        let sigma = GaussianKernel.largestDirectSigma
        for (channels, depth) in [(3, 8), (4, 16)] {
            let grid = PixelGrid.noise(40, 30, channels: channels, depth: depth)
            let reference = BlurReference(grid, kernel: BlurReference.gaussian(sigma, reach: 8))
            expectAlike(try grid.developed(.blur(sigma: sigma)), reference.pixel)
        }
    }

    /// Far beyond what is worked on at a time, along either axis.
    @Test(arguments: [(20_000, 2), (2, 20_000)])
    func widePicturesAgreeWithTheGaussian(width: Int, height: Int) throws {
        for (sigma, channels) in [(1.7, 3), (17, 1)] {
            let grid = PixelGrid.noise(width, height, channels: channels)
            let kernel = BlurReference.gaussian(sigma, reach: 6)
            let reference = BlurReference(grid, kernel: kernel)
            let result = try grid.developed(.blur(sigma: sigma), rowsPerBand: 300)
            expectAlike(result, reference.pixel)
        }
    }

    /// Above it, where it is a sum of cosines.
    @Test(arguments: [16.01, 20, 61.7], GeometryFilterTests.layouts)
    func largeBlurAgreesWithTheGaussian(sigma: Double, layout: (Int, Int)) throws {
        for (width, height) in [(41, 35), (300, 2), (1, 250)] {
            let grid = PixelGrid.noise(width, height, channels: layout.0, depth: layout.1)
            let reference = BlurReference(grid, kernel: BlurReference.gaussian(sigma, reach: 8))
            expectAlike(try grid.developed(.blur(sigma: sigma)), reference.pixel)
        }
    }

    /// At edges, at lines and at corners, which show a kernel that is too wide or too narrow.
    @Test(arguments: [16.2, 25.6])
    func largeBlurAgreesAtEdges(sigma: Double) throws {
        let kernel = BlurReference.gaussian(sigma, reach: 8)
        let edge = PixelGrid(300, 1, channels: 1) { x, _, _ in x < 150 ? 0 : 255 }
        let line = PixelGrid(1, 300, channels: 1) { _, y, _ in y == 150 ? 255 : 0 }
        let corner = PixelGrid(70, 60, channels: 1) { x, y, _ in x < 35 && y < 30 ? 255 : 0 }
        for grid in [edge, line, corner] {
            let reference = BlurReference(grid, kernel: kernel)
            expectAlike(try grid.developed(.blur(sigma: sigma)), reference.pixel)
        }
    }

    /// No picture at all can be off by more than half a step before it is rounded, and so by more than
    /// one step after: for every σ that is allowed, the sum of the absolute differences says so.
    @Test func kernelsAreNearTheGaussianForEverySigma() {
        for (sigma, own, precision) in Self.kernels {
            // A pixel counts in one direction or the other: half of the sum. Along both axes the kernel is
            // off by what each is off, times what the other weighs.
            let apart = BlurReference.difference(own, sigma)
            let half = apart / 2 * (2 + apart)
            #expect(half * 255 < 0.25, "\(sigma), \(precision)")
            if precision == .words {
                #expect(half * 65535 < 0.25, "\(sigma)")
                // Colour is divided by an alpha of half a step or more.
                #expect(half * 255 * 510 < 0.25, "\(sigma)")
            }
        }
    }

    /// The kernels of σ in steps of 5 % and on both sides of where the way changes, and at the ends.
    static var kernels: [(sigma: Double, own: [Double], GaussianKernel.Precision)] {
        let sigmas =
            [0.1, 0.2, 0.5] + (0...120).map { 0.7 * pow(1.05, Double($0)) }
            + [GaussianKernel.largestDirectSigma, GaussianKernel.largestDirectSigma + 0.01, 250]
        return sigmas.flatMap { sigma in
            [.bytes, .words].map { precision in
                (sigma, BlurReference.kernel(sigma, precision), precision)
            }
        }
    }

    /// Rounding errors stay in the sums for good. A long way further an even colour is exact all the same.
    @Test(arguments: [true, false])
    func largeBlurForgetsWhatLiesBehind(isTall: Bool) throws {
        let (length, even) = (6000, 5000)
        var noise = SplitMix64(seed: 9)
        let grid = PixelGrid(isTall ? 1 : length, isTall ? length : 1, channels: 3, depth: 16) {
            x, y, c in
            max(x, y) < even ? UInt16(truncatingIfNeeded: noise.next()) : UInt16(20_001 + c)
        }
        let result = try grid.developed(.blur(sigma: 40))
        // Farther from the noise than the kernel reaches.
        for place in even + 210..<length {
            let pixel = result.pixel(isTall ? 0 : place, isTall ? place : 0)
            #expect(pixel == [20_001, 20_002, 20_003])
        }
    }

    @Test(arguments: [0.5, 3, 16, 17, 40])
    func blurLeavesNoFringes(sigma: Double) throws {
        expectNoFringes(try PixelGrid.disc(60, 50).developed(.blur(sigma: sigma)))
    }

    /// An even colour stays, at the lowest alpha too.
    @Test(arguments: [0.7, 4, 16, 17, 250], [8, 16])
    func blurKeepsAnEvenColour(sigma: Double, depth: Int) throws {
        let max: UInt16 = depth == 8 ? 255 : 65535
        for colour: [UInt16] in [
            [1], [max], [max, 1], [7, 200, 90], [200, 100, 50, 1], [9, 8, 7, max],
        ] {
            let grid = PixelGrid(12, 9, channels: colour.count, depth: depth) { _, _, c in colour[c]
            }
            #expect(try grid.developed(.blur(sigma: sigma)) == grid)
            #expect(
                try grid.developed(.sharpen(sigma: sigma, amount: 5, threshold: 0)) == grid)
        }
    }

    @Test(arguments: [(1.0, 1.0, 0.0), (2, 0.5, 0.1), (0.8, 10, 0.03), (20, 2, 0)])
    func sharpenAgreesWithTheDefinition(sigma: Double, amount: Double, threshold: Double) throws {
        let kernel = BlurReference.gaussian(sigma, reach: 10)
        for (channels, depth) in GeometryFilterTests.layouts {
            let grid = PixelGrid.noise(23, 17, channels: channels, depth: depth)
            let blurred = BlurReference(grid, kernel: kernel)
            let filter = Filter.sharpen(sigma: sigma, amount: amount, threshold: threshold)
            let result = try grid.developed(filter)
            let comment = "\(channels) × \(depth)"
            let sharpened = { (x: Int, y: Int) -> [Double] in
                let pixel = grid.pixel(x, y).map { Double($0) }
                let blur = blurred.pixel(x, y)
                return pixel.indices.map { c in
                    let isAlpha = grid.layout.hasAlpha && c == grid.layout.colourChannels
                    if isAlpha || (grid.layout.hasAlpha && pixel[grid.layout.colourChannels] == 0) {
                        return pixel[c]
                    }
                    let difference = pixel[c] - blur[c]
                    let distance = abs(difference) - threshold * grid.max
                    // So near the threshold that rounding decides: both are right.
                    if abs(distance) < 1e-4 * grid.max { return Double(result[x, y, c]) }
                    let value = distance > 0 ? pixel[c] + amount * difference : pixel[c]
                    return min(max(value, 0), grid.max)
                }
            }
            expectAlike(result, sharpened, comment, keepsHiddenColour: true)
        }
    }

    /// Where nothing differs by more than the threshold, nothing changes.
    @Test func sharpenKeepsWhatLiesBelowTheThreshold() throws {
        let grid = PixelGrid(30, 20, channels: 3) { x, y, c in
            UInt16(100 + (x * 7 + y * 3 + c) % 20)
        }
        let filter = Filter.sharpen(sigma: 1, amount: 10, threshold: 0.1)
        #expect(try grid.developed(filter) == grid)
        #expect(try grid.developed(.sharpen(sigma: 1, amount: 10, threshold: 0)) != grid)
    }
}

/// A separable symmetric convolution by its definition, edge pixels going on for ever.
struct BlurReference {
    private let grid: PixelGrid
    /// The columns of the blurred picture: colour times alpha, and alpha, from 0 to 1.
    private let columns: [[Double]]

    /// The Gaussian at whole distances from −reach·σ on.
    static func gaussian(_ sigma: Double, reach: Double) -> [Double] {
        let radius = Int((sigma * reach).rounded(.up))
        return normalised((-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) })
    }

    /// The kernel that the filter uses, from one end to the other.
    static func kernel(_ sigma: Double, _ precision: GaussianKernel.Precision) -> [Double] {
        switch GaussianKernel(sigma: sigma, precision) {
        case .direct:
            let side = GaussianKernel.weights(sigma: sigma, precision)
            return side.dropFirst().reversed() + side
        case .cosines(let series):
            let period = Double(2 * series.radius + 1)
            return (-series.radius...series.radius).map { distance in
                let angle = 2 * Double.pi * Double(distance) / period
                let waves = series.weights.enumerated().reduce(0) {
                    $0 + $1.element * cos(angle * Double($1.offset + 1))
                }
                return (1 + waves) / period
            }
        }
    }

    /// The sum of the absolute differences between a kernel and the Gaussian.
    static func difference(_ kernel: [Double], _ sigma: Double) -> Double {
        let gaussian = gaussian(sigma, reach: 8)
        let start = (gaussian.count - kernel.count) / 2
        return gaussian.indices.reduce(0) { sum, index in
            let own = kernel.indices.contains(index - start) ? kernel[index - start] : 0
            return sum + abs(own - gaussian[index])
        }
    }

    private static func normalised(_ kernel: [Double]) -> [Double] {
        let sum = kernel.reduce(0, +)
        return kernel.map { $0 / sum }
    }

    init(_ grid: PixelGrid, kernel: [Double]) {
        self.grid = grid
        let layout = grid.layout
        let rows = (0..<layout.height).map { y in
            Convolution.sums(
                of: (0..<layout.width).flatMap { Self.premultiplied(grid, $0, y) },
                channels: layout.channels, by: kernel)
        }
        columns = (0..<layout.width).map { x in
            let samples = x * layout.channels..<(x + 1) * layout.channels
            return Convolution.sums(
                of: rows.flatMap { $0[samples] }, channels: layout.channels, by: kernel)
        }
    }

    private static func premultiplied(_ grid: PixelGrid, _ x: Int, _ y: Int) -> [Double] {
        let pixel = grid.pixel(x, y).map { Double($0) / grid.max }
        guard grid.layout.hasAlpha, let alpha = pixel.last else { return pixel }
        return pixel.dropLast().map { $0 * alpha } + [alpha]
    }

    /// The samples of a pixel, not rounded.
    func pixel(_ x: Int, _ y: Int) -> [Double] {
        let layout = grid.layout
        let sums = columns[x][y * layout.channels..<(y + 1) * layout.channels]
        guard layout.hasAlpha, let alpha = sums.last else { return sums.map { $0 * grid.max } }
        return sums.dropLast().map { alpha > 0 ? $0 / alpha * grid.max : 0 } + [alpha * grid.max]
    }
}
