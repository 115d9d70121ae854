import Glibc
import TestPictures
import Testing

@testable import DarkroomPicture

/// Colour filters against their definitions, computed here anew in double precision.
struct ColourFilterTests {
    struct Check: Sendable {
        let input: [UInt16]
        let filter: Filter
        let output: [UInt16]
    }

    static let checks: [Check] = [
        Check(input: [255, 0, 0], filter: .sepia(intensity: 1), output: [100, 89, 69]),
        Check(input: [0, 255, 0], filter: .sepia(intensity: 1), output: [196, 175, 136]),
        Check(input: [200, 150, 100], filter: .sepia(intensity: 1), output: [213, 190, 148]),
        Check(input: [255, 255, 255], filter: .sepia(intensity: 1), output: [255, 255, 239]),
        Check(input: [255, 0, 0], filter: .sepia(intensity: 0.8), output: [131, 71, 55]),
        Check(input: [0, 255, 0], filter: .sepia(intensity: 0.8), output: [157, 191, 109]),
        Check(input: [200, 150, 100], filter: .sepia(intensity: 0.8), output: [210, 182, 138]),
        Check(input: [255, 255, 255], filter: .sepia(intensity: 0.8), output: [255, 255, 242]),
        Check(input: [255, 0, 0], filter: .grayscale(amount: 1), output: [54]),
        Check(input: [0, 255, 0], filter: .grayscale(amount: 1), output: [182]),
        Check(input: [200, 150, 100], filter: .grayscale(amount: 1), output: [157]),
        Check(input: [255, 255, 255], filter: .grayscale(amount: 1), output: [255]),
        // 0.85·Y + 19.125: black, white, red (Y = 54.213), a colour (Y = 157.02)
        Check(input: [0, 0, 0], filter: .mono, output: [19]),
        Check(input: [255, 255, 255], filter: .mono, output: [236]),
        Check(input: [255, 0, 0], filter: .mono, output: [65]),
        Check(input: [200, 150, 100], filter: .mono, output: [153]),
        Check(input: [200, 150, 100], filter: .invert(amount: 1), output: [55, 105, 155]),
        // 0.5 for every input: the tie 127.5 goes up
        Check(input: [200, 150, 0], filter: .invert(amount: 0.5), output: [128, 128, 128]),
        Check(input: [200, 150, 101], filter: .brightness(amount: 1.5), output: [255, 225, 152]),
        // 2C − 127.5: ties go up
        Check(input: [0, 64, 130], filter: .contrast(amount: 2), output: [0, 1, 133]),
        Check(input: [200, 150, 100], filter: .saturate(amount: 0), output: [157, 157, 157]),
        // A third of a turn makes red mostly green: 0.213 − cos 60°·0.787 − sin 60°·0.213 < 0, …
        Check(input: [255, 0, 0], filter: .hueRotate(angle: 120), output: [0, 113, 0]),
        Check(
            input: [200, 150, 100, 80], filter: .opacity(amount: 0.5), output: [200, 150, 100, 40]),
        Check(
            input: [200, 150, 100], filter: .opacity(amount: 0.5), output: [200, 150, 100, 128]),
        Check(input: [200], filter: .opacity(amount: 0), output: [200, 0]),
        Check(input: [100], filter: .sepia(intensity: 1), output: [135, 120, 94]),
        Check(input: [100, 7], filter: .sepia(intensity: 1), output: [135, 120, 94, 7]),
    ]

    @Test(arguments: checks)
    func givesTheCheckValue(_ check: Check) throws {
        let grid = PixelGrid(1, 1, channels: check.input.count) { _, _, c in check.input[c] }
        #expect(try grid.developed(check.filter).samples == check.output)
    }

    static let filters: [Filter] = [
        .sepia(intensity: 1), .sepia(intensity: 0.8), .sepia(intensity: 0.333), .mono,
        .grayscale(amount: 1), .grayscale(amount: 0.25), .saturate(amount: 0),
        .saturate(amount: 3.7),
        .saturate(amount: 100), .hueRotate(angle: 90), .hueRotate(angle: -123.4),
        .hueRotate(angle: 3599), .invert(amount: 1), .invert(amount: 0.3), .brightness(amount: 0),
        .brightness(amount: 0.7), .brightness(amount: 100), .contrast(amount: 0),
        .contrast(amount: 1.3), .contrast(amount: 100),
    ]

    /// All colours whose channels are multiples of 15, and a sample of all that hits every value.
    static let colours: [[UInt16]] = {
        var colours: [[UInt16]] = []
        for r in stride(from: UInt16(0), through: 255, by: 15) {
            for g in stride(from: UInt16(0), through: 255, by: 15) {
                for b in stride(from: UInt16(0), through: 255, by: 15) {
                    colours.append([r, g, b])
                }
            }
        }
        for code in stride(from: UInt64(0), to: 1 << 24, by: 4099) {
            colours.append([UInt16(code >> 16), UInt16(code >> 8 & 255), UInt16(code & 255)])
        }
        return colours
    }()

