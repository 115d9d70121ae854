/// Makes the smallest ICC profile (ICC.1:2010) that a strict reader accepts: a header and one tag.
package enum ICCProfileMaker {
    /// - Parameters:
    ///   - space: `RGB ` or `GRAY`.
    ///   - padding: How many bytes that do not compress to add: as an iCCP of fewer than 92 bytes libpng
    ///     1.6.39 takes the smallest for damaged.
    package static func profile(space: String, padding: Int = 0) -> [UInt8] {
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
        bytes += Array("cprt".utf8)
        bytes.append(bigEndian: 144)
        bytes.append(bigEndian: 12)
        bytes += Array("text".utf8) + [0, 0, 0, 0] + Array("CC0\0".utf8)
        var random = SplitMix64(seed: 1)
        for _ in 0..<padding { bytes.append(UInt8.random(in: 0...255, using: &random)) }
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
