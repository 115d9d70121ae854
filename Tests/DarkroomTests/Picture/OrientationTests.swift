import TestPictures
import Testing

@testable import DarkroomPicture

struct OrientationTests {
    /// Where the stored pixels of a picture of 3 × 2 lie once it is upright, row by row, numbered from the
    /// top left.
    static let upright: [(Orientation, width: Int, pixels: [Int])] = [
        (.topLeft, 3, [0, 1, 2, 3, 4, 5]),
        (.topRight, 3, [2, 1, 0, 5, 4, 3]),
        (.bottomRight, 3, [5, 4, 3, 2, 1, 0]),
        (.bottomLeft, 3, [3, 4, 5, 0, 1, 2]),
        (.leftTop, 2, [0, 3, 1, 4, 2, 5]),
        (.rightTop, 2, [3, 0, 4, 1, 5, 2]),
        (.rightBottom, 2, [5, 2, 4, 1, 3, 0]),
        (.leftBottom, 2, [2, 5, 1, 4, 0, 3]),
    ]

    @Test(arguments: upright)
    func turnsPicturesUpright(orientation: Orientation, width: Int, pixels: [Int]) throws {
        let layout = PixelLayout(width: 3, height: 2, channels: 1, depth: 8)
        let picture = try PixelGrid(layout, [0, 1, 2, 3, 4, 5]).developed(by: orientation.filters)
        #expect(picture.layout.width == width)
        #expect(orientation.isTransposed == (width == 2))
        #expect(picture.samples == pixels.map { UInt16($0) })
    }

    /// Tiles of 8 × 8 pixels, each of one gray, so that the pipeline can be held to the same table.
    @Test(arguments: upright, [true, false])
    func filesAreTurnedUpright(
        entry: (Orientation, width: Int, pixels: [Int]), autoOrient: Bool
    ) throws {
        let (orientation, width, pixels) = entry
        let samples = (0..<16 * 24).map { (place: Int) -> UInt8 in
            let (row, column) = (place / 24 / 8, place % 24 / 8)
            return UInt8((row * 3 + column) * 40)
        }
        var maker = JPEGMaker(width: 24, height: 16, channels: 1, samples: samples)
        maker.early = [.exif(orientation: UInt16(orientation.rawValue))]
        let (file, report) = try PictureSteps(autoOrient: autoOrient).run(maker.encoded)
        let picture = try PNGDecoder.decode(file)
        let shown = autoOrient ? pixels : [0, 1, 2, 3, 4, 5]
        let across = autoOrient ? width : 3
        #expect(picture.layout.width == across * 8 && picture.layout.height == 48 / across)
        let centres = shown.indices.map { tile in
            let (x, y) = (tile % across * 8 + 4, tile / across * 8 + 4)
            return Int(picture.samples[y * across * 8 + x])
        }
        #expect(centres == shown.map { $0 * 40 })
        var metadata = ["Exif": "dropped"]
        if orientation != .topLeft {
            metadata["orientation"] = autoOrient ? "converted" : "dropped"
        }
        #expect(report.metadata == metadata)
        #expect(report.warnings == [])
    }

    @Test(arguments: upright)
    func thatOfPNGsIsFollowedToo(_ orientation: Orientation, width: Int, pixels: [Int]) throws {
        let samples = (0..<6).map { UInt16($0 * 40) }
        var maker = PNGMaker(width: 3, height: 2, colourType: .gray, depth: 8, samples: samples)
        let tiff = JPEGSegment.tiff(orientation: UInt16(orientation.rawValue))
        maker.early = [PNGChunk("eXIf", tiff)]
        let (file, report) = try PictureSteps().run(maker.encoded)
        let picture = try PNGDecoder.decode(file)
        #expect(picture.layout.width == width)
        #expect(picture.samples == pixels.map { UInt16($0 * 40) })
        #expect(report.metadata["eXIf"] == "dropped")
        #expect(
            report.metadata["orientation"] == (orientation == .topLeft ? nil : "converted"))
        #expect(report.warnings == [])
    }

    @Test(arguments: Orientation.allCases, [true, false])
    func isFoundInExif(orientation: Orientation, isBigEndian: Bool) {
        let tiff = JPEGSegment.tiff(
            orientation: UInt16(orientation.rawValue), isBigEndian: isBigEndian)
        #expect(ExifOrientation(tiff: tiff) == .found(orientation))
    }

    @Test func exifMayHaveNone() {
        var tiff = JPEGSegment.tiff(orientation: 6)
        tiff[9] = 1
        #expect(ExifOrientation(tiff: tiff) == .none)
        tiff[9] = 0
        #expect(ExifOrientation(tiff: tiff) == .none)
    }

    /// Places in big-endian Exif, the bytes to put there, and whether it is fine all the same.
    static let changes: [(Int, [UInt8], Bool)] = [
        (0, [0x4D, 0x49], false), (2, [0, 43], false), (4, [0, 0, 0, 4], false),
        (4, [0xFF, 0xFF, 0xFF, 0xFF], false), (4, [0, 0, 0, 0x25], false),
        // More entries than there are: the one that counts is met before their end.
        (8, [0xFF, 0xFF], true),
        // Another tag.
        (22, [0x01, 0x13], true),
        // The entry's type, count and value.
        (24, [0, 2], false), (24, [0, 99], false), (26, [0, 0, 0, 2], false), (30, [0, 0], false),
        (30, [0, 9], false), (30, [0xFF, 0xFF], false),
    ]

    @Test(arguments: changes)
    func damagedExifIsNoMoreThanThat(place: Int, bytes: [UInt8], isFine: Bool) throws {
        var tiff = JPEGSegment.tiff(orientation: 6)
        tiff.replaceSubrange(place..<place + bytes.count, with: bytes)
        let found = ExifOrientation(tiff: tiff)
        var isDamaged = false
        if case .damaged = found { isDamaged = true }
        #expect(isDamaged == !isFine, "\(found)")

        var maker = JPEGMaker.noise(width: 8, height: 8, channels: 1)
        maker.early = [JPEGSegment(0xE1, Array("Exif\0\0".utf8) + tiff)]
        let (pixels, reader) = try JPEGReader.pixels(of: maker.encoded)
        #expect(largestDifference(pixels, maker.samples) <= 2)
        #expect(reader.warnings.count == (isFine ? 0 : 1))
    }

    @Test func aLongCountsAsWell() {
        var tiff = JPEGSegment.tiff(orientation: 6)
        tiff[25] = 4
        tiff.replaceSubrange(30..<34, with: [0, 0, 0, 8])
        #expect(ExifOrientation(tiff: tiff) == .found(.leftBottom))
    }

    /// Every prefix, and any byte changed in any way: read within bounds.
    @Test func anyBytesAreReadWithinBounds() {
        let tiff = JPEGSegment.tiff(orientation: 6)
        for count in 0..<tiff.count - 6 {
            if case .found = ExifOrientation(tiff: Array(tiff[..<count])) {
                Issue.record("found in \(count) bytes")
            }
        }
        var random = SplitMix64(seed: 3)
        var found = 0
        for _ in 0..<20_000 {
            var changed = tiff
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[Int.random(in: 0..<tiff.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            if case .found = ExifOrientation(tiff: changed) { found += 1 }
        }
        #expect(found > 0 && found < 20_000)
    }
}