    @Test(arguments: filters, [8, 16])
    func agreesWithTheDefinition(_ filter: Filter, depth: Int) throws {
        if depth == 8 { return try compare(filter, Self.colours, depth: 8) }
        var noise = SplitMix64(seed: 16)
        let colours = (0..<4000).map { _ in
            (0..<3).map { _ in UInt16(truncatingIfNeeded: noise.next()) }
        }
        let ends: [[UInt16]] = [
            [0, 0, 0], [65535, 65535, 65535], [65535, 0, 0], [1, 65534, 32768],
        ]
        try compare(filter, colours + ends, depth: 16)
    }

    /// Compares RGB, RGBA, gray and gray with alpha with the reference.
    private func compare(_ filter: Filter, _ colours: [[UInt16]], depth: Int) throws {
        let reference = ColourReference(filter: filter, max: depth == 8 ? 255 : 65535)
        let rgb = PixelGrid(colours.count, 1, channels: 3, depth: depth) { x, _, c in colours[x][c]
        }
        let result = try rgb.developed(filter)
        let width = result.layout.channels
        var wrong = 0
        for (x, colour) in colours.enumerated() {
            let expected = reference.result(colour).prefix(width)
            if Array(expected) != result.pixel(x, 0) { wrong += 1 }
        }
        #expect(wrong == 0, "\(wrong) of \(colours.count) colours")
        let rgba = PixelGrid(colours.count, 1, channels: 4, depth: depth) { x, _, c in
            c < 3 ? colours[x][c] : UInt16(x * 37 % (depth == 8 ? 256 : 65536))
        }
        let withAlpha = try rgba.developed(filter)
        #expect(withAlpha.layout.channels == width + 1)
        for x in colours.indices {
            let pixel = withAlpha.pixel(x, 0)
            if pixel.dropLast() != result.pixel(x, 0)[...] || pixel.last != rgba[x, 0, 3] {
                Issue.record("alpha makes a difference to \(colours[x])")
                break
            }
        }
    }

