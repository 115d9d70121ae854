import Foundation

/// Steele, Lea and Flood's SplitMix64: the same numbers everywhere for the same seed.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    /// Its finaliser, a hash of 64 bits.
    package static func mix(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }

    /// From 0 up to, not including, 1.
    package mutating func unit() -> Float { Float(next() >> 40) * 0x1p-24 }

    /// Normally distributed with variance 1, by Box and Muller.
    package mutating func normal() -> Float {
        (-2 * log(1 - unit())).squareRoot() * cos(2 * .pi * unit())
    }
}
