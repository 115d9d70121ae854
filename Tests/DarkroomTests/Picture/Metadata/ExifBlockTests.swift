import TestPictures
import Testing

@testable import DarkroomPicture

struct ExifBlockTests {
    @Test(arguments: [true, false]) func writesWhatItReads(isBigEndian: Bool) throws {
        let bytes = MetadataSample.exif(isBigEndian: isBigEndian)
        let block = try #require(ExifBlock(bytes))
        #expect(block.isBigEndian == isBigEndian && block.hasThumbnail)
        #expect(block.main.count == 13 && block.exif.count == 9 && block.gps.count == 5)
        let again = try #require(ExifBlock(block.bytes))
        #expect(!again.hasThumbnail && again.exif == block.exif && again.gps == block.gps)
        #expect(ExifBlock(again.bytes)?.bytes == again.bytes)
        #expect(ExifOrientation(tiff: again.bytes) == .found(.rightTop))
    }

    @Test func changesTheOrderOfBytes() throws {
        let big = try #require(ExifBlock(MetadataSample.exif(isBigEndian: true)))
        let little = try #require(ExifBlock(MetadataSample.exif()))
        #expect(big.littleEndian.exif == little.exif && big.littleEndian.gps == little.gps)
        #expect(little.littleEndian == little)
        var block = ExifBlock(isBigEndian: true)
        let wide = Array("UNICODE\0".utf8)
        block.exif = [
            ExifBlock.Entry(tag: 0x9286, type: 7, count: 12, data: wide + [0, 0x47, 1, 2])
        ]
        #expect(block.littleEndian.exif[0].data == wide + [0x47, 0, 2, 1])
    }

    @Test func sortsAndTakesTheFirst() throws {
        var block = ExifBlock(isBigEndian: false)
        block.main = [
            MetadataSample.text(0x8298, "b"), MetadataSample.text(0x010E, "a"),
            MetadataSample.text(0x8298, "c"),
        ]
        let again = try #require(ExifBlock(block.bytes))
        #expect(again.main.map(\.tag) == [0x010E, 0x8298])
        #expect(again.main[1].data == Array("b\0".utf8))
    }

    /// A thousand values in the same bytes would be many times the structure.
    @Test func refusesValuesThatOverlap() {
        var bytes: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 0xE8, 3]
        for _ in 0..<1000 { bytes += [0x0E, 1, 2, 0, 0, 0x10, 0, 0, 8, 0, 0, 0] }
        #expect(ExifBlock(bytes + [0, 0, 0, 0]) == nil)
    }

    @Test(arguments: [true, false]) func canBeCutAnywhere(isBigEndian: Bool) {
        let bytes = MetadataSample.exif(isBigEndian: isBigEndian)
        for count in bytes.indices { check(Array(bytes[..<count])) }
    }

    @Test func canBeDamagedAnywhere() {
        var random = SplitMix64(seed: 20)
        for _ in 0..<2000 {
            var bytes = MetadataSample.exif(isBigEndian: Bool.random(using: &random))
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                    UInt8.random(in: 0...255, using: &random)
            }
            check(bytes)
        }
    }

    /// What is made of it is small, has no thumbnail and no maker note, and can be read again.
    private func check(_ bytes: [UInt8]) {
        let facts = ResultMetadata.Facts(
            width: 4, height: 3, orientation: .topLeft, isScaled: true, colour: PictureColour(),
            kind: .jpeg, packets: [.exif])
        for items in [Set<MetadataChoice.Item>([.exif]), [.copyright]] {
            let choice = MetadataChoice(items, keepsPlaces: false)
            let result = ResultMetadata(SourcePackets(exif: bytes), choice, for: facts)
            guard let exif = result.exif else { continue }
            #expect(exif.count <= bytes.count + 300)
            guard let block = ExifBlock(exif) else {
                Issue.record("cannot be read again")
                continue
            }
            #expect(!block.hasThumbnail && block.gps.isEmpty)
            #expect(block.first(ExifTags.makerNote, in: \.exif) == nil)
            #expect(block.bytes == exif)
        }
    }
}
