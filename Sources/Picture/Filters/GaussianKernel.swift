import Glibc

/// The computation of a Gaussian blur with a standard deviation σ.
enum GaussianKernel: Equatable {
    /// A convolution. weights[0] is at the centre, weights[k] at the distance k on both sides.
    case direct(weights: [Float])
    /// A sum of cosines.
    case cosines(CosineSeries)

    /// Up to this σ the blur is a convolution with the Gaussian, whose cost grows with σ. Above, it is a sum of
    /// cosines, whose cost does not.
    static let largestDirectSigma = 16.0

    /// The precision with which a kernel approximates the Gaussian.
    enum Precision {
        /// For opaque samples of 8 bits.
        case bytes
        /// For 16 bits, and for alpha, because colour may be divided by only half a step of alpha.
        case words

        /// Up to this gain, `bytes` keeps a result within one step: the gain times the error is less than one.
        static let largestGainOfBytes = 3.0

        /// - Parameter gain: the factor by which an error of the blur counts in the result.
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

    /// How many pixels on each side have a weight.
    var radius: Int {
        switch self {
        case .direct(let weights): weights.count - 1
        case .cosines(let series): series.radius
        }
    }

    /// The Gaussian at integer distances, scaled to a sum of 1.
    ///
    /// It ends at 4σ for bytes, else at 5σ. The omitted part, along both axes, has a weight of 1.3·10⁻⁴ or 1.2·10⁻⁶:
    /// 0.03 of a step of 8 bits or 0.08 of a step of 16 bits.
    static func weights(sigma: Double, _ precision: Precision) -> [Double] {
        let radius = Int((sigma * (precision == .bytes ? 4 : 5)).rounded(.up))
        let raw = (0...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = raw[0] + 2 * raw.dropFirst().reduce(0, +)
        return raw.map { $0 / sum }
    }
}

/// The Gaussian as a sum of cosines within a window of P = 2·radius + 1 pixels, and 0 outside. At the distance k:
///
///     (1 + Σ weights[m − 1]·cos(2πmk / P)) / P
///
/// Copies of the Gaussian at all multiples of P have such a series as their sum, with weights of 2·exp(−(2πmσ/P)²/2)
/// (Poisson's summation formula). These decrease as fast as the Gaussian itself. The omitted parts are the Gaussian
/// beyond the window and the weights after the last one. All cosines except the constant have a sum of 0, so an even
/// colour stays unchanged.
///
/// The worst picture is black where the kernel is too small and white elsewhere. There the error of a sample is half
/// the sum of the absolute differences, along both axes: 0.14 of a step of 8 bits with `bytes`, and 0.07 of a step of
/// 16 bits with `words`.
struct CosineSeries: Equatable {
    /// How many pixels on each side have a weight.
    let radius: Int
    /// The weights of the cosines m = 1, 2, …
    let weights: [Double]

    init(sigma: Double, _ precision: GaussianKernel.Precision) {
        // With these values the two errors are about equal.
        let (count, reach) = precision == .bytes ? (4, 3.8) : (8, 5.1)
        let radius = Int((sigma * reach).rounded(.up))
        self.radius = radius
        weights = (1...count).map { term in
            let frequency = 2 * Double.pi * Double(term) / Double(2 * radius + 1)
            return 2 * exp(-frequency * frequency * sigma * sigma / 2)
        }
    }
}
