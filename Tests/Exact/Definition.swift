import DarkroomPicture
import Glibc

/// A colour filter as the Filter Effects Module defines it, worked out anew in numbers that are exact.
///
/// Amounts are tenths and the specification's coefficients are decimals, so each result is a fraction
/// with a fixed denominator, and whole numbers tell its ties without any error. Only hueRotate by
/// other than right angles has irrational coefficients: those are doubles.
struct Definition: Sendable {
    let name: String
    let filter: Filter
    private let rule: Rule

    private enum Rule {
        /// Each channel of the result is (r·R + g·G + b·B + offset·max) / denominator.
        case fraction(rows: [Row<Int>], denominator: Int)
        case real(rows: [Row<Double>])
    }

    private struct Row<Number: Sendable>: Sendable {
        var r: Number
        var g: Number
        var b: Number
        var offset: Number
    }

    /// The sample of channel `channel` of the result, rounded to the nearest, ties going up, and clamped.
    @inline(__always)
    func sample(_ channel: Int, _ r: Int, _ g: Int, _ b: Int, max: Int) -> Int {
        switch rule {
        case .fraction(let rows, let denominator):
            let row = rows[channel]
            let n = row.r * r + row.g * g + row.b * b + row.offset * max
            return n <= 0 ? 0 : Swift.min(max, (2 * n + denominator) / (2 * denominator))
        case .real(let rows):
            let row = rows[channel]
            let x = row.r * Double(r) + row.g * Double(g) + row.b * Double(b)
            // What lies less than 2^-20 below a tie counts as the tie.
            return Int(Swift.min(Swift.max((x + 0.5 + 0x1p-20).rounded(.down), 0), Double(max)))
        }
    }

    private init(_ name: String, _ filter: Filter, _ rule: Rule) {
        self.name = name
        self.filter = filter
        self.rule = rule
    }
}

extension Definition {
    static let all: [Definition] =
        [1, 5, 8, 10].map(sepia) + [3, 10].map(grayscale) + [0, 5, 13, 30].map(saturate)
        + [quarterTurn, hueRotate(30), hueRotate(217.5)] + [3, 10].map(invert)
        + [4, 17].map(brightness) + [4, 14].map(contrast) + [mono]

    private static func fraction(_ numerators: [[Int]], _ denominator: Int) -> Rule {
        .fraction(
            rows: numerators.map {
                Row(r: $0[0], g: $0[1], b: $0[2], offset: $0.count > 3 ? $0[3] : 0)
            }, denominator: denominator)
    }

    /// Each coefficient is (constant + slope · tenths / 10) / unit.
    private static func linear(
        _ constant: [[Int]], _ slope: [[Int]], tenths: Int, unit: Int
    ) -> Rule {
        fraction(
            zip(constant, slope).map { zip($0, $1).map { 10 * $0 + tenths * $1 } }, 10 * unit)
    }

    private static func sepia(_ tenths: Int) -> Definition {
        Definition(
            "sepia \(tenths)/10", .sepia(intensity: Double(tenths) / 10),
            linear(
                [[393, 769, 189], [349, 686, 168], [272, 534, 131]],
                [[607, -769, -189], [-349, 314, -168], [-272, -534, 869]], tenths: 10 - tenths,
                unit: 1000))
    }

    private static func grayscale(_ tenths: Int) -> Definition {
        Definition(
            "grayscale \(tenths)/10", .grayscale(amount: Double(tenths) / 10),
            linear(
                [[2126, 7152, 722], [2126, 7152, 722], [2126, 7152, 722]],
                [[7874, -7152, -722], [-2126, 2848, -722], [-2126, -7152, 9278]],
                tenths: 10 - tenths, unit: 10_000))
    }

    private static func saturate(_ tenths: Int) -> Definition {
        Definition(
            "saturate \(tenths)/10", .saturate(amount: Double(tenths) / 10),
            linear(
                [[213, 715, 72], [213, 715, 72], [213, 715, 72]],
                [[787, -715, -72], [-213, 285, -72], [-213, -715, 928]], tenths: tenths,
                unit: 1000))
    }

    /// A turn by 90°: the cosine is 0, the sine 1.
    private static var quarterTurn: Definition {
        Definition(
            "hueRotate 90", .hueRotate(angle: 90),
            fraction([[0, 0, 1000], [356, 855, -211], [-574, 1430, 144]], 1000))
    }

    private static func hueRotate(_ degrees: Double) -> Definition {
        let (c, s) = (cos(degrees / 180 * .pi), sin(degrees / 180 * .pi))
        return Definition(
            "hueRotate \(degrees)", .hueRotate(angle: degrees),
            .real(rows: [
                Row(
                    r: 0.213 + c * 0.787 - s * 0.213, g: 0.715 - c * 0.715 - s * 0.715,
                    b: 0.072 - c * 0.072 + s * 0.928, offset: 0),
                Row(
                    r: 0.213 - c * 0.213 + s * 0.143, g: 0.715 + c * 0.285 + s * 0.140,
                    b: 0.072 - c * 0.072 - s * 0.283, offset: 0),
                Row(
                    r: 0.213 - c * 0.213 - s * 0.787, g: 0.715 - c * 0.715 + s * 0.715,
                    b: 0.072 + c * 0.928 + s * 0.072, offset: 0),
            ]))
    }

    /// One map for all channels: (scale · C + offset · max) / denominator.
    private static func map(_ scale: Int, _ offset: Int, _ denominator: Int) -> Rule {
        fraction(
            [[scale, 0, 0, offset], [0, scale, 0, offset], [0, 0, scale, offset]], denominator)
    }

    /// a + C(1 − 2a)
    private static func invert(_ tenths: Int) -> Definition {
        Definition(
            "invert \(tenths)/10", .invert(amount: Double(tenths) / 10),
            map(10 - 2 * tenths, tenths, 10))
    }

    private static func brightness(_ tenths: Int) -> Definition {
        Definition(
            "brightness \(tenths)/10", .brightness(amount: Double(tenths) / 10),
            map(tenths, 0, 10))
    }

    /// a·C + (1 − a) / 2
    private static func contrast(_ tenths: Int) -> Definition {
        Definition(
            "contrast \(tenths)/10", .contrast(amount: Double(tenths) / 10),
            map(2 * tenths, 10 - tenths, 20))
    }

    /// 0.85·Y + 0.075, with the luminance Y of Rec. 709.
    private static var mono: Definition {
        let row = [85 * 2126, 85 * 7152, 85 * 722, 75_000]
        return Definition("mono", .mono, fraction([row, row, row], 1_000_000))
    }
}
