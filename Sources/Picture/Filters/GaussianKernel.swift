import Glibc

/// How a Gaussian blur of a standard deviation σ is computed.
enum GaussianKernel: Equatable {
    /// A convolution with weights[0] at the centre and weights[k] at the distance k to both sides.
    case direct(weights: [Float])
    /// A sum of cosines.
    case cosines(CosineSeries)

    /// Up to this σ the blur is a convolution with the Gaussian itself; its cost grows with σ. Above, it
    /// is a sum of cosines, whose cost does not.
    static let largestDirectSigma = 16.0

    /// How near to the Gaussian a kernel has to be.
    enum Precision {
        /// For opaque samples of 8 bits.
        case bytes
        /// For 16 bits; and for alpha, where colour is divided by as little as half a step of it.
        case words

        /// Up to what gain `bytes` keeps a result within one step: times this its error is less than one.
        static let largestGainOfBytes = 3.0

        /// - Parameter gain: how many times what a blur is off by counts in the result.
        init(_ layout: PixelLayout, gain: Double = 1) {
            let isOpaque = layout.depth == 8 && !layout.hasAlpha
            self = isOpaque && gain <= Self.largestGainOfBytes ? .bytes : .words
        }
    }

    init(sigma: Double, _ precision: Precision) {
        self =
            sigma <= Self.largestDirectSigma
            ? .direct(weights: Self.weights(sigma: sigma, precision).map { Float($0) })
            : .cosines(CosineSeries(sigma: sigma, precision))
    }

    /// How many pixels to each side count.
    var radius: Int {
        switch self {
        case .direct(let weights): weights.count - 1
        case .cosines(let series): series.radius
        }
    }

    /// The Gaussian at whole pixels, brought to a sum of 1.
    ///
    /// It is cut off at 4σ for bytes and at 5σ else. What lies beyond, along both axes, weighs
    /// 1.3·10⁻⁴ and 1.2·10⁻⁶: 0.03 of a step of 8 bits and 0.08 of a step of 16.
    static func weights(sigma: Double, _ precision: Precision) -> [Double] {
        let radius = Int((sigma * (precision == .bytes ? 4 : 5)).rounded(.up))
        let raw = (0...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = raw[0] + 2 * raw.dropFirst().reduce(0, +)
        return raw.map { $0 / sum }
    }
}

/// The Gaussian as a sum of cosines, within a window of P = 2·radius + 1 pixels and 0 outside:
///
///     (1 + Σ weights[m − 1]·cos(2πmk / P)) / P    at the distance k
///
/// Copies of the Gaussian at all multiples of P add up to such a series with weights of 2·exp(−(2πmσ/P)²/2)
/// (Poisson's summation formula), which fall off as fast as the Gaussian itself. What is left out is
/// the Gaussian beyond the window, and the weights after the last. All cosines but the constant
/// sum up to 0, so an even colour stays as it is.
///
/// In the picture that is worst of all, black where the kernel is too small and white elsewhere, a sample is
/// off by as much as half the sum of the absolute differences, along both axes: 0.14 of a step of 8 bits
/// with `bytes`, and 0.07 of a step of 16 with `words`.
struct CosineSeries: Equatable {
    /// How many pixels to each side count.
    let radius: Int
    /// Of the cosines m = 1, 2, …
    let weights: [Double]

    init(sigma: Double, _ precision: GaussianKernel.Precision) {
        // Where the two errors are about the same.
        let (count, reach) = precision == .bytes ? (4, 3.8) : (8, 5.1)
        let radius = Int((sigma * reach).rounded(.up))
        self.radius = radius
        weights = (1...count).map { term in
            let frequency = 2 * Double.pi * Double(term) / Double(2 * radius + 1)
            return 2 * exp(-frequency * frequency * sigma * sigma / 2)
        }
    }
}
