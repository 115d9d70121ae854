import Glibc
import TestPictures
import Testing

@testable import DarkroomPicture

/// Resize against a naive convolution over both axes at once, in double precision.
struct ResizeFilterTests {
    static let kernels: [Filter.Kernel] = [.linear, .cubic, .mitchell, .lanczos2, .lanczos3]
    static let sizes = [(7, 5), (40, 31), (17, 29), (33, 9), (1, 1), (20, 60), (5, 17)]

    @Test(arguments: kernels, sizes)
    func agreesWithTheDefinition(_ kernel: Filter.Kernel, size: (Int, Int)) throws {
        for (channels, depth) in GeometryFilterTests.layouts {
            let grid = PixelGrid.noise(20, 17, channels: channels, depth: depth)
            let resize = Filter.Resize(
                width: size.0, height: size.1, fit: .fill, kernel: kernel)
            let result = try grid.developed(.resize(resize))
            let reference = ResizeReference(
                grid, to: size, kernel: kernel, linear: false)
            expectAlike(result, reference.pixel, "\(kernel), \(channels) × \(depth)")
        }
    }

    /// From and to sides far beyond what is worked on at a time.
    @Test(arguments: [(20_000, 2, 9, 3), (2, 20_000, 3, 9), (11, 2, 9001, 3), (2, 11, 1, 9001)])
    func agreesForWidePictures(width: Int, height: Int, toWidth: Int, toHeight: Int) throws {
        for (channels, depth) in [(3, 8), (4, 16)] {
            let grid = PixelGrid.noise(width, height, channels: channels, depth: depth)
            let resize = Filter.Resize(width: toWidth, height: toHeight, fit: .fill)
            let result = try grid.developed(.resize(resize), rowsPerBand: 300)
            let reference = ResizeReference(
                grid, to: (toWidth, toHeight), kernel: .lanczos3, linear: false)
            expectAlike(result, reference.pixel, "\(channels) × \(depth)")
        }
    }

    @Test(arguments: [(7, 5), (40, 31), (20, 9)])
    func agreesWithTheDefinitionInLinearLight(size: (Int, Int)) throws {
        for (channels, depth) in GeometryFilterTests.layouts {
            let grid = PixelGrid.noise(20, 17, channels: channels, depth: depth)
            let resize = Filter.Resize(width: size.0, height: size.1, fit: .fill, linear: true)
            let result = try grid.developed(.resize(resize))
            let reference = ResizeReference(grid, to: size, kernel: .lanczos3, linear: true)
            expectAlike(result, reference.pixel, "\(channels) × \(depth)")
        }
    }