    @Test(arguments: filters, [8, 16])
    func agreesWithTheDefinitionForGray(_ filter: Filter, depth: Int) throws {
        let reference = ColourReference(filter: filter, max: depth == 8 ? 255 : 65535)
        let step = depth == 8 ? 1 : 251
        let count = (depth == 8 ? 256 : 65536) / step
        for channels in 1...2 {
            let gray = PixelGrid(count, 1, channels: channels, depth: depth) { x, _, c in
                c == 0 ? UInt16(x * step) : UInt16(x % 256)
            }
            let result = try gray.developed(filter)
            let colours = result.layout.colourChannels
            #expect(result.layout.hasAlpha == (channels == 2))
            for x in 0..<count {
                let v = UInt16(x * step)
                let expected = reference.result([v, v, v])
                var pixel = result.pixel(x, 0)
                if channels == 2 { #expect(pixel.removeLast() == UInt16(x % 256)) }
                #expect(pixel == Array(expected.prefix(colours)), "\(v)")
                // A gray result stands for three equal channels.
                if colours == 1 { #expect(Set(expected).count == 1) }
            }
        }
    }

    /// Sepia's coefficients are thousandths, so that whole numbers give the result with its ties exactly.
    @Test func sepiaAgreesWithWholeNumbers() throws {
        let codes = Array(stride(from: 0, to: 1 << 24, by: 101))
        let grid = PixelGrid(codes.count, 1, channels: 3) { x, _, c in
            UInt16(codes[x] >> (16 - 8 * c) & 255)
        }
        let result = try grid.developed(.sepia(intensity: 1))
        let rows = [[393, 769, 189], [349, 686, 168], [272, 534, 131]]
        var wrong = 0
        var ties = 0
        for (x, code) in codes.enumerated() {
            for c in 0..<3 {
                let sum =
                    rows[c][0] * (code >> 16) + rows[c][1] * (code >> 8 & 255) + rows[c][2]
                    * (code & 255)
                if sum % 1000 == 500 { ties += 1 }
                if Int(result[x, 0, c]) != min(255, (sum + 500) / 1000) { wrong += 1 }
            }
        }
        #expect(wrong == 0)
        #expect(ties > 100)
    }

    @Test(arguments: [
        Filter.sepia(intensity: 0), .grayscale(amount: 0), .saturate(amount: 1),
        .hueRotate(angle: 0), .hueRotate(angle: -720), .invert(amount: 0), .brightness(amount: 1),
        .contrast(amount: 1), .opacity(amount: 1), .gamma(1),
        .vignette(Filter.Vignette(amount: 0)), .posterize(levels: 256),
    ])
    func isNoStageWhereItChangesNothing(_ filter: Filter) throws {
        for channels in 1...4 {
            let source = GridStage(.noise(3, 3, channels: channels))
            let stage = try FilterStage.make(filter, upstream: source, limits: PictureLimits())
            #expect(stage === source)
        }
    }

    @Test(arguments: [8, 16], [0, 0.2, 0.5, 0.999])
    func opacityMultipliesAlphaOnly(depth: Int, amount: Double) throws {
        for channels in 1...4 {
            let grid = PixelGrid.noise(31, 5, channels: channels, depth: depth)
            let result = try grid.developed(.opacity(amount: amount))
            #expect(result.layout.channels == (channels <= 2 ? 2 : 4))
            for (x, y) in grid.places {
                var pixel = grid.pixel(x, y)
                let alpha = grid.layout.hasAlpha ? Double(pixel.removeLast()) : grid.max
                let expected = ColourReference.rounded(amount * alpha, max: grid.max)
                #expect(result.pixel(x, y) == pixel + [expected])
            }
        }
    }

    /// Each filter's result is clamped before the next: what brightness cut off does not come back.
    @Test func chainsClampInBetween() throws {
        let grid = PixelGrid(1, 1, channels: 3) { _, _, c in [100, 200, 50][c] }
        let result = try grid.developed(.brightness(amount: 2), .brightness(amount: 0.5))
        #expect(result.samples == [100, 128, 50])
    }
}

/// The definitions of the Filter Effects Module, for one colour.
struct ColourReference {
    let filter: Filter
    let max: Double

    /// Always three samples; a gray result is all alike.
    func result(_ colour: [UInt16]) -> [UInt16] {
        let (r, g, b) = (Double(colour[0]), Double(colour[1]), Double(colour[2]))
        switch filter {
        case .mono:
            let y = 0.2126 * r + 0.7152 * g + 0.0722 * b
            let m = Self.rounded(0.85 * y + 0.075 * max, max: max)
            return [m, m, m]
        case .invert(let a):
            return [r, g, b].map { Self.rounded(a * max + $0 * (1 - 2 * a), max: max) }
        case .brightness(let a): return [r, g, b].map { Self.rounded(a * $0, max: max) }
        case .contrast(let a):
            return [r, g, b].map { Self.rounded(a * $0 + (0.5 - 0.5 * a) * max, max: max) }
        default:
            return rows.map { Self.rounded($0[0] * r + $0[1] * g + $0[2] * b, max: max) }
        }
    }

    /// A value to the nearest sample; one within a millionth of a tie counts as the tie and goes up.
    static func rounded(_ x: Double, max: Double) -> UInt16 {
        let below = x.rounded(.down)
        let fraction = x - below
        let nearest = fraction > 0.5 || abs(fraction - 0.5) < 1e-6 ? below + 1 : below
        return UInt16(Swift.min(Swift.max(nearest, 0), max))
    }

    /// The matrix, as the specification writes it.
    private var rows: [[Double]] {
        switch filter {
        case .sepia(let a):
            let q: Double = 1 - a
            return [
                [0.393 + 0.607 * q, 0.769 - 0.769 * q, 0.189 - 0.189 * q],
                [0.349 - 0.349 * q, 0.686 + 0.314 * q, 0.168 - 0.168 * q],
                [0.272 - 0.272 * q, 0.534 - 0.534 * q, 0.131 + 0.869 * q],
            ]
        case .grayscale(let a):
            let q: Double = 1 - a
            return [
                [0.2126 + 0.7874 * q, 0.7152 - 0.7152 * q, 0.0722 - 0.0722 * q],
                [0.2126 - 0.2126 * q, 0.7152 + 0.2848 * q, 0.0722 - 0.0722 * q],
                [0.2126 - 0.2126 * q, 0.7152 - 0.7152 * q, 0.0722 + 0.9278 * q],
            ]
        case .saturate(let s): return Self.turned(cosine: s, sine: 0)
        case .hueRotate(let degrees):
            let radians = degrees / 180 * Double.pi
            return Self.turned(cosine: cos(radians), sine: sin(radians))
        default: preconditionFailure("no matrix for \(filter)")
        }
    }

    private static func turned(cosine c: Double, sine s: Double) -> [[Double]] {
        let r: [Double] = [0.213 + c * 0.787 - s * 0.213, 0.715 - c * 0.715 - s * 0.715]
        let g: [Double] = [0.213 - c * 0.213 + s * 0.143, 0.715 + c * 0.285 + s * 0.140]
        let b: [Double] = [0.213 - c * 0.213 - s * 0.787, 0.715 - c * 0.715 + s * 0.715]
        return [
            r + [0.072 - c * 0.072 + s * 0.928], g + [0.072 - c * 0.072 - s * 0.283],
            b + [0.072 + c * 0.928 + s * 0.072],
        ]
    }
}
