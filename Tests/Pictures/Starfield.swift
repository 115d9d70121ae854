import DarkroomPicture
import Foundation

/// Procedural pictures that look and compress like those of astronomy: smooth light over many
/// orders of magnitude, small bright stars, and a camera's noise. The same for the same arguments.
package struct Starfield: Sendable {
    package enum Scene: String, Sendable, CaseIterable {
        case galaxy, nebula, cluster, moon, comet
    }

    package var scene = Scene.galaxy
    /// In pixels.
    package var width: Int
    package var height: Int
    package var seed: UInt64
    /// The standard deviation of the camera's noise, in steps of 8 bits.
    package var noise: Float = 1.2

    package init(scene: Scene = .galaxy, width: Int, height: Int, seed: UInt64) {
        precondition(width > 0 && height > 0)
        self.scene = scene
        self.width = width
        self.height = height
        self.seed = seed
    }

    /// An 8-bit RGB picture as a PNG file.
    package static func png(width: Int, height: Int, seed: UInt64) -> [UInt8] {
        Starfield(width: width, height: height, seed: seed).maker().encoded
    }

    /// The picture as a PNG to be made, RGB or RGBA.
    package func maker(depth: Int = 8, alpha: Bool = false) -> PNGMaker {
        let picture = picture(depth: depth, alpha: alpha)
        var maker = PNGMaker(
            width: width, height: height, colourType: alpha ? .rgba : .rgb, depth: depth,
            samples: picture.samples)
        maker.rowFilter = .fixed(1)
        return maker
    }

    /// The picture's samples, RGB or RGBA.
    ///
    /// - Parameters:
    ///   - depth: 8 or 16.
    ///   - alpha: Whether to add alpha, which follows brightness: the sky is half transparent.
    package func picture(depth: Int = 8, alpha: Bool = false) -> ReferencePicture {
        let full: Float = depth == 8 ? 255 : 65535
        let developed = developed()
        let channels = alpha ? 4 : 3
        var samples = [UInt16]()
        samples.reserveCapacity(width * height * channels)
        developed.withUnsafeBufferPointer { developed in
            for start in stride(from: 0, to: developed.count, by: 3) {
                for index in start..<start + 3 { samples.append(UInt16(developed[index] * full)) }
                if alpha {
                    let brightest = max(
                        developed[start], developed[start + 1], developed[start + 2])
                    samples.append(UInt16((0.5 + 0.5 * brightest) * full))
                }
            }
        }
        return ReferencePicture(
            layout: PixelLayout(width: width, height: height, channels: channels, depth: depth),
            samples: samples)
    }

    /// The picture encoded as a camera would: a tone curve, then noise, then the range from 0 to 1.
    private func developed() -> [Float] {
        let noise = noise / 255
        var random = SplitMix64(seed: seed &+ 99)
        var result = exposed().light
        result.withUnsafeMutableBufferPointer { result in
            for start in stride(from: 0, to: result.count, by: 3) {
                let light = SIMD3(result[start], result[start + 1], result[start + 2])
                let gray = (light * SIMD3(0.2126, 0.7152, 0.0722)).sum()
                // More colour, then Reinhard's shoulder, then a gamma.
                let vivid = SIMD3(repeating: gray) + (light - gray) * 1.4
                for channel in 0..<3 {
                    let value = max(0, vivid[channel])
                    let encoded = 1.12 * pow(value / (0.9 + value), 0.58)
                    // The sum of two evenly spread numbers is near enough to a normal one, and
                    // quick.
                    let bits = random.next()
                    let sum = Float(UInt32(truncatingIfNeeded: bits)) + Float(UInt32(bits >> 32))
                    let error = (sum * 0x1p-32 - 1) * 2.45 * noise * (0.6 + encoded)
                    result[start + channel] = min(1, max(0, encoded + error))
                }
            }
        }
        return result
    }

    /// The light that falls on the camera.
    private func exposed() -> SkyCanvas {
        var random = SplitMix64(seed: seed)
        var canvas = SkyCanvas(width: width, height: height)
        switch scene {
        case .galaxy: canvas.addGalaxy(seed: seed, random: &random)
        case .nebula: canvas.addNebula(seed: seed, random: &random)
        case .cluster: canvas.addCluster(random: &random)
        case .moon: canvas.addMoon(seed: seed, random: &random)
        case .comet: canvas.addComet(seed: seed, random: &random)
        }
        return canvas
    }
}
