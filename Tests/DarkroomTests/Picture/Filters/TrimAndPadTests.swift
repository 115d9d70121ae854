import TestPictures
import Testing

@testable import DarkroomPicture

/// Trim and pad against naive index mapping.
struct TrimAndPadTests {
    static let layouts = GeometryFilterTests.layouts

    /// A picture in a frame of one colour, the frame's pixels off by at most `noise`.
    private static func framed(
        _ inner: PixelGrid, top: Int, right: Int, bottom: Int, left: Int, noise: UInt16 = 0
    ) -> PixelGrid {
        let (width, height) = (inner.layout.width, inner.layout.height)
        var random = SplitMix64(seed: 3)
        return PixelGrid(
            left + width + right, top + height + bottom, channels: inner.layout.channels,
            depth: inner.layout.depth
        ) { x, y, c in
            let (u, v) = (x - left, y - top)
            if (0..<width).contains(u), (0..<height).contains(v) { return inner[u, v, c] }
            if (x, y) == (0, 0) { return 100 }
            return 100 + UInt16(random.next() % UInt64(noise + 1))
        }
    }

    /// Pixels that are all far from 100.
    private static func picture(
        _ width: Int, _ height: Int, _ channels: Int, _ depth: Int
    ) -> PixelGrid {
        PixelGrid(width, height, channels: channels, depth: depth) { x, y, c in
            UInt16(200 + (x * 7 + y * 3 + c) % 50)
        }
    }

