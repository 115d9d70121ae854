/// Makes the smallest ICC profile (ICC.1:2010) that a strict reader accepts: a header and one tag.
package enum ICCProfileMaker {
    /// - Parameters:
    ///   - space: `RGB ` or `GRAY`.
    ///   - padding: How many bytes that do not compress to add: as an iCCP of fewer than 92 bytes libpng
    ///     1.6.39 takes the smallest for damaged.
    package static func profile(space: String, padding: Int = 0) -> [UInt8] {
        var random = SplitMix64(seed: 1)
        return profile(
            space: space, tag: "cprt",
            data: Array("text".utf8) + [0, 0, 0, 0] + Array("CC0\0".utf8),
            after: (0..<padding).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    /// A profile with one tag.
    ///
    /// - Parameter after: what follows its data.
    package static func profile(
        space: String, tag: String, data: [UInt8], after: [UInt8] = []
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 128)
        func put(_ data: [UInt8], at offset: Int) {
            bytes.replaceSubrange(offset..<offset + data.count, with: data)
        }
        put([2, 0x40, 0, 0], at: 8)
        put(Array("mntr".utf8) + Array(space.utf8) + Array("XYZ ".utf8), at: 12)
        put(Array("acsp".utf8), at: 36)
        // The profile connection space's white, D50, as numbers of 16.16 bits.
        put([0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D], at: 68)
        bytes.append(bigEndian: 1)
        bytes += Array(tag.utf8)
        bytes.append(bigEndian: 144)
        bytes.append(bigEndian: UInt32(data.count))
        bytes += data + after
        var length: [UInt8] = []
        length.append(bigEndian: UInt32(bytes.count))
        put(length, at: 0)
        return bytes
    }

    /// The chunk that carries it.
    package static func chunk(name: String, profile: [UInt8]) -> PNGChunk {
        PNGChunk("iCCP", Array(name.utf8) + [0, 0] + Deflater.zlib(profile, .stored))
    }
}

extension ICCProfileMaker {
    /// A profile with a table of two steps for each channel, as lut8Type (ICC.1:2022, 10.11).
    ///
    /// - Parameters:
    ///   - space: `RGB ` or `CMYK`.
    ///   - lab: L*, a* and b* of a corner, from the channels that have all their value there.
    package static func table(space: String, lab: (Set<Int>) -> [Double]) -> [UInt8] {
        let channels = space == "CMYK" ? 4 : 3
        var lut = Array("mft1".utf8) + [0, 0, 0, 0, UInt8(channels), 3, 2, 0]
        for index in 0..<9 { lut.append(bigEndian: index % 4 == 0 ? 65536 : 0) }
        let straight = (0...255).map { UInt8($0) }
        for _ in 0..<channels { lut += straight }
        for corner in 0..<1 << channels {
            // The last channel is the first to change.
            let full = Set((0..<channels).filter { corner >> (channels - 1 - $0) & 1 == 1 })
            let colour = lab(full)
            lut += [
                UInt8((colour[0] * 2.55).rounded()), UInt8((colour[1] + 128).rounded()),
                UInt8((colour[2] + 128).rounded()),
            ]
        }
        for _ in 0..<3 { lut += straight }
        while lut.count % 4 != 0 { lut.append(0) }
        var bytes = profile(space: space, tag: "A2B0", data: lut)
        bytes.replaceSubrange(12..<16, with: Array((channels == 4 ? "prtr" : "mntr").utf8))
        bytes.replaceSubrange(20..<24, with: Array("Lab ".utf8))
        return bytes
    }

    /// Inks whose colours are not those of any printer: cyan is red, magenta green, and yellow blue.
    package static let strangeInks = table(space: "CMYK") { inks in
        if inks.contains(3) { return [0, 0, 0] }
        switch inks {
        case [0]: return [53.2, 80, 67]
        case [1]: return [87.7, -86, 83]
        case [2]: return [32.3, 79, -108]
        case []: return [100, 0, 0]
        default: return [20, 0, 0]
        }
    }

    /// RGB whose channels have changed their places: the first is blue, the second red, and the third green.
    package static let strangeRGB = table(space: "RGB ") { channels in
        switch channels {
        case []: [0, 0, 0]
        case [0]: [32.3, 79, -108]
        case [1]: [53.2, 80, 67]
        case [2]: [87.7, -86, 83]
        case [0, 1]: [60.3, 98, -61]
        case [0, 2]: [91.1, -48, -14]
        case [1, 2]: [97.1, -22, 94]
        default: [100, 0, 0]
        }
    }
}
