import Foundation

/// What the pictures show.
extension SkyCanvas {
    /// A spiral seen at an angle, with a yellow bulge, blue arms and lanes of dust.
    mutating func addGalaxy(seed: UInt64, random: inout SplitMix64) {
        let field = ValueNoise(seed: seed)
        let turn = random.unit() * .pi
        let tilt = 0.5 + 0.3 * random.unit()
        let (sine, cosine) = (sin(turn), cos(turn))
        add { x, y in
            // The disc's own plane, seen tilted.
            let u = x * cosine + y * sine
            let v = (y * cosine - x * sine) / tilt
            let radius = (u * u + v * v).squareRoot() + 0.001
            let sky = SIMD3<Float>(0.0035, 0.0038, 0.0055)
            if radius > 1.5 { return sky }
            let angle = atan2(v, u)
            let clumps = field.turbulence(6 * u + 9, 6 * v + 9, octaves: 3)
            let phase = 2 * angle - 5.2 * log(radius) + 2.2 * (clumps - 0.5)
            let arm = 0.5 + 0.5 * cos(phase)
            let lane = 0.5 + 0.5 * cos(phase + 1.1)
            let disc = 1.5 * exp(-3.2 * radius) * (radius < 1.2 ? 1 : max(0, (1.5 - radius) / 0.3))
            let young = disc * arm * arm * (0.35 + 1.5 * clumps)
            let old = disc * (0.22 + 0.25 * arm)
            let bulge = 1.6 * exp(-(x * x + y * y) / 0.012) + 0.5 * exp(-radius * 9)
            let dust = 1 - 0.6 * lane * lane * min(1, 4 * radius) * clumps
            let blue = SIMD3<Float>(0.55, 0.72, 1.05) * young
            let warm = SIMD3<Float>(1.0, 0.80, 0.56) * (old + bulge)
            return sky + (blue + warm) * dust
        }
        addStars(perMegapixel: 1900, random: &random)
    }

    /// Clouds of glowing gas, red of hydrogen and teal of oxygen, and dark ones before them.
    mutating func addNebula(seed: UInt64, random: inout SplitMix64) {
        let shape = ValueNoise(seed: seed)
        let colour = ValueNoise(seed: seed &+ 1)
        add { x, y in
            let warpX = shape.turbulence(1.3 * x + 20, 1.3 * y, octaves: 3)
            let warpY = shape.turbulence(1.3 * x, 1.3 * y + 20, octaves: 3)
            let gas = shape.turbulence(
                1.1 * x + 2.6 * warpX + 5, 1.1 * y + 2.6 * warpY + 5, octaves: 6)
            let centre = exp(-0.75 * (x * x * 0.6 + y * y))
            let hydrogen = 2.2 * centre * pow(max(0, gas - 0.33) * 2.1, 2.8)
            let mix = colour.turbulence(1.6 * x + 3, 1.6 * y + 11, octaves: 3)
            let oxygen =
                1.6 * centre * centre * pow(max(0, 0.78 - gas), 2) * max(0, 1.9 * mix - 0.45)
            let veil = min(1, max(0.12, 2.6 * (gas - 0.22)))
            return SIMD3<Float>(0.006, 0.005, 0.007)
                + (SIMD3<Float>(1.0, 0.26, 0.32) * hydrogen
                    + SIMD3<Float>(0.20, 0.75, 0.85) * oxygen) * veil
        }
        addStars(perMegapixel: 2600, random: &random)
    }

    /// A globular cluster: stars that crowd towards the centre.
    mutating func addCluster(random: inout SplitMix64) {
        add { x, y in
            let square = x * x + y * y
            return SIMD3<Float>(0.003, 0.0035, 0.005)
                + SIMD3<Float>(1.0, 0.88, 0.70) * (0.22 / (1 + 30 * square) / (1 + 6 * square))
        }
        let unit = Float(min(width, height)) / 2
        let count = Int(0.022 * Float(width * height))
        let scale = max(0.6, unit / 330)
        for _ in 0..<count {
            // King's profile, inverted: half of the stars lie within 0.17.
            let share = 0.97 * random.unit()
            let radius = 0.17 * (share / (1 - share)).squareRoot()
            let angle = 2 * Float.pi * random.unit()
            let brightness = min(2.2, 0.1 * pow(1 - random.unit(), -0.6))
            let temperature = min(1, max(0, 0.42 + 0.28 * random.normal()))
            addStar(
                x: Float(width) / 2 + radius * cos(angle) * unit,
                y: Float(height) / 2 + radius * sin(angle) * unit, brightness: brightness,
                radius: scale * (0.8 + 0.25 * brightness),
                colour: Self.starColour(temperature: temperature))
        }
        addStars(perMegapixel: 350, random: &random)
    }

