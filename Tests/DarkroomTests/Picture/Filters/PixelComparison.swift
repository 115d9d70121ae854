import TestPictures
import Testing

/// Checks a result against a reference in double precision: samples of 8 bits may be off by 1, of 16 bits
/// by 2.
///
/// `reference` gives samples that are clamped, but not rounded. Colour is compared as it shows: at an alpha of
/// a few of 65535 the quotient of two sums of floats is not known to 16 bits, but times alpha it is. Where
/// the result's alpha is 0, its colour must be 0, or that of the reference if `keepsHiddenColour`.
func expectAlike(
    _ result: PixelGrid, _ reference: (_ x: Int, _ y: Int) -> [Double],
    _ comment: @autoclosure () -> String = "", keepsHiddenColour: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let layout = result.layout
    let tolerance: Double = layout.depth == 8 ? 1 : 2
    var worst: (error: Double, x: Int, y: Int) = (0, 0, 0)
    for (x, y) in result.places {
        let pixel = result.pixel(x, y)
        let expected = reference(x, y)
        for c in pixel.indices {
            var error = abs(Double(pixel[c]) - expected[c].rounded())
            if layout.hasAlpha, c < layout.colourChannels {
                let alpha = Double(pixel[layout.colourChannels])
                if alpha == 0 {
                    if !keepsHiddenColour { error = Double(pixel[c]) }
                } else if layout.depth == 16 {
                    error *= Swift.min(1, alpha / 256)
                }
            }
            if error > worst.error { worst = (error, x, y) }
        }
    }
    if worst.error > tolerance {
        let (x, y) = (worst.x, worst.y)
        Issue.record(
            "\(comment()): off by \(worst.error) at (\(x), \(y)): \(result.pixel(x, y)), not \(reference(x, y))",
            sourceLocation: sourceLocation)
    }
}

extension PixelGrid {
    /// An opaque disc of one colour on transparent pixels of another.
    static func disc(_ width: Int, _ height: Int) -> PixelGrid {
        let inside: [UInt16] = [250, 10, 130, 255]
        let outside: [UInt16] = [0, 255, 0, 0]
        return PixelGrid(width, height, channels: 4) { x, y, c in
            let (dx, dy) = (2 * x + 1 - width, 2 * y + 1 - height)
            return dx * dx + dy * dy < width * height / 2 ? inside[c] : outside[c]
        }
    }
}

/// Checks that all of a filtered `PixelGrid.disc` that can be seen has the disc's colour, and that some of
/// it is half transparent.
func expectNoFringes(_ result: PixelGrid, sourceLocation: SourceLocation = #_sourceLocation) {
    var partial = 0
    for (x, y) in result.places where result[x, y, 3] > 0 {
        let pixel = result.pixel(x, y)
        if pixel[3] < 255 { partial += 1 }
        if Array(pixel[..<3]) != [250, 10, 130] {
            Issue.record("\(pixel) at (\(x), \(y))", sourceLocation: sourceLocation)
            return
        }
    }
    #expect(partial > 0, sourceLocation: sourceLocation)
}

extension PixelGrid {
    /// All (x, y).
    var places: [(x: Int, y: Int)] {
        (0..<layout.height).flatMap { y in (0..<layout.width).map { ($0, y) } }
    }
}