    /// `cover` makes the middle of what `fill` makes at the covering size.
    @Test(arguments: kernels + [.nearest], [(9, 30), (30, 9), (64, 8)])
    func coverCutsOutTheMiddle(_ kernel: Filter.Kernel, box: (Int, Int)) throws {
        let grid = PixelGrid.noise(23, 19, channels: 4)
        let cover = Filter.Resize(width: box.0, height: box.1, fit: .cover, kernel: kernel)
        let plan = ResizePlan(cover, width: 23, height: 19)
        let fill = Filter.Resize(
            width: plan.scaled.width, height: plan.scaled.height, fit: .fill, kernel: kernel)
        let crop = Filter.Crop.gravity(.center, width: box.0, height: box.1)
        #expect(
            try grid.developed(.resize(cover)) == grid.developed(.resize(fill), .crop(crop)))
    }

    @Test(arguments: [(1, 1), (40, 34), (7, 60), (20, 17), (60, 3)])
    func nearestTakesThePixelUnderTheCentre(size: (Int, Int)) throws {
        for (channels, depth) in GeometryFilterTests.layouts {
            let grid = PixelGrid.noise(20, 17, channels: channels, depth: depth)
            let resize = Filter.Resize(
                width: size.0, height: size.1, fit: .fill, kernel: .nearest)
            let result = try grid.developed(.resize(resize))
            for (x, y) in result.places {
                let sourceX = Int(((Double(x) + 0.5) * 20 / Double(size.0)).rounded(.down))
                let sourceY = Int(((Double(y) + 0.5) * 17 / Double(size.1)).rounded(.down))
                try #require(result.pixel(x, y) == grid.pixel(sourceX, sourceY))
            }
        }
    }

    /// Pixels that must come out as they went in: an even colour, at any alpha, with any kernel.
    @Test(arguments: kernels + [.nearest], [false, true])
    func keepsAnEvenColour(_ kernel: Filter.Kernel, linear: Bool) throws {
        let colours: [[UInt16]] = [
            [0], [1], [128], [255], [3, 200, 255], [200, 1], [200, 100, 50, 1], [255, 254, 1, 255],
        ]
        for colour in colours {
            for depth in [8, 16] {
                let scale: UInt16 = depth == 8 ? 1 : 251
                let grid = PixelGrid(9, 7, channels: colour.count, depth: depth) { _, _, c in
                    // The lowest alpha stays the lowest.
                    colour[c] == 1 ? 1 : colour[c] * scale
                }
                for size in [(4, 3), (30, 7), (9, 20)] {
                    let result = try grid.developed(
                        .resize(
                            Filter.Resize(
                                width: size.0, height: size.1, fit: .fill, kernel: kernel,
                                linear: linear)))
                    let expected = grid.pixel(0, 0)
                    #expect(result.places.allSatisfy { result.pixel($0.x, $0.y) == expected })
                }
            }
        }
    }

    /// Every sample survives the way to light and back.
    @Test(arguments: [8, 16])
    func theTransferFunctionGoesThereAndBack(depth: Int) throws {
        let count = 1 << depth
        let width = depth == 8 ? 256 : 65536
        let grid = PixelGrid(width, 1, channels: 1, depth: depth) { x, _, _ in UInt16(x % count) }
        let resize = Filter.Resize(width: width, height: 2, fit: .fill, linear: true)
        #expect(try grid.developed(.resize(resize)).samples == grid.samples + grid.samples)
    }

    /// The mean of black and white: half the light is 188 of 255, half the sample value 128.
    @Test func linearAveragesLight() throws {
        let grid = PixelGrid(2, 1, channels: 1) { x, _, _ in x == 0 ? 0 : 255 }
        for (linear, expected) in [(true, UInt16(188)), (false, 128)] {
            let resize = Filter.Resize(
                width: 1, height: 1, fit: .fill, kernel: .linear, linear: linear)
            #expect(try grid.developed(.resize(resize)).samples == [expected])
        }
    }

    /// Nothing of what lies under transparent pixels may show at the edges of what is opaque.
    @Test(arguments: kernels, [(11, 13), (70, 64), (40, 80)])
    func leavesNoFringes(_ kernel: Filter.Kernel, size: (Int, Int)) throws {
        let disc = PixelGrid.disc(40, 40)
        let result = try disc.developed(
            .resize(Filter.Resize(width: size.0, height: size.1, fit: .fill, kernel: kernel)))
        expectNoFringes(result)
    }

    /// Hundreds of thousands of small weights must still sum up to 1.
    @Test(arguments: kernels)
    func longSumsDoNotDrift(_ kernel: Filter.Kernel) throws {
        let grid = PixelGrid(300_000, 1, channels: 1, depth: 16) { _, _, _ in 40_000 }
        let resize = Filter.Resize(width: 1, height: 1, fit: .fill, kernel: kernel)
        #expect(try grid.developed(.resize(resize)).samples == [40_000])
    }

    @Test func unchangedSizeIsNoStage() throws {
        let source = GridStage(.noise(5, 4, channels: 3))
        for fit in Filter.Fit.allCases {
            let resize = Filter.Resize(width: 5, height: 4, fit: fit, linear: true)
            let stage = try FilterStage.make(
                .resize(resize), upstream: source, limits: PictureLimits())
            #expect(stage === source)
        }
    }

    /// Around a picture that keeps its size, `contain` does what `pad` does.
    @Test(arguments: TrimAndPadTests.backgrounds.map(\.0), GeometryFilterTests.layouts)
    func containPadsWithTheBackground(background: Colour, layout: (Int, Int)) throws {
        let grid = PixelGrid.noise(4, 4, channels: layout.0, depth: layout.1)
        for (width, height) in [(9, 4), (4, 9), (4, 5)] {
            let resize = Filter.Resize(
                width: width, height: height, fit: .contain, background: background)
            let pad = Filter.Pad(
                .atLeast(width: width, height: height, .center), background: background)
            #expect(try grid.developed(.resize(resize)) == grid.developed(.pad(pad)))
        }
    }
}

