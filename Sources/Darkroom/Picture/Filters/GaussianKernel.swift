import Glibc

/// How a Gaussian blur of a standard deviation σ is computed.
enum GaussianKernel: Equatable {
    /// A convolution with weights[0] at the centre and weights[k] at the distance k to both sides.
    case direct(weights: [Float])
    /// Three box filters one after the other, of widths whose sum is odd.
    case boxes([Int])

    /// Up to this σ the blur is a convolution with the Gaussian itself; its cost grows with σ. Above, it
    /// is three box filters, whose cost does not. At an edge between black and white they are off the
    /// Gaussian by at most 1.2 % of full scale.
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
    /// widths must be odd, or the blur would shift the picture by half a pixel. From one odd sum of
    /// nearly equal widths to the next, Σw² grows by some 8σ; widths that differ by up to 2√σ from
    /// their mean fill the gap. The effective σ is then off by less than 0.01 pixels at σ > 16.
    static func boxWidths(sigma: Double) -> [Int] {
        let target = 12 * sigma * sigma + 3
        let mean = (target / 3).squareRoot()
        let reach = 2 * sigma.squareRoot() + 2
        let near = max(1, Int(mean - reach))...Int(mean + reach)
        var best: (miss: Double, spread: Int, widths: [Int])?
        for a in near {
            for b in a...near.upperBound {
                let rest = target - Double(a * a + b * b)
                let c = Int(max(rest, 0).squareRoot())
                for c in [c - 1, c, c + 1] where c >= b && (a + b + c) % 2 == 1 {
                    let miss = abs(Double(c * c) - rest)
                    if let best, (best.miss, best.spread) <= (miss, c - a) { continue }
                    best = (miss, c - a, [a, b, c])
                }
            }
        }
        guard let best else { preconditionFailure("no widths around \(mean)") }
        return best.widths
    }
}
