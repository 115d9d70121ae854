import Glibc

/// How a Gaussian blur of a standard deviation σ is computed.
enum GaussianKernel: Equatable {
    /// A convolution with weights[0] at the centre and weights[k] at the distance k to both sides.
    case direct(weights: [Float])
    /// Three box filters one after the other, of widths whose sum is odd.
    case boxes([Int])

    /// Up to this σ the blur is a convolution with the Gaussian itself; its cost grows with σ. Above, it
    /// is three box filters, whose cost does not.
    static let largestDirectSigma = 16.0

    init(sigma: Double, depth: Int) {
        self =
            sigma <= Self.largestDirectSigma
            ? .direct(weights: Self.weights(sigma: sigma, depth: depth).map { Float($0) })
            : .boxes(Self.boxWidths(sigma: sigma))
    }

    /// How many pixels to each side count.
    var radius: Int {
        switch self {
        case .direct(let weights): weights.count - 1
        case .boxes(let widths): (widths.reduce(0, +) - 3) / 2
        }
    }

    /// The Gaussian at whole pixels, brought to a sum of 1.
    ///
    /// It is cut off at 4σ for 8 bits and at 5σ for 16. What lies beyond, along both axes, weighs
    /// 1.3·10⁻⁴ and 1.2·10⁻⁶: 0.03 of a step of 8 bits and 0.08 of a step of 16.
    static func weights(sigma: Double, depth: Int) -> [Double] {
        let radius = Int((sigma * (depth == 8 ? 4 : 5)).rounded(.up))
        let raw = (0...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = raw[0] + 2 * raw.dropFirst().reduce(0, +)
        return raw.map { $0 / sum }
    }

    /// Three widths whose box filters together have the variance σ² as nearly as whole numbers can.
    ///
    /// A box of width w has the variance (w² − 1) / 12, so Σw² should be 12σ² + 3. The sum of the
    /// widths must be odd, or the blur would shift the picture by half a pixel. Of widths around the
    /// mean the sum of squares that comes nearest is taken, and of several the one with the widths
    /// closest together. At σ > 16 the effective σ is then off by less than 0.02 pixels.
    static func boxWidths(sigma: Double) -> [Int] {
        let target = 12 * sigma * sigma + 3
        let middle = Int((target / 3).squareRoot())
        let near = max(1, middle - 3)...middle + 4
        var best: (miss: Double, spread: Int, widths: [Int])?
        for a in near {
            for b in near where b >= a {
                for c in near where c >= b && (a + b + c) % 2 == 1 {
                    let miss = abs(Double(a * a + b * b + c * c) - target)
                    if let best, (best.miss, best.spread) <= (miss, c - a) { continue }
                    best = (miss, c - a, [a, b, c])
                }
            }
        }
        guard let best else { preconditionFailure("no widths around \(middle)") }
        return best.widths
    }
}
