import CDarkroomPixels
import Glibc
import TestPictures
import Testing

@testable import DarkroomPicture

/// Gamma, threshold, posterize, vignette and flatten against their definitions, computed here anew.
struct ToneFilterTests {
    /// Checks every pixel: `reference` makes the colour of a pixel's samples, alpha stays.
    private func check(
        _ filter: Filter, _ grid: PixelGrid, keepsAlpha: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation,
        reference: (_ x: Int, _ y: Int, _ pixel: [Double], _ alpha: Double) -> [Double]
    ) throws {
        let result = try grid.developed(filter)
        var wrong = 0
        for (x, y) in grid.places {
            var pixel = grid.pixel(x, y)
            let alpha = grid.layout.hasAlpha ? pixel.removeLast() : UInt16(grid.max)
            var expected = reference(x, y, pixel.map { Double($0) }, Double(alpha)).map {
                ColourReference.rounded($0, max: grid.max)
            }
            if grid.layout.hasAlpha, keepsAlpha { expected.append(alpha) }
            if result.pixel(x, y) != expected { wrong += 1 }
        }
        #expect(
            wrong == 0, "\(wrong) pixels of \(grid), \(filter)", sourceLocation: sourceLocation)
    }

    static let layouts = GeometryFilterTests.layouts

    /// Every sample value once, or noise with alpha.
    private static func ramp(_ channels: Int, _ depth: Int) -> PixelGrid {
        let noise = PixelGrid.noise(256, 17, channels: channels, depth: depth)
        guard channels == 1 else { return noise }
        return PixelGrid(256, depth == 8 ? 1 : 256, channels: 1, depth: depth) { x, y, _ in
            UInt16(256 * y + x)
        }
    }

    @Test(arguments: [0.01, 0.45, 1, 2.2, 10], layouts)
    func gammaIsAPower(gamma: Double, layout: (Int, Int)) throws {
        let grid = Self.ramp(layout.0, layout.1)
        try check(.gamma(gamma), grid) { _, _, pixel, _ in
            pixel.map { grid.max * pow($0 / grid.max, 1 / gamma) }
        }
    }

    @Test(arguments: [2, 3, 7, 100, 256], layouts)
    func posterizeTakesTheNearestLevel(levels: Int, layout: (Int, Int)) throws {
        let grid = Self.ramp(layout.0, layout.1)
        let steps = Double(levels - 1)
        let all = (0..<levels).map {
            Double(ColourReference.rounded(Double($0) * grid.max / steps, max: grid.max))
        }
        try check(.posterize(levels: levels), grid) { _, _, pixel, _ in
            pixel.map { v in
                // Of the two levels around v the nearer one; between both, the upper.
                let below = Int((v * steps / grid.max).rounded(.down))
                guard below < levels - 1 else { return all[below] }
                let (down, up) = (
                    v * steps - Double(below) * grid.max, Double(below + 1) * grid.max - v * steps
                )
                return all[up <= down ? below + 1 : below]
            }
        }
    }

    @Test(arguments: [0, 0.1, 0.2, 0.5, 0.999, 1], layouts)
    func thresholdCutsAtALuminance(level: Double, layout: (Int, Int)) throws {
        let grid = Self.ramp(layout.0, layout.1)
        // In whole ten thousandths, where level·max is one: 0.2 of 255 is 51 exactly, whatever it is in binary.
        let least = Int((level * grid.max * 10_000).rounded())
        try check(.threshold(level: level), grid) { _, _, pixel, _ in
            let rgb = (pixel.count == 1 ? [pixel[0], pixel[0], pixel[0]] : pixel).map { Int($0) }
            return [2126 * rgb[0] + 7152 * rgb[1] + 722 * rgb[2] >= least ? grid.max : 0]
        }
    }

    @Test(
        arguments: [
            Filter.Vignette(), Filter.Vignette(amount: 1, radius: 0, softness: 1),
            Filter.Vignette(amount: 0.3, radius: 0.9, softness: 0.01),
        ], layouts)
    func vignetteDarkensByTheFormula(_ vignette: Filter.Vignette, layout: (Int, Int)) throws {
        for (width, height) in [(31, 20), (1, 1), (1, 9), (40, 1), (8, 8)] {
            let grid = PixelGrid.noise(width, height, channels: layout.0, depth: layout.1)
            let half = hypot(Double(width), Double(height)) / 2
            try check(.vignette(vignette), grid) { x, y, pixel, _ in
                let d =
                    hypot(
                        Double(x) + 0.5 - Double(width) / 2, Double(y) + 0.5 - Double(height) / 2)
                    / half
                let t = min(max((d - vignette.radius) / vignette.softness, 0), 1)
                return pixel.map { $0 * (1 - vignette.amount * (3 * t * t - 2 * t * t * t)) }
            }
        }
    }

    @Test(
        arguments: [
            Colour.white, Colour(red: 0, green: 0, blue: 0), Colour(red: 77, green: 77, blue: 77),
            Colour(red: 1, green: 200, blue: 90),
        ], layouts)
    func flattenLaysOverAColour(_ colour: Colour, layout: (Int, Int)) throws {
        let grid = PixelGrid.noise(67, 31, channels: layout.0, depth: layout.1)
        let scale = grid.max / 255
        let below = [colour.red, colour.green, colour.blue].map { Double($0) * scale }
        try check(.flatten(background: colour), grid, keepsAlpha: false) { _, _, pixel, alpha in
            let a = alpha / grid.max
            let staysGray = pixel.count == 1 && (colour.isGray || !grid.layout.hasAlpha)
            return (0..<(staysGray ? 1 : 3)).map {
                a * pixel[pixel.count == 1 ? 0 : $0] + (1 - a) * below[$0]
            }
        }
    }

    /// Whatever instructions there are, the bytes are the same.
    @Test(
        arguments: [
            Filter.threshold(level: 0.4),
            .flatten(background: Colour(red: 9, green: 99, blue: 199)),
            .vignette(Filter.Vignette(amount: 1, radius: 0)),
            .overlay(Filter.Overlay(from: "rgba 8 60x9", opacity: 0.4)), .blur(sigma: 20),
        ], layouts)
    func instructionsMakeNoDifference(_ filter: Filter, layout: (Int, Int)) throws {
        defer { darkroom_cpu_limit(DARKROOM_CPU_AVX512) }
        for width in [1, 7, 16, 31, 67] {
            let grid = PixelGrid.noise(width, 37, channels: layout.0, depth: layout.1)
            darkroom_cpu_limit(DARKROOM_CPU_SCALAR)
            let scalar = try grid.developed(filter)
            darkroom_cpu_limit(DARKROOM_CPU_AVX2)
            #expect(try grid.developed(filter) == scalar)
        }
    }

    @Test func vignetteLeavesNoFringes() throws {
        let disc = PixelGrid.disc(40, 30)
        let result = try disc.developed(.vignette(Filter.Vignette(amount: 1, radius: 0)))
        #expect(result.places.allSatisfy { result[$0.x, $0.y, 3] == disc[$0.x, $0.y, 3] })
    }
}
