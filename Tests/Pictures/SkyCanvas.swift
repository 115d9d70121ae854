import Foundation

/// A picture of light being added up: linear RGB, no upper end, black at first.
struct SkyCanvas {
    let width: Int
    let height: Int
    /// Red, green and blue of each pixel, row by row from the top.
    private(set) var light: [Float]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        light = [Float](repeating: 0, count: width * height * 3)
    }

    /// Adds what `colour` gives for each pixel. It is given the pixel's place from the centre, in
    /// units of half the shorter side, y downwards.
    mutating func add(_ colour: (_ x: Float, _ y: Float) -> SIMD3<Float>) {
        let unit = 2 / Float(min(width, height))
        let (width, height) = (width, height)
        light.withUnsafeMutableBufferPointer { light in
            var index = 0
            for row in 0..<height {
                let y = (Float(row) - Float(height) / 2) * unit
                for column in 0..<width {
                    let value = colour((Float(column) - Float(width) / 2) * unit, y)
                    light[index] += value.x
                    light[index + 1] += value.y
                    light[index + 2] += value.z
                    index += 3
                }
            }
        }
    }

    /// Multiplies each pixel's light by what `factor` gives for it.
    mutating func multiply(_ factor: (_ x: Float, _ y: Float) -> SIMD3<Float>) {
        let old = light
        var index = 0
        add { x, y in
            defer { index += 3 }
            let value = SIMD3(old[index], old[index + 1], old[index + 2])
            return value * factor(x, y) - value
        }
    }

    /// Adds a star: a Gaussian core, and for bright ones a halo that fades with the square.
    ///
    /// - Parameters:
    ///   - x: Pixels from the left.
    ///   - y: Pixels from the top.
    ///   - radius: The core's standard deviation in pixels.
    mutating func addStar(
        x: Float, y: Float, brightness: Float, radius: Float, colour: SIMD3<Float>
    ) {
        let reach = Int((radius * (3 + 2.5 * brightness.squareRoot())).rounded(.up))
        let (centreX, centreY) = (Int(x), Int(y))
        for row in max(0, centreY - reach)..<max(0, min(height, centreY + reach + 1)) {
            for column in max(0, centreX - reach)..<max(0, min(width, centreX + reach + 1)) {
                let (dx, dy) = (Float(column) - x, Float(row) - y)
                let square = (dx * dx + dy * dy) / (radius * radius)
                let halo = 0.012 * max(0, 1 / (0.6 + square) - 1 / (0.6 + 9 + 6 * brightness))
                let value = brightness * (exp(-square / 2) + halo) * colour
                let index = (row * width + column) * 3
                light[index] += value.x
                light[index + 1] += value.y
                light[index + 2] += value.z
            }
        }
    }

    /// Scatters stars evenly: many faint ones, few bright ones.
    ///
    /// - Parameter perMegapixel: How many for a picture of a million pixels.
    mutating func addStars(perMegapixel: Float, random: inout SplitMix64) {
        let count = Int(perMegapixel * Float(width * height) / 1_000_000)
        let scale = max(0.75, Float(min(width, height)) / 600)
        for _ in 0..<count {
            let x = random.unit() * Float(width)
            let y = random.unit() * Float(height)
            // Counts rise by about 2.5 a magnitude: a power law of exponent −1.2, cut off above.
            let brightness = min(5, 0.035 * pow(1 - random.unit(), -0.85))
            let radius = scale * (0.75 + 0.2 * random.unit() + 0.12 * brightness)
            let colour = Self.starColour(temperature: random.unit())
            addStar(x: x, y: y, brightness: brightness, radius: radius, colour: colour)
        }
    }

    /// From red giants at 0 through yellow and white to blue at 1.
    static func starColour(temperature: Float) -> SIMD3<Float> {
        let red = SIMD3<Float>(1.0, 0.66, 0.42)
        let white = SIMD3<Float>(1.0, 0.95, 0.88)
        let blue = SIMD3<Float>(0.66, 0.78, 1.0)
        return temperature < 0.5
            ? red + (white - red) * (2 * temperature)
            : white + (blue - white) * (2 * temperature - 1)
    }
}

/// Smooth random fields over the plane, the same for the same seed.
struct ValueNoise {
    private let seed: UInt64

    init(seed: UInt64) { self.seed = SplitMix64.mix(seed &+ 0x5851_F42D_4C95_7F2D) }

    /// From 0 to 1, with features of about 1.
    func value(_ x: Float, _ y: Float) -> Float {
        let (column, row) = (x.rounded(.down), y.rounded(.down))
        let (u, v) = (Self.smooth(x - column), Self.smooth(y - row))
        let (i, j) = (Int32(column), Int32(row))
        let top = corner(i, j) * (1 - u) + corner(i &+ 1, j) * u
        let bottom = corner(i, j &+ 1) * (1 - u) + corner(i &+ 1, j &+ 1) * u
        return top * (1 - v) + bottom * v
    }

    /// Octaves of `value`, each twice as fine and half as strong, from 0 to 1.
    func turbulence(_ x: Float, _ y: Float, octaves: Int) -> Float {
        var sum: Float = 0
        var total: Float = 0
        var strength: Float = 1
        var (x, y) = (x, y)
        for _ in 0..<octaves {
            sum += strength * value(x, y)
            total += strength
            strength *= 0.5
            // Turned a little each time, so that the lattices do not line up.
            (x, y) = (1.6 * x + 1.2 * y + 7.1, 1.6 * y - 1.2 * x + 3.7)
        }
        return sum / total
    }

    private func corner(_ i: Int32, _ j: Int32) -> Float {
        let place = UInt64(UInt32(bitPattern: i)) << 32 | UInt64(UInt32(bitPattern: j))
        return Float(SplitMix64.mix(place ^ seed) >> 40) * 0x1p-24
    }

    private static func smooth(_ t: Float) -> Float { t * t * t * (t * (6 * t - 15) + 10) }
}
