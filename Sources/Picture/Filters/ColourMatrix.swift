import Glibc

/// A linear map of gamma-encoded RGB, as the Filter Effects Module Level 1 defines colour filters.
///
/// Each row gives one channel of the result; its three numbers weigh the red, green and blue of the
/// input. Results are clamped and rounded, a tie going up.
struct ColourMatrix: Equatable {
    /// The nine coefficients, row by row.
    let coefficients: [Double]

    /// - Parameters:
    ///   - terms: matrices to add to `constant`, each times its factor.
    private init(_ constant: [Double], plus terms: [(factor: Double, matrix: [Double])]) {
        coefficients = constant.indices.map { index in
            terms.reduce(constant[index]) { $0 + $1.factor * $1.matrix[index] }
        }
    }

    /// Sepia; `amount` 0 is no change, 1 the full tone. The coefficients of the specification.
    static func sepia(_ amount: Double) -> ColourMatrix {
        ColourMatrix(
            [0.393, 0.769, 0.189, 0.349, 0.686, 0.168, 0.272, 0.534, 0.131],
            plus: [
                (1 - amount, [0.607, -0.769, -0.189, -0.349, 0.314, -0.168, -0.272, -0.534, 0.869])
            ])
    }

    /// Grayscale; `amount` 0 is no change, 1 luminance by Rec. 709's weights.
    static func grayscale(_ amount: Double) -> ColourMatrix {
        ColourMatrix(
            [0.2126, 0.7152, 0.0722, 0.2126, 0.7152, 0.0722, 0.2126, 0.7152, 0.0722],
            plus: [
                (
                    1 - amount,
                    [0.7874, -0.7152, -0.0722, -0.2126, 0.2848, -0.0722, -0.2126, -0.7152, 0.9278]
                )
            ])
    }

    /// Saturation; `amount` 0 is gray, 1 no change, more is stronger colour.
    static func saturate(_ amount: Double) -> ColourMatrix {
        ColourMatrix(roundedLuminance, plus: [(amount, chroma)])
    }

    /// Turns hues by `degrees`.
    static func hueRotate(_ degrees: Double) -> ColourMatrix {
        // Brought near 0 first, so that a full turn is no change exactly.
        let radians = remainder(degrees, 360) * .pi / 180
        return ColourMatrix(
            roundedLuminance,
            plus: [
                (cos(radians), chroma),
                (
                    sin(radians),
                    [-0.213, -0.715, 0.928, 0.143, 0.140, -0.283, -0.787, 0.715, 0.072]
                ),
            ])
    }

    /// The luminance that saturate and hueRotate keep, three digits in the specification.
    private static let roundedLuminance = [
        0.213, 0.715, 0.072, 0.213, 0.715, 0.072, 0.213, 0.715, 0.072,
    ]
    /// What lies beside that luminance: the identity less `roundedLuminance`.
    private static let chroma = [
        0.787, -0.715, -0.072, -0.213, 0.285, -0.072, -0.213, -0.715, 0.928,
    ]

    /// What each channel becomes of gray: the sums of the rows.
    var grayFactors: [Double] {
        [0, 3, 6].map { row in coefficients[row..<row + 3].reduce(0, +) }
    }
}
