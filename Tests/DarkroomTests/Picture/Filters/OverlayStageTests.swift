import TestPictures
import Testing

@testable import DarkroomPicture

/// Overlay against its definition in double precision, pixel by pixel.
struct OverlayStageTests {
    static let others = [
        "gray 1 7x5", "gray 8 7x5", "gray 16 7x5", "grayAlpha 8 7x5", "grayAlpha 16 7x5",
        "rgb 8 7x5", "rgb 16 7x5", "palette 4 7x5", "rgba 8 7x5", "rgba 16 7x5",
        "rgba 8 7x5 interlaced",
    ]

    /// The pixels of another picture: red, green, blue and alpha from 0 to 1.
    private struct Other {
        private let picture: ReferencePicture
        var layout: PixelLayout { picture.layout }

        init(_ name: String) throws {
            picture = try #require(OtherPictures.maker(named: name)).reference
        }

        func pixel(_ x: Int, _ y: Int) -> (colour: [Double], alpha: Double) {
            let start = (y * layout.width + x) * layout.channels
            var samples = picture.samples[start..<start + layout.channels].map {
                Double($0) / layout.fullScale
            }
            let alpha = layout.hasAlpha ? samples.removeLast() : 1
            return (samples.count == 1 ? [samples[0], samples[0], samples[0]] : samples, alpha)
        }
    }