/// The definition of resize, for one output pixel at a time.
struct ResizeReference {
    private let grid: PixelGrid
    private let kernel: Filter.Kernel
    private let linear: Bool
    private let columns: [[(Int, Double)]]
    private let rows: [[(Int, Double)]]

    init(_ grid: PixelGrid, to size: (Int, Int), kernel: Filter.Kernel, linear: Bool) {
        self.grid = grid
        self.kernel = kernel
        self.linear = linear
        columns = Self.weights(grid.layout.width, size.0, kernel)
        rows = Self.weights(grid.layout.height, size.1, kernel)
    }

    /// For each output pixel the input pixels and their weights; those outside the picture left out.
    private static func weights(
        _ input: Int, _ output: Int, _ kernel: Filter.Kernel
    ) -> [[(Int, Double)]] {
        (0..<output).map { pixel in
            if input == output { return [(pixel, 1)] }
            let scale = Double(input) / Double(output)
            let centre = (Double(pixel) + 0.5) * scale
            let all = (0..<input).map { i in
                (i, value(kernel, (Double(i) + 0.5 - centre) / Swift.max(1, scale)))
            }
            let sum = all.reduce(0) { $0 + $1.1 }
            return all.filter { $0.1 != 0 }.map { ($0.0, $0.1 / sum) }
        }
    }

    private static func value(_ kernel: Filter.Kernel, _ distance: Double) -> Double {
        let x = abs(distance)
        func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(Double.pi * x) / (Double.pi * x) }
        switch kernel {
        case .nearest: return x < 0.5 ? 1 : 0
        case .linear: return x < 1 ? 1 - x : 0
        case .cubic:
            if x < 1 { return 1.5 * x * x * x - 2.5 * x * x + 1 }
            return x < 2 ? -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2 : 0
        case .mitchell:
            if x < 1 { return (21 * x * x * x - 36 * x * x + 16) / 18 }
            return x < 2 ? (-7 * x * x * x + 36 * x * x - 60 * x + 32) / 18 : 0
        case .lanczos2: return x < 2 ? sinc(x) * sinc(x / 2) : 0
        case .lanczos3: return x < 3 ? sinc(x) * sinc(x / 3) : 0
        }
    }

    /// The samples of one output pixel, not rounded but clamped.
    func pixel(_ x: Int, _ y: Int) -> [Double] {
        let layout = grid.layout
        let colours = layout.colourChannels
        var sums = [Double](repeating: 0, count: layout.channels)
        for (row, down) in rows[y] {
            for (column, across) in columns[x] {
                let alpha =
                    layout.hasAlpha ? Double(grid[column, row, colours]) / grid.max : 1
                let weight = down * across
                for c in 0..<colours {
                    sums[c] += weight * alpha * decoded(Double(grid[column, row, c]) / grid.max)
                }
                if layout.hasAlpha { sums[colours] += weight * alpha }
            }
        }
        guard layout.hasAlpha else { return sums.map { encoded($0) * grid.max } }
        let alpha = sums[colours]
        guard alpha > 0 else { return sums.map { _ in 0 } }
        return sums[..<colours].map { encoded($0 / alpha) * grid.max }
            + [Swift.min(alpha, 1) * grid.max]
    }

    private func decoded(_ v: Double) -> Double {
        guard linear else { return v }
        return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
    }

    private func encoded(_ light: Double) -> Double {
        let light = Swift.min(Swift.max(light, 0), 1)
        guard linear else { return light }
        return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}
