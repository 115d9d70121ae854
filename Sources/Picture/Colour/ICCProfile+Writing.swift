/// Writes colour profiles (ICC.1:2022). `ICCProfile.swift` reads them.
extension ICCProfile {
    /// The bytes of a profile for Display P3: a matrix, and sRGB's curve for all channels.
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
            ("wtpt", xyz(white)),
            ("chad", name("sf32") + [0, 0, 0, 0] + adaptation.flatMap(fixed)),
            ("rXYZ", column(0)), ("gXYZ", column(1)), ("bXYZ", column(2)),
            ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
        ])
    }

    private static func name(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func number(_ value: Int, _ bytes: Int = 4) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func fixed(_ value: Double) -> [UInt8] { number(Int((value * 65536).rounded())) }

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
        header += white.flatMap(fixed)
        header += [UInt8](repeating: 0, count: 128 - header.count)
        return header + table + data
    }
}
