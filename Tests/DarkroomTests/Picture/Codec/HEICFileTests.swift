import Foundation
import TestSupport
import Testing

@testable import DarkroomPicture

/// HEIC files as phones write them. Debian has no encoder for them, so Tests/Codecs/heic has files of libheif 1.23 with
/// x265, and grids of its tiles in a container made by hand.
struct HEICFileTests {
    struct File: CustomTestStringConvertible, Sendable {
        let name: String
        let size: (width: Int, height: Int)
        var channels = 3
        var depth = 8
        /// Where a pixel of the result comes from in the picture as it is stored.
        var origin: @Sendable (_ x: Int, _ y: Int) -> (x: Int, y: Int) = { ($0, $1) }
        /// Of the picture as it is stored.
        var stored: (width: Int, height: Int)?

        var testDescription: String { name }
    }

    static let files = [
        File(name: "plain", size: (64, 48)),
        File(name: "odd", size: (33, 17)),
        File(name: "with-alpha", size: (64, 48), channels: 4),
        File(name: "ten-bits", size: (64, 48), depth: 16),
        // Four tiles, of which the right and lower ones are cut off.
        File(name: "grid", size: (100, 90)),
        // As a phone that was held upright: the container turns it, Exif says the same again, and there is a small copy.
        File(
            name: "grid-turned", size: (90, 100), origin: { x, y in (y, 89 - x) },
            stored: (100, 90)),
        File(name: "grid-mirrored", size: (100, 90), origin: { x, y in (99 - x, y) }),
        File(
            name: "grid-turned-mirrored", size: (90, 100), origin: { x, y in (y, x) },
            stored: (100, 90)),
        File(
            name: "grid-cropped", size: (80, 60), origin: { x, y in (x + 5, y + 18) },
            stored: (100, 90)),
    ]

    @Test(arguments: files) func isReadUpright(_ file: File) throws {
        let place = Repository.root.appending(path: "Tests/Codecs/heic/\(file.name).heic")
        let bytes = try [UInt8](Data(contentsOf: place))
        #expect(InputFormat(prefix: bytes.prefix(InputFormat.prefixLength)) == .heic)
        let reader = try CodecReaderTests.reader(of: .content(bytes), .heic)
        let layout = PixelLayout(
            width: file.size.width, height: file.size.height, channels: file.channels,
            depth: file.depth)
        #expect(reader.layout == layout)
        #expect(reader.orientation == .topLeft)
        #expect(reader.warnings == [])
        let samples = Self.samples(try reader.allBytes(), depth: file.depth)
        let stored = file.stored ?? file.size
        var largest = 0
        for y in stride(from: 1, to: layout.height, by: 3) {
            for x in stride(from: 1, to: layout.width, by: 3) {
                let from = file.origin(x, y)
                // A reader may spread the colours of 4:2:0 across this edge.
                let isAtEdge =
                    abs(from.x - stored.width / 2) < 3 || abs(from.y - stored.height / 2) < 3
                let expected = Self.pixel(from.x, from.y, of: stored)
                let place = (y * layout.width + x) * file.channels
                let isAtDiagonal = abs(from.x + from.y - (stored.width + stored.height) / 2) < 5
                for channel in 0..<file.channels
                where !(channel == 3 ? isAtDiagonal : isAtEdge) {
                    largest = max(largest, abs(samples[place + channel] - expected[channel]))
                }
            }
        }
        #expect(largest <= 8)
    }

    /// libde265 fills in what it cannot read, and only warns: that is damage all the same.
    @Test(arguments: ["plain", "odd", "grid"]) func damageIsNotConcealed(_ name: String) throws {
        let place = Repository.root.appending(path: "Tests/Codecs/heic/\(name).heic")
        var bytes = try [UInt8](Data(contentsOf: place))
        // The samples are at the end.
        for index in bytes.count - 60..<bytes.count - 20 { bytes[index] ^= 0x55 }
        expectFailure(.pictureDamaged, "libde265: ") {
            try CodecReaderTests.reader(of: .content(bytes), .heic).allBytes()
        }
    }

    /// The picture of all files: red grows to the right, green downwards, a quarter is blue; alpha halves below the
    /// diagonal.
    private static func pixel(_ x: Int, _ y: Int, of size: (width: Int, height: Int)) -> [Int] {
        [
            x * 255 / (size.width - 1), y * 255 / (size.height - 1),
            x < size.width / 2 && y < size.height / 2 ? 255 : 63,
            x + y < (size.width + size.height) / 2 ? 255 : 127,
        ]
    }

    /// In steps of 8 bits.
    private static func samples(_ bytes: [UInt8], depth: Int) -> [Int] {
        guard depth == 16 else { return bytes.map(Int.init) }
        return bytes.withUnsafeBytes { $0.bindMemory(to: UInt16.self).map { Int($0) / 257 } }
    }
}
