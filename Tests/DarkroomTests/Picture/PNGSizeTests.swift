import TestPictures
import Testing

@testable import DarkroomPicture

/// What is no photograph does not become much larger than zlib makes it.
struct PNGSizeTests {
    /// RGB of 8 bits, drawn pixel by pixel.
    struct Content: Sendable, CustomTestStringConvertible {
        let name: String
        let width: Int
        let height: Int
        /// What libpng 1.6.39 makes of it with zlib 1.2.13 at level 6: with all row filters or with
        /// none, whichever is smaller.
        let peerBytes: Int
        let colour: @Sendable (_ x: Int, _ y: Int) -> UInt32

        var testDescription: String { name }

        var picture: ReferencePicture {
            ReferencePicture(width, height, channels: 3) { x, y, channel in
                UInt16(colour(x, y) >> UInt32(16 - 8 * channel) & 255)
            }
        }
    }

    /// A shade in all channels, darker from red to blue.
    private static func shade(_ light: Int) -> UInt32 {
        UInt32(light) << 16 | UInt32(light * 3 / 4) << 8 | UInt32(light / 2)
    }

    /// Noise that is the same wherever it is asked for.
    private static func noise(_ x: Int, _ y: Int) -> UInt32 {
        var word = UInt32(truncatingIfNeeded: x &* 0x9e3779b1 ^ y &* 0x85ebca77)
        word = (word ^ word >> 15) &* 0x2c1b3c6d
        word = (word ^ word >> 12) &* 0x297a2d39
        return (word ^ word >> 15) & 0xffffff
    }

    static let contents: [Content] = [
        Content(name: "flat", width: 700, height: 500, peerBytes: 2152) { _, _ in 0x4d8030 },
        Content(name: "slope across", width: 700, height: 500, peerBytes: 2182) { x, _ in
            shade(x * 255 / 700)
        },
        Content(name: "slope down", width: 700, height: 500, peerBytes: 2319) { _, y in
            shade(y * 255 / 500)
        },
        Content(name: "slope aslant", width: 700, height: 500, peerBytes: 14_739) { x, y in
            shade((x * 100 / 7 + y * 26) * 255 / 23_100)
        },
        Content(name: "bowl", width: 700, height: 500, peerBytes: 41_714) { x, y in
            shade(((x - 350) * (x - 350) + (y - 250) * (y - 250)) / 800)
        },
        Content(name: "saddle", width: 700, height: 500, peerBytes: 20_101) { x, y in
            shade(x * y / 1400 % 256)
        },
        Content(name: "fan", width: 700, height: 500, peerBytes: 22_223) { x, y in
            shade(x * 200 / (y + 560))
        },
        Content(name: "ordered dither", width: 700, height: 500, peerBytes: 44_252) { x, y in
            shade((x * 16 * 255 / 700 + (x * 5 + y * 11) % 16) / 16)
        },
        Content(name: "squares", width: 700, height: 500, peerBytes: 2973) { x, y in
            (x / 8 + y / 8) % 2 == 0 ? 0xffffff : 0x204080
        },
        Content(name: "hatching", width: 700, height: 500, peerBytes: 3890) { x, y in
            (x + y) % 9 < 3 ? 0x0000a0 : 0xffffff
        },
        Content(name: "rings", width: 700, height: 500, peerBytes: 37_384) { x, y in
            ((x - 350) * (x - 350) + (y - 250) * (y - 250)) / 1500 % 2 == 0 ? 0xf0f0f0 : 0x802010
        },
        Content(name: "boxes", width: 700, height: 500, peerBytes: 4254) { x, y in
            noise(x / 37, y / 23) | 0x030303
        },
        Content(name: "few colours", width: 700, height: 500, peerBytes: 74_031) { x, y in
            noise(x, y) % 10 == 0 ? 0x102030 : noise(x / 40, y / 25) & 0xc0c0c0
        },
        Content(name: "tiles 16 × 16 of noise", width: 700, height: 500, peerBytes: 6025) { x, y in
            noise(x % 16, y % 16)
        },
        Content(name: "tiles 61 × 47 of noise", width: 700, height: 700, peerBytes: 139_232) {
            x, y in
            noise(x % 61, y % 47)
        },
        // As many rows as the window has, and one: only the right ends of those above are within reach.
        Content(name: "tiles 100 × 7, wide", width: 1600, height: 700, peerBytes: 18_571) { x, y in
            noise(x % 100, y % 7) & 0x0f0f0f
        },
        Content(name: "tiles of smooth shades", width: 700, height: 500, peerBytes: 7381) { x, y in
            shade(x % 50 * 3 + y % 90)
        },
        Content(name: "letters", width: 700, height: 500, peerBytes: 48_499) { x, y in
            let letter = Int(noise(x / 9, y / 14) % 30)
            let isInk = noise(letter * 9 + x % 9, y % 14) % 4 == 0
            return isInk && x % 9 != 0 && y % 14 > 3 ? 0x302020 : 0xffffff
        },
    ]

    @Test(arguments: contents, [PNGWriter.Compression.fast, .balanced])
    func isAtMostAFifthLarger(content: Content, compression: PNGWriter.Compression) throws {
        let file = try StripEncoderTests.write(content.picture, compression)
        #expect(file.count * 5 <= content.peerBytes * 6, "\(file.count)")
    }
}