    /// A waxing moon: dark maria, craters with bright rims, a terminator.
    mutating func addMoon(seed: UInt64, random: inout SplitMix64) {
        let field = ValueNoise(seed: seed)
        var craters: [(place: SIMD2<Float>, radius: Float, depth: Float)] = []
        for _ in 0..<260 {
            let place = SIMD2(2 * random.unit() - 1, 2 * random.unit() - 1)
            let radius = min(0.11, 0.012 * pow(1 - random.unit(), -0.58))
            craters.append((place, radius, 0.25 + 0.35 * random.unit()))
        }
        let sun = SIMD3<Float>(0.80, -0.22, 0.42)
        let size: Float = 0.86
        add { x, y in
            let (u, v) = (x / size, y / size)
            let square = u * u + v * v
            let sky = SIMD3<Float>(repeating: 0.0015)
            let edge = min(1, max(0, (1 - square) * 90))
            if edge == 0 { return sky }
            let z = max(0, 1 - square).squareRoot()
            var normal = SIMD3(u, v, z)
            let maria = field.turbulence(1.9 * u + 4, 1.9 * v + 4, octaves: 5)
            var albedo = 0.62 - 0.42 * min(1, max(0, (maria - 0.47) * 7))
            albedo *= 0.86 + 0.28 * field.turbulence(13 * u, 13 * v, octaves: 3)
            for crater in craters {
                let offset = SIMD2(u, v) - crater.place
                let distance = (offset * offset).sum().squareRoot() / crater.radius
                if distance > 1.4 { continue }
                // A bowl within the rim, a gentle slope down outside.
                let slope = distance < 1 ? -crater.depth * distance : 0.5 * (1.4 - distance)
                let direction = offset / (distance * crater.radius + 0.0001)
                normal.x -= 0.7 * slope * direction.x
                normal.y -= 0.7 * slope * direction.y
                if distance < 1.12, distance > 0.86 { albedo *= 1.12 }
            }
            let length = (normal * normal).sum().squareRoot()
            let shine = max(0, (normal * sun).sum() / length)
            let earthshine: Float = 0.004
            return sky
                + SIMD3<Float>(1.0, 0.97, 0.92) * (albedo * (1.5 * shine + earthshine) * edge)
        }
    }

    /// A comet with a narrow blue tail of gas and a broad yellow one of dust.
    mutating func addComet(seed: UInt64, random: inout SplitMix64) {
        let field = ValueNoise(seed: seed)
        let head = SIMD2<Float>(-0.62, 0.42)
        let direction = SIMD2<Float>(0.87, -0.49)
        add { x, y in
            let offset = SIMD2(x, y) - head
            let along = (offset * direction).sum()
            let across = offset.y * direction.x - offset.x * direction.y
            let distance = (offset * offset).sum()
            let coma = 1.8 * exp(-distance / 0.0016) + 0.30 * exp(-distance.squareRoot() * 11)
            var gas: Float = 0
            var dust: Float = 0
            if along > -0.1 {
                let forward = max(0, along)
                let onset = min(1, (along + 0.1) * 8)
                let width = 0.018 + 0.06 * forward
                let streaks = field.turbulence(2.2 * along, across / width * 2.4 + 30, octaves: 3)
                gas =
                    0.34 * onset * exp(-1.15 * forward) * (0.35 + 1.3 * streaks)
                    * exp(-across * across / (width * width))
                // The dust lags behind on its orbit: its tail bends.
                let bent = across - 0.20 * forward * forward - 0.06 * forward
                let spread = 0.028 + 0.17 * forward
                dust =
                    0.42 * onset * exp(-1.5 * forward) * exp(-bent * bent / (spread * spread))
            }
            let dusk = SIMD3<Float>(0.010, 0.013, 0.024) * (1 + 0.7 * y)
            return dusk + SIMD3<Float>(0.72, 1.0, 0.86) * coma
                + SIMD3<Float>(0.42, 0.66, 1.05) * gas + SIMD3<Float>(1.0, 0.86, 0.62) * dust
        }
        addStars(perMegapixel: 1500, random: &random)
    }
}