    @Test(
        arguments: [
            (0, 0, 0, 0), (1, 0, 0, 0), (0, 2, 0, 0), (0, 0, 3, 0), (0, 0, 0, 4), (5, 1, 2, 9),
        ], layouts)
    func cutsOffTheFrame(frame: (Int, Int, Int, Int), layout: (Int, Int)) throws {
        for (width, height) in [(1, 1), (6, 4), (1, 5)] {
            let inner = Self.picture(width, height, layout.0, layout.1)
            let grid = Self.framed(
                inner, top: frame.0, right: frame.1, bottom: frame.2, left: frame.3, noise: 5)
            // Where the corner belongs to the picture, that is what a border would look like.
            let hasFrame = frame.0 > 0 || frame.3 > 0
            let tolerance = 5 / grid.max
            let result = try grid.developed(.trim(tolerance: tolerance))
            if hasFrame {
                #expect(result == inner)
            } else {
                #expect(result == grid.trimmedNaively(5), "\(frame)")
            }
            // One step less, and a pixel of the frame may stay.
            #expect(
                try grid.developed(.trim(tolerance: 4 / grid.max)) == grid.trimmedNaively(4))
        }
    }

    @Test(arguments: layouts, [0.0, 0.02, 0.3, 1])
    func agreesWithANaiveSearch(layout: (Int, Int), tolerance: Double) throws {
        for seed in 0..<20 {
            var random = SplitMix64(seed: UInt64(seed))
            let grid = PixelGrid(
                7, 6, channels: layout.0, depth: layout.1
            ) { _, _, _ in random.next() % 9 == 0 ? UInt16(random.next() % 256) : 3 }
            let most = UInt16((tolerance * grid.max).rounded(.down))
            #expect(try grid.developed(.trim(tolerance: tolerance)) == grid.trimmedNaively(most))
        }
    }

    /// The colour of what is transparent does not count.
    @Test func transparentPixelsAreAlike() throws {
        let grid = PixelGrid(5, 5, channels: 4) { x, y, c in
            (x, y) == (2, 3) ? 255 : c == 3 ? 0 : UInt16(50 * x)
        }
        let result = try grid.developed(.trim(tolerance: 0))
        #expect(result.samples == [255, 255, 255, 255])
    }

    // MARK: Pad

    static let backgrounds: [(Colour, isOpaque: Bool, isGray: Bool)] = [
        (.transparent, false, true), (.white, true, true),
        (Colour(red: 9, green: 8, blue: 7), true, false),
        (Colour(red: 9, green: 8, blue: 7, alpha: 6), false, false),
    ]

    @Test(arguments: backgrounds, layouts)
    func padsByMargins(
        background: (Colour, isOpaque: Bool, isGray: Bool), layout: (Int, Int)
    ) throws {
        let grid = PixelGrid.noise(5, 4, channels: layout.0, depth: layout.1)
        let result = try grid.developed(
            .pad(
                Filter.Pad(
                    .margins(top: 1, right: 2, bottom: 3, left: 4), background: background.0)))
        let hasAlpha = grid.layout.hasAlpha || !background.isOpaque
        let isGray = grid.layout.isGray && background.isGray
        let expected = PixelLayout(
            width: 11, height: 8, channels: (isGray ? 1 : 3) + (hasAlpha ? 1 : 0), depth: layout.1)
        try #require(result.layout == expected)
        let colour = background.0
        let scale: UInt16 = layout.1 == 8 ? 1 : 257
        let outside =
            ((isGray ? [colour.red] : [colour.red, colour.green, colour.blue])
            + (hasAlpha ? [colour.alpha] : [])).map { UInt16($0) * scale }
        for (x, y) in result.places {
            let (u, v) = (x - 4, y - 1)
            guard (0..<5).contains(u), (0..<4).contains(v) else {
                #expect(result.pixel(x, y) == outside)
                continue
            }
            var pixel = grid.pixel(u, v)
            let alpha = grid.layout.hasAlpha ? pixel.removeLast() : UInt16(grid.max)
            if pixel.count == 1, !isGray { pixel = [pixel[0], pixel[0], pixel[0]] }
            #expect(result.pixel(x, y) == pixel + (hasAlpha ? [alpha] : []))
        }
    }

    /// A box by gravity is the same as its margins; a side that is longer already stays.
    @Test(
        arguments: [
            (8, 7, Filter.Gravity.northwest, 0, 3, 3, 0), (8, 7, .center, 1, 2, 2, 1),
            (8, 7, .southeast, 3, 0, 0, 3), (8, nil, .center, 0, 2, 0, 1),
            (nil, 7, .north, 0, 0, 3, 0),
            (3, 7, .center, 1, 0, 2, 0), (3, 2, .east, 0, 0, 0, 0),
        ] as [(Int?, Int?, Filter.Gravity, Int, Int, Int, Int)])
    func padsToASize(
        width: Int?, height: Int?, gravity: Filter.Gravity, top: Int, right: Int, bottom: Int,
        left: Int
    ) throws {
        let grid = PixelGrid.noise(5, 4, channels: 3)
        let bySize = Filter.Pad(.atLeast(width: width, height: height, gravity), background: .white)
        let byMargins = Filter.Pad(
            .margins(top: top, right: right, bottom: bottom, left: left), background: .white)
        #expect(try grid.developed(.pad(bySize)) == grid.developed(.pad(byMargins)))
    }

    @Test func refusesTooManyPixels() {
        let pad = Filter.Pad(.margins(top: 1_000_000, right: 9, bottom: 0, left: 0))
        expectFailure(.tooManyPixels, start: "pad: ") {
            try PixelGrid.noise(5, 4, channels: 3).developed(.pad(pad))
        }
    }
}

extension PixelGrid {
    /// Without the rows and columns at its edges whose pixels are like the first, by trying each.
    fileprivate func trimmedNaively(_ tolerance: UInt16) -> PixelGrid {
        let corner = pixel(0, 0)
        let different = places.filter { place in
            let pixel = pixel(place.x, place.y)
            if layout.hasAlpha, pixel.last == 0, corner.last == 0 { return false }
            return zip(pixel, corner).contains {
                $0 > $1 ? $0 - $1 > tolerance : $1 - $0 > tolerance
            }
        }
        guard let left = different.map(\.x).min(), let right = different.map(\.x).max(),
            let top = different.map(\.y).min(), let bottom = different.map(\.y).max()
        else { return self }
        return PixelGrid(
            right - left + 1, bottom - top + 1, channels: layout.channels, depth: layout.depth
        ) { self[$0 + left, $1 + top, $2] }
    }
}
