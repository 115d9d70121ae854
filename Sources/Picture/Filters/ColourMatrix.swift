import Glibc

/// A linear map of gamma-encoded RGB. The Filter Effects Module Level 1 defines colour filters in this way.
///
/// Each row gives one channel of the result. Its three numbers are the weights of the input's red, green and blue.
/// Results are clamped and rounded, with ties rounded up.
struct ColourMatrix: Equatable {
    /// The nine coefficients, row by row.
    let coefficients: [Double]

    /// - Parameters:
    ///   - terms: matrices that are added to `constant`, each multiplied by its factor.
    private init(_ constant: [Double], plus terms: [(factor: Double, matrix: [Double])]) {
        coefficients = constant.indices.map { index in
            terms.reduce(constant[index]) { $0 + $1.factor * $1.matrix[index] }
        }
    }

    /// Sepia. `amount` 0 changes nothing, 1 gives the full tone. The coefficients are from the specification.
    static func sepia(_ amount: Double) -> ColourMatrix {
        ColourMatrix(
            [0.393, 0.769, 0.189, 0.349, 0.686, 0.168, 0.272, 0.534, 0.131],
            plus: [
                (1 - amount, [0.607, -0.769, -0.189, -0.349, 0.314, -0.168, -0.272, -0.534, 0.869])
            ])
    }

    /// Grayscale. `amount` 0 changes nothing, 1 gives the luminance with the weights of Rec. 709.
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

    /// Saturation. `amount` 0 gives gray, 1 changes nothing, more gives stronger colour.
    static func saturate(_ amount: Double) -> ColourMatrix {
        ColourMatrix(roundedLuminance, plus: [(amount, chroma)])
    }

    /// Rotates hues by `degrees`.
    static func hueRotate(_ degrees: Double) -> ColourMatrix {
        // Reduced to a value near 0 first, so that a full rotation changes nothing at all.
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

    /// The luminance that saturate and hueRotate preserve. The specification has three digits.
    private static let roundedLuminance = [
        0.213, 0.715, 0.072, 0.213, 0.715, 0.072, 0.213, 0.715, 0.072,
    ]
    /// The rest beside that luminance: the identity minus `roundedLuminance`.
    private static let chroma = [
        0.787, -0.715, -0.072, -0.213, 0.285, -0.072, -0.213, -0.715, 0.928,
    ]

    /// The factor for gray in each channel: the sums of the rows.
    var grayFactors: [Double] { [0, 3, 6].map { row in coefficients[row..<row + 3].reduce(0, +) } }
}
