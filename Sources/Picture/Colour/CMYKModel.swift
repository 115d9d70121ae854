import Foundation

/// What CMYK without a profile looks like: offset printing on coated paper by ISO 12647-2, the condition that most files
/// in CMYK are made for.
///
/// The model is Neugebauer's: a screened area consists of paper and of all overprints of its inks, each with the share
/// that Demichel's equations give for the inks' shares, and the light of all adds up. The colours of paper and overprints
/// are those of ISO 12647-2:2004/Amd 1:2007 (paper type 1). Where black is printed over other inks, each takes its part
/// of the light. Dots are larger on paper than in the file: by 14 % of the area at half of it, black's by 17 %.
///
/// White paper becomes white, and the darkest overprint black (relative colorimetric, with compensation of the black
/// point). The model has no file: this type makes its table.
enum CMYKModel {
    /// The steps for each ink, as lcms2 has in tables of its own.
    static let steps = 17
    /// The numbers in a table.
    static let count = steps * steps * steps * steps * 3

    /// The tables for sRGB and Display P3, see `darkroom_convert_table`.
    static let sRGB = table(for: .sRGB)
    static let displayP3 = table(for: .displayP3)

    /// L*, a*, b* of paper, cyan, magenta, cyan with magenta, and then the same with yellow.
    private static let solids: [[Double]] = [
        [95, 0, -2], [55, -37, -50], [48, 74, -3], [24, 17, -46],
        [89, -5, 93], [50, -65, 27], [47, 68, 48], [23, 0, 0],
    ]
    private static let black: [Double] = [16, 0, 0]

    /// XYZ of D50, from the darkest at 0 to paper at its white: the overprints without black, then those with it.
    private static let overprints: [[Double]] = {
        let paper = xyz(ofLab: solids[0])
        let inks = solids.map { zip(xyz(ofLab: $0), paper).map(/) }
        let darkened = zip(xyz(ofLab: black), paper).map(/)
        let all = inks + inks.map { zip($0, darkened).map(*) }
        let darkest = all[15]
        return all.map { light in
            zip(zip(light, darkest), white).map { ($0.0 - $0.1) / (1 - $0.1) * $1 }
        }
    }()

    private static let white = ICCProfile.white

    /// CIE 15, with the white of D50.
    private static func xyz(ofLab lab: [Double]) -> [Double] {
        let y = (lab[0] + 16) / 116
        return zip([y + lab[1] / 500, y, y - lab[2] / 200], white).map { root, white in
            white * (root > 6.0 / 29 ? root * root * root : (root - 4.0 / 29) * 108 / 841)
        }
    }

    /// The share of the area that is covered with ink, at each step. The gain is a parabola.
    private static func areas(gain: Double) -> [Double] {
        (0..<steps).map { step in
            let share = Double(step) / Double(steps - 1)
            return share + 4 * gain * share * (1 - share)
        }
    }

    private static func table(for space: RGBSpace) -> [UInt16] {
        guard let light = space.matrix.inverse else {
            preconditionFailure("the matrix of a known space")
        }
        // The light of each overprint, in the space.
        let overprints = overprints.map { light * $0 }
        let (areas, blackAreas) = (areas(gain: 0.14), areas(gain: 0.17))
        var table: [UInt16] = []
        table.reserveCapacity(count)
        // Each ink halves the number of overprints that are left.
        for cyan in areas {
            let withCyan = mixed(overprints, cyan)
            for magenta in areas {
                let withMagenta = mixed(withCyan, magenta)
                for yellow in areas {
                    let withYellow = mixed(withMagenta, yellow)
                    let (bare, inked) = (withYellow[0], withYellow[1])
                    for black in blackAreas {
                        for channel in 0..<3 {
                            let value = bare[channel] * (1 - black) + inked[channel] * black
                            let level = RGBSpace.encoded(min(1, max(0, value)))
                            table.append(UInt16((level * 65535).rounded()))
                        }
                    }
                }
            }
        }
        return table
    }

    /// The neighbours in pairs, without the ink and with it.
    private static func mixed(_ colours: [[Double]], _ share: Double) -> [[Double]] {
        (0..<colours.count / 2).map { pair in
            let (bare, inked) = (colours[2 * pair], colours[2 * pair + 1])
            return bare.indices.map { bare[$0] * (1 - share) + inked[$0] * share }
        }
    }
}
