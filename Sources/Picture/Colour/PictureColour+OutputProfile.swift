import Foundation

extension PictureColour {
    /// The least that makes every program show values of this space right, and the physical size.
    ///
    /// For sRGB that is the chunk sRGB of a PNG; other formats say nothing, which means sRGB. For Display P3 it is a
    /// profile of a few hundred bytes; a format that has numbers for spaces gets these. Gray has sRGB's curve in both.
    func stating(_ profile: OutputProfile, isGray: Bool) -> PictureColour {
        var stated = PictureColour()
        stated.density = density
        switch profile {
        case .keep: return self
        case .srgb: stated.renderingIntent = 1
        case .p3:
            if isGray {
                stated.renderingIntent = 1
            } else {
                stated.profile = .displayP3
                stated.codePoints = [12, 13, 0, 1]
            }
        }
        return stated
    }

    /// What the RGB of a picture in CMYK is. sRGB goes without saying, as for other pictures without a profile; what Exif
    /// says is about the inks.
    func stating(ofInks profile: OutputProfile) -> PictureColour {
        if profile == .p3 { return stating(.p3, isGray: false) }
        var stated = self
        stated.implied = .sRGB
        return stated
    }
}

extension PictureColour.Profile {
    /// Display P3 as a profile of version 4 (ICC.1:2022): a matrix, and one curve for all channels.
    static let displayP3 = PictureColour.Profile(bytes: ProfileMaker.displayP3)
}

/// Makes a profile of a space with a matrix and sRGB's curve.
private enum ProfileMaker {
    static var displayP3: [UInt8] {
        let space = RGBSpace.displayP3
        func column(_ index: Int) -> [UInt8] { xyz(space.matrix.rows.map { $0[index] }) }
        // sRGB's curve: a function of kind 3 (10.18).
        let curve =
            name("para") + [0, 0, 0, 0, 0, 3, 0, 0]
            + [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045].flatMap(fixed)
        let d65 = [0.95047, 1, 1.08883]
        let adaptation = RGBSpace.adaptation(from: d65)?.rows.flatMap { $0 } ?? []
        return profile([
            ("desc", text("Display P3")), ("cprt", text("CC0")),
            ("wtpt", xyz([0.9642, 1, 0.8249])),
            ("chad", name("sf32") + [0, 0, 0, 0] + adaptation.flatMap(fixed)),
            ("rXYZ", column(0)), ("gXYZ", column(1)), ("bXYZ", column(2)),
            ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
        ])
    }

    private static func name(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func number(_ value: Int, _ bytes: Int = 4) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func fixed(_ value: Double) -> [UInt8] {
        number(Int((value * 65536).rounded()))
    }

    private static func xyz(_ values: [Double]) -> [UInt8] {
        name("XYZ ") + [0, 0, 0, 0] + values.flatMap(fixed)
    }

    /// multiLocalizedUnicodeType with one text.
    private static func text(_ text: String) -> [UInt8] {
        name("mluc") + [0, 0, 0, 0] + number(1) + number(12) + name("enUS")
            + number(2 * text.utf16.count) + number(28) + text.utf16.flatMap { number(Int($0), 2) }
    }

    /// The header (7.2), the table of tags, and their data, each once, at multiples of four.
    private static func profile(_ tags: [(name: String, data: [UInt8])]) -> [UInt8] {
        var table = number(tags.count)
        var data: [UInt8] = []
        var places: [[UInt8]: Int] = [:]
        let first = 128 + 4 + 12 * tags.count
        for tag in tags {
            let place = places[tag.data] ?? first + data.count
            if places[tag.data] == nil {
                places[tag.data] = place
                data += tag.data
                data += [UInt8](repeating: 0, count: (4 - data.count % 4) % 4)
            }
            table += name(tag.name) + number(place) + number(tag.data.count)
        }
        var header = number(first + data.count) + number(0) + [4, 0x20, 0, 0]
        header += name("mntrRGB XYZ ")
        // The date of the first version of Display P3's profile.
        header += [2017, 7, 7, 13, 22, 32].flatMap { number($0, 2) }
        header += name("acsp") + [UInt8](repeating: 0, count: 24) + number(1)
        header += [0.9642, 1, 0.8249].flatMap(fixed)
        header += [UInt8](repeating: 0, count: 128 - header.count)
        return header + table + data
    }
}
