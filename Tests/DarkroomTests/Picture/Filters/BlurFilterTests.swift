import Glibc
import Testing

@testable import Darkroom

/// Blur and sharpen against naive convolutions in double precision.
@Suite struct BlurFilterTests {
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

    /// Above it, the definition is a mixture of boxes: exact as such, and near the Gaussian.
    @Test(arguments: [16.01, 20, 61.7], GeometryFilterTests.layouts)
    func largeBlurAgreesWithTheBoxes(sigma: Double, layout: (Int, Int)) throws {
        let kernel = BlurReference.boxes(BoxMixture(sigma: sigma))
        for (width, height) in [(41, 35), (300, 2)] {
            let grid = PixelGrid.noise(width, height, channels: layout.0, depth: layout.1)
            let reference = BlurReference(grid, kernel: kernel)
            expectAlike(try grid.developed(.blur(sigma: sigma)), reference.pixel)
        }
    }

    /// A picture higher than the window of rows that is kept.
    @Test(arguments: [8, 16])
    func largeBlurAgreesWithTheBoxesDownATallPicture(depth: Int) throws {
        let kernel = BlurReference.boxes(BoxMixture(sigma: 16.5))
        for channels in [1, 4] {
            let grid = PixelGrid.noise(2, 250, channels: channels, depth: depth)
            let reference = BlurReference(grid, kernel: kernel)
            expectAlike(try grid.developed(.blur(sigma: 16.5)), reference.pixel)
        }
    }

    /// At edges, at corners and in noise, 8 bits are within 1 of the Gaussian.
    @Test(arguments: [16.2, 25.6])
    func largeBlurIsNearTheGaussian(sigma: Double) throws {
        let kernel = BlurReference.gaussian(sigma, reach: 8)
        let edge = PixelGrid(300, 1, channels: 1) { x, _, _ in x < 150 ? 0 : 255 }
        let line = PixelGrid(1, 300, channels: 1) { _, y, _ in y == 150 ? 255 : 0 }
        let corner = PixelGrid(70, 60, channels: 1) { x, y, _ in x < 35 && y < 30 ? 255 : 0 }
        for grid in [edge, line, corner, .noise(50, 40, channels: 1)] {
            let reference = BlurReference(grid, kernel: kernel)
            expectAlike(try grid.developed(.blur(sigma: sigma)), reference.pixel)
        }
    }

    /// How far the kernels themselves are apart: at an edge, and in the worst row of pixels,
    /// which is black where one is larger and white elsewhere.
    @Test func boxesAreNearTheGaussian() {
        for sigma in stride(from: 16.0, through: 120, by: 8.3) {
            let boxes = BlurReference.boxes(BoxMixture(sigma: sigma))
            let gaussian = BlurReference.gaussian(sigma, reach: 8)
            let start = (gaussian.count - boxes.count) / 2
            var (edge, worstEdge, sum) = (0.0, 0.0, 0.0)
            for index in gaussian.indices {
                let own = boxes.indices.contains(index - start) ? boxes[index - start] : 0
                edge += own - gaussian[index]
                worstEdge = max(worstEdge, abs(edge))
                sum += abs(own - gaussian[index])
            }
            #expect(worstEdge < 0.0017, "\(sigma)")
            // Each place counts in one direction or the other: half of the sum.
            #expect(sum / 2 < 0.0053, "\(sigma)")
        }
    }

    @Test func boxesHaveTheVarianceOfTheGaussian() {
        for sigma in stride(from: 16.0, through: 120, by: 7.3) {
            let mixture = BoxMixture(sigma: sigma)
            for widths in [mixture.narrow, mixture.wide] {
                #expect(widths.count == 3 && widths.reduce(0, +) % 2 == 1)
            }
            let kernel = BlurReference.boxes(mixture)
            let variance = kernel.indices.reduce(0) {
                $0 + kernel[$1] * Double(($1 - kernel.count / 2) * ($1 - kernel.count / 2))
            }
            #expect(abs(variance.squareRoot() - sigma) < 1e-6, "\(sigma): \(mixture)")
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
        let kernel =
            sigma > GaussianKernel.largestDirectSigma
            ? BlurReference.boxes(BoxMixture(sigma: sigma))
            : BlurReference.gaussian(sigma, reach: 10)
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
    /// Rows blurred along themselves: colour times alpha, and alpha, from 0 to 1.
    private let across: [[Double]]
    private let kernel: [Double]

    /// The Gaussian at whole distances from −reach·σ on.
    static func gaussian(_ sigma: Double, reach: Double) -> [Double] {
        let radius = Int((sigma * reach).rounded(.up))
        return normalised((-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) })
    }

    /// Boxes of the widths given, convolved with each other.
    static func boxes(_ widths: [Int]) -> [Double] {
        var kernel = [1.0]
        for width in widths {
            var next = [Double](repeating: 0, count: kernel.count + width - 1)
            for i in kernel.indices {
                for j in 0..<width { next[i + j] += kernel[i] }
            }
            kernel = next
        }
        return normalised(kernel)
    }

    /// The mixture of two kernels of boxes.
    static func boxes(_ mixture: BoxMixture) -> [Double] {
        let (narrow, wide) = (boxes(mixture.narrow), boxes(mixture.wide))
        let start = (wide.count - narrow.count) / 2
        return wide.indices.map { index in
            let own = narrow.indices.contains(index - start) ? narrow[index - start] : 0
            return mixture.share * own + (1 - mixture.share) * wide[index]
        }
    }

    private static func normalised(_ kernel: [Double]) -> [Double] {
        let sum = kernel.reduce(0, +)
        return kernel.map { $0 / sum }
    }

    init(_ grid: PixelGrid, kernel: [Double]) {
        self.grid = grid
        self.kernel = kernel
        let layout = grid.layout
        let radius = kernel.count / 2
        across = (0..<layout.height).map { y in
            var row = [Double](repeating: 0, count: layout.width * layout.channels)
            let source = (0..<layout.width).flatMap { Self.premultiplied(grid, $0, y) }
            for x in 0..<layout.width {
                for (k, weight) in kernel.enumerated() {
                    let from = min(max(x + k - radius, 0), layout.width - 1)
                    for c in 0..<layout.channels {
                        row[x * layout.channels + c] += weight * source[from * layout.channels + c]
                    }
                }
            }
            return row
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
        let radius = kernel.count / 2
        var sums = [Double](repeating: 0, count: layout.channels)
        for (k, weight) in kernel.enumerated() {
            let row = across[min(max(y + k - radius, 0), layout.height - 1)]
            for c in 0..<layout.channels { sums[c] += weight * row[x * layout.channels + c] }
        }
        guard layout.hasAlpha, let alpha = sums.last else { return sums.map { $0 * grid.max } }
        return sums.dropLast().map { alpha > 0 ? $0 / alpha * grid.max : 0 } + [alpha * grid.max]
    }
}
