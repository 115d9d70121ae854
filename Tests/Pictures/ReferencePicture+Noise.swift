import DarkroomPicture

/// What goes over every sample is here, where it is optimised: in the tests, it would take seconds for a megapixel.
extension ReferencePicture {
    /// A picture of random samples.
    ///
    /// - Parameters:
    ///   - width, height, channels, depth: its layout.
    ///   - seed: the same seed gives the same picture.
    package static func noise(
        width: Int, height: Int, channels: Int, depth: Int, seed: UInt64 = 3
    ) -> ReferencePicture {
        var random = SplitMix64(seed: seed)
        let mask = UInt16(truncatingIfNeeded: 1 << depth - 1)
        return ReferencePicture(
            layout: PixelLayout(width: width, height: height, channels: channels, depth: depth),
            samples: (0..<width * height * channels).map { _ in
                UInt16(truncatingIfNeeded: random.next()) & mask
            })
    }

    /// The largest difference of a sample; `Int.max` if there are not as many.
    package func difference(from other: ReferencePicture) -> Int {
        guard samples.count == other.samples.count else { return .max }
        return zip(samples, other.samples).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }

    /// The mean square of the differences of samples, of which the largest has the value 1. Both have as many.
    package func meanSquareError(from other: ReferencePicture) -> Double {
        let full = Double(1 << layout.depth - 1)
        let squares = zip(samples, other.samples).reduce(0) { sum, pair in
            sum + (Double(pair.0) - Double(pair.1)) * (Double(pair.0) - Double(pair.1))
        }
        return squares / Double(samples.count) / (full * full)
    }

    /// The same picture with another depth, and with three equal colours in place of gray if there are more channels.
    package func converted(channels: Int, depth: Int) -> ReferencePicture {
        var other = layout
        other.channels = channels
        other.depth = depth
        let (full, most) = (1 << layout.depth - 1, 1 << depth - 1)
        func scaled(_ value: UInt16) -> UInt16 {
            layout.depth == depth ? value : UInt16((Int(value) * most + full / 2) / full)
        }
        let isSpread = other.colourChannels > layout.colourChannels
        var result: [UInt16] = []
        result.reserveCapacity(layout.width * layout.height * channels)
        for start in stride(from: 0, to: samples.count, by: layout.channels) {
            for channel in 0..<layout.colourChannels {
                for _ in 0..<(isSpread ? 3 : 1) { result.append(scaled(samples[start + channel])) }
            }
            if layout.hasAlpha { result.append(scaled(samples[start + layout.channels - 1])) }
        }
        return ReferencePicture(layout: other, samples: result)
    }
}

extension SplitMix64 {
    /// Random bytes below a number.
    package mutating func bytes(_ count: Int, below values: UInt64 = 256) -> [UInt8] {
        (0..<count).map { _ in UInt8(next() % values) }
    }
}
