import CDarkroomPixels
import Foundation

/// A colour space of RGB with a curve for each channel and a matrix.
struct RGBSpace: Sendable, Equatable {
    /// The light of values at equal distances, for red, green and blue.
    let curves: [[Double]]
    /// From light to XYZ of D50, by rows.
    let matrix: Matrix3

    static let sRGB = RGBSpace(
        sRGBCurve, primaries: [0.64, 0.33, 0.30, 0.60, 0.15, 0.06], white: d65)
    static let displayP3 = RGBSpace(
        sRGBCurve, primaries: [0.680, 0.320, 0.265, 0.690, 0.150, 0.060], white: d65)
    /// Adobe RGB (1998): its gamma is 2 + 51/256.
    static let adobe = RGBSpace(
        curve { pow($0, 563.0 / 256) }, primaries: [0.64, 0.33, 0.21, 0.71, 0.15, 0.06], white: d65)

    static let d65 = [0.3127, 0.3290]
    private static let sRGBCurve = curve(light(of:))

    static func curve(_ light: (Double) -> Double) -> [Double] {
        (0..<ICCProfile.samples).map { light(Double($0) / Double(ICCProfile.samples - 1)) }
    }

    init(curves: [[Double]], matrix: Matrix3) {
        self.curves = curves
        self.matrix = matrix
    }

    init?(_ profile: ICCProfile) {
        guard let matrix = profile.matrix else { return nil }
        curves = profile.curves
        self.matrix = matrix
    }

    /// - Parameters:
    ///   - primaries: x and y of red, green and blue.
    ///   - white: x and y.
    private init(_ curve: [Double], primaries: [Double], white: [Double]) {
        guard let made = RGBSpace(curve: curve, primaries: primaries, white: white) else {
            preconditionFailure("the primaries of a known space")
        }
        self = made
    }

    /// nil if the primaries span no colours.
    init?(curve: [Double], primaries: [Double], white: [Double]) {
        func xyz(_ x: Double, _ y: Double) -> [Double] { [x / y, 1, (1 - x - y) / y] }
        let columns = (0..<3).map { xyz(primaries[2 * $0], primaries[2 * $0 + 1]) }
        let light = Matrix3(rows: (0..<3).map { row in columns.map { $0[row] } })
        let point = xyz(white[0], white[1])
        guard let inverse = light.inverse, let adapted = Self.adaptation(from: point) else {
            return nil
        }
        matrix = adapted * light * .diagonal(inverse * point)
        guard matrix.inverse != nil else { return nil }
        curves = [curve, curve, curve]
    }

    /// Whether it has all colours, and the largest values are about as bright as white.
    var makesSense: Bool {
        matrix.inverse != nil && (0.5...2).contains(matrix.rows[1].reduce(0, +))
    }

    /// From XYZ of this white to that of D50, as ICC.1 recommends: with the cone responses of Bradford (annex E.3).
    static func adaptation(from white: [Double]) -> Matrix3? {
        let bradford = Matrix3(rows: [
            [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296],
        ])
        guard let back = bradford.inverse else { return nil }
        let (from, to) = (bradford * white, bradford * ICCProfile.white)
        guard from.allSatisfy({ $0 > 0 }) else { return nil }
        return back * .diagonal(zip(to, from).map { $0 / $1 }) * bradford
    }
}