    private func check(
        _ overlay: Filter.Overlay, _ grid: PixelGrid, at corner: (x: Int, y: Int),
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let other = try Other(overlay.from)
        let result = try grid.developed(.overlay(overlay))
        var layout = grid.layout
        let isGray = layout.isGray && other.layout.isGray
        layout.channels = (isGray ? 1 : 3) + (layout.hasAlpha ? 1 : 0)
        try #require(result.layout == layout, sourceLocation: sourceLocation)
        var wrong = 0
        for (x, y) in grid.places {
            var base = grid.pixel(x, y).map { Double($0) / grid.max }
            var b = grid.layout.hasAlpha ? base.removeLast() : 1
            if base.count == 1, !isGray { base = [base[0], base[0], base[0]] }
            let (u, v) = (x - corner.x, y - corner.y)
            if (0..<other.layout.width).contains(u), (0..<other.layout.height).contains(v) {
                let (colour, alpha) = other.pixel(u, v)
                let o = alpha * overlay.opacity
                if o > 0 {
                    let a = o + b * (1 - o)
                    base = base.indices.map { (o * colour[$0] + b * (1 - o) * base[$0]) / a }
                    b = a
                }
            }
            let samples = base + (layout.hasAlpha ? [b] : [])
            let expected = samples.map { ColourReference.rounded($0 * grid.max, max: grid.max) }
            if result.pixel(x, y) != expected { wrong += 1 }
        }
        #expect(
            wrong == 0, "\(wrong) pixels of \(overlay) on \(grid)", sourceLocation: sourceLocation)
    }

    @Test(arguments: others, GeometryFilterTests.layouts)
    func laysOverByTheFormula(other: String, layout: (Int, Int)) throws {
        let grid = PixelGrid.noise(16, 11, channels: layout.0, depth: layout.1)
        for opacity in [1, 0.3, 0] {
            // The odd pixels are on the right and below.
            try check(Filter.Overlay(from: other, opacity: opacity), grid, at: (4, 3))
        }
    }

    /// Where the corner comes to lie of 7 × 5 pixels on 16 × 11, moved inwards by (2, 1).
    @Test(arguments: [
        (Filter.Gravity.northwest, 2, 1), (.north, 6, 1), (.northeast, 7, 1), (.west, 2, 4),
        (.center, 6, 4), (.east, 7, 4), (.southwest, 2, 5), (.south, 6, 5), (.southeast, 7, 5),
    ])
    func isPlacedByGravityAndOffset(gravity: Filter.Gravity, x: Int, y: Int) throws {
        let overlay = Filter.Overlay(from: "rgba 8 7x5", gravity: gravity, x: 2, y: 1)
        try check(overlay, .noise(16, 11, channels: 3), at: (x, y))
    }

    /// What lies beside the picture is cut off; it may be all of it.
    @Test(arguments: [
        (Filter.Gravity.northwest, -3, -2, -3, -2), (.southeast, -3, -2, 12, 8),
        (.northwest, 15, 10, 15, 10), (.northwest, 16, 0, 16, 0), (.northwest, 0, 11, 0, 11),
        (.northwest, -7, 0, -7, 0), (.north, 0, -5, 4, -5), (.north, 0, -6, 4, -6),
        (.south, 0, 12, 4, -6), (.center, 1_000_000, -1_000_000, 1_000_004, -999_997),
    ])
    func isCutOffAtTheEdges(
        gravity: Filter.Gravity, dx: Int, dy: Int, x: Int, y: Int
    ) throws {
        let overlay = Filter.Overlay(from: "rgba 8 7x5", gravity: gravity, x: dx, y: dy)
        try check(overlay, .noise(16, 11, channels: 4), at: (x, y))
    }

    @Test(arguments: [
        (Filter.Gravity.northwest, 0, 0), (.center, -18, -4), (.southeast, -36, -8),
    ])
    func mayBeLargerThanThePicture(gravity: Filter.Gravity, x: Int, y: Int) throws {
        for other in ["grayAlpha 16 40x12", "rgb 8 40x12 interlaced"] {
            try check(
                Filter.Overlay(from: other, gravity: gravity), .noise(4, 4, channels: 2),
                at: (x, y))
        }
    }

    /// Red at half its strength over nothing is still red: its edges get no dark fringes.
    @Test func overTransparentPixelsColourStays() throws {
        let grid = PixelGrid(7, 5, channels: 4) { _, _, _ in 0 }
        let overlay = Filter.Overlay(from: "rgba 8 7x5", opacity: 0.5)
        let result = try grid.developed(.overlay(overlay))
        let other = try Other("rgba 8 7x5")
        for (x, y) in grid.places where other.pixel(x, y).alpha > 0 {
            let colour = other.pixel(x, y).colour.map { UInt16(($0 * 255).rounded()) }
            #expect(Array(result.pixel(x, y)[..<3]) == colour)
        }
    }

    // MARK: Scale

    /// The width of the other image: the share of the picture's width, a half rounded up, at least one.
    @Test(arguments: [
        (0.5, 5, 3), (0.1, 5, 1), (0.3, 5, 2), (0.001, 5, 1), (0.001, 499, 1), (0.001, 1500, 2),
        (0.28, 25, 7), (0.29, 100, 29), (0.2, 1600, 320), (1, 5, 5), (1, 1_000_000, 1_000_000),
        (0.333, 1, 1),
    ]) func isAShareOfTheWidth(scale: Double, width: Int, expected: Int) {
        let overlay = Filter.Overlay(from: "logo", scale: scale)
        #expect(overlay.resize(forWidth: width) == Filter.Resize(width: expected))
        #expect(Filter.Overlay(from: "logo").resize(forWidth: width) == nil)
    }

    /// The pixels are those of a picture that was resized to this width before.
    @Test(
        arguments: others + ["rgba 8 40x90", "rgb 16 90x40"],
        [(0.01, 1), (0.25, 4), (0.44, 7), (1, 16)])
    func isScaledAsByResize(other: String, share: (scale: Double, width: Int)) throws {
        let file = try #require(OtherPictures.maker(named: other)).encoded
        let resize = Filter.resize(Filter.Resize(width: share.width))
        let resized = try PictureSteps(filters: [resize]).run(file).file
        for (channels, depth) in GeometryFilterTests.layouts {
            let grid = PixelGrid.noise(16, 11, channels: channels, depth: depth)
            var results: [PixelGrid] = []
            for overlay in [
                Filter.Overlay(from: "large", gravity: .southeast, x: 1, y: 2, scale: share.scale),
                Filter.Overlay(from: "resized", gravity: .southeast, x: 1, y: 2),
            ] {
                let context = StageContext(limits: PictureLimits()) { name throws(PictureError) in
                    try OtherPictures.open(name == "large" ? file : resized, name)
                }
                let stage = try FilterStage.make(
                    .overlay(overlay), upstream: GridStage(grid), context: context)
                results.append(try PixelGrid(pulling: stage))
            }
            #expect(results[0] == results[1], "\(other) on \(grid)")
        }
    }

    /// What scaling takes is given back when the other image is read; its visible part stays.
    @Test func scalingKeepsNoMemory() throws {
        let context = OtherPictures.context()
        let stage = try FilterStage.make(
            .overlay(Filter.Overlay(from: "rgba 8 90x400", scale: 0.25)),
            upstream: GridStage(.noise(16, 11, channels: 3)), context: context)
        // 4 by 18 pixels, of which 11 rows are seen.
        #expect(context.memory.held == 4 * 11 * 4)
        withExtendedLifetime(stage) {}
    }

    /// A high image becomes too high, as by `resize`.
    @Test func scalingHoldsTheLimits() throws {
        let limits = PictureLimits { $0.pixels = 1000 }
        expectFailure(.tooManyPixels, start: "overlay: resize: ") {
            try PixelGrid.noise(60, 4, channels: 3).developed(
                .overlay(Filter.Overlay(from: "rgb 8 4x100", scale: 1)), limits: limits)
        }
    }

    /// Damage to the other image fails this one, and the message names both file and filter.
    @Test func damageToTheOtherImageIsToldOf() throws {
        let file = try #require(OtherPictures.maker(named: "rgb 8 30x30")).encoded
        let cases: [([UInt8], PictureError.Code)] = [
            (Array(file.dropLast(20)), .pngTruncated), (Array("<html>".utf8), .notAPicture),
        ]
        for (bytes, code) in cases {
            let context = OtherPictures.context(of: bytes)
            expectFailure(code, start: "overlay: logo.png: ") {
                _ = try FilterStage.make(
                    .overlay(Filter.Overlay(from: "logo")),
                    upstream: GridStage(.noise(3, 3, channels: 3)), context: context)
            }
            #expect(context.memory.held == 0)
        }
    }

    /// What was remarked on the other image, and that it cannot be seen.
    @Test(arguments: [(0, 0, false), (3, 0, true), (0, 3, true), (-4, 0, true), (-3, 2, false)])
    func remarksAreKept(x: Int, y: Int, isBeside: Bool) throws {
        let maker = PNGMaker.noise(width: 4, height: 4, colourType: .rgb, depth: 8)
        let context = OtherPictures.context(of: maker.encoded + [1, 2])
        let overlay = Filter.Overlay(from: "logo", gravity: .northwest, x: x, y: y)
        _ = try FilterStage.make(
            .overlay(overlay), upstream: GridStage(.noise(3, 3, channels: 3)), context: context)
        #expect(
            context.remarks
                == ["logo.png: IEND: trailing bytes after the end of the picture"]
                + (isBeside ? ["overlay: logo.png is completely outside the picture"] : []))
    }

    @Test func cancellingIsAskedWhileReadingTheOther() throws {
        let context = StageContext(
            limits: PictureLimits(),
            openImage: { name throws(PictureError) in
                try OtherPictures.open(
                    PNGMaker.noise(
                        width: 4, height: 4, colourType: .rgb, depth: 8
                    ).encoded, name)
            }, checkpoint: { false })
        expectFailure(.cancelled) {
            _ = try FilterStage.make(
                .overlay(Filter.Overlay(from: "logo")),
                upstream: GridStage(.noise(3, 3, channels: 3)), context: context)
        }
    }

    @Test func aPictureOfNoBatchHasNoOthers() throws {
        let file = PNGMaker.noise(width: 2, height: 2, colourType: .rgb, depth: 8).encoded
        let error = #expect(throws: PictureError.self) {
            try PictureSteps(filters: [.overlay(Filter.Overlay(from: "logo"))]).run(file)
        }
        #expect(error?.message.contains("‘logo’") == true)
    }
}
