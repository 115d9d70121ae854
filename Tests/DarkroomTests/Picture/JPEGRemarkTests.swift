import CDarkroomShims
import TestPictures
import Testing

@testable import DarkroomPicture

/// What is irregular in a JPEG and decides no pixel: the picture, and a warning that says what and how much. What is
/// damage: a failure, or what can be read of it.
struct JPEGRemarkTests {
    struct Irregular: CustomTestStringConvertible, Sendable {
        let name: String
        /// The beginning of the only warning; nil where libjpeg's look ahead leaves none.
        let warning: String?
        var restartInterval = 0
        let change: @Sendable (inout [UInt8]) -> Void

        var testDescription: String { name }
    }

    /// Inserts bytes before each restart marker.
    private static func stuff(_ bytes: [UInt8]) -> @Sendable (inout [UInt8]) -> Void {
        { file in
            let scan = JPEGDamageTests.place(0xDA, in: file)
            var result: [UInt8] = []
            for index in file.indices {
                let isMarker =
                    index > scan && file[index] == 0xFF && (0xD0...0xD7).contains(file[index + 1])
                if isMarker { result += bytes }
                result.append(file[index])
            }
            file = result
        }
    }

    private static func atEnd(_ bytes: [UInt8]) -> @Sendable (inout [UInt8]) -> Void {
        { $0.insert(contentsOf: bytes, at: $0.count - 2) }
    }

    static let irregulars = [
        Irregular(
            name: "zeros before restart markers", warning: " bytes of filling", restartInterval: 1,
            change: stuff([UInt8](repeating: 0, count: 40))),
        Irregular(
            name: "FF 00 before restart markers", warning: " bytes of filling", restartInterval: 1,
            change: stuff([UInt8](repeatElement([0xFF, 0], count: 20).joined()))),
        Irregular(
            name: "fill bytes before restart markers", warning: nil, restartInterval: 1,
            change: stuff([0xFF, 0xFF])),
        Irregular(
            name: "zeros after the last row", warning: " after the last row",
            change: atEnd([UInt8](repeating: 0, count: 40))),
        Irregular(
            name: "a stamp after the last row", warning: " after the last row",
            change: atEnd(Array("2026-11-26 12:00:00 camera 4".utf8))),
        Irregular(
            name: "bytes between segments", warning: "1 byte between the segments of the header",
            change: { $0.insert(7, at: JPEGDamageTests.place(0xC4, in: $0)) }),
        Irregular(
            name: "no end", warning: "the end-of-image marker is missing; all rows are complete",
            change: { $0.removeLast(2) }),
        Irregular(
            name: "half an end",
            warning: "the end-of-image marker is missing; all rows are complete",
            change: { $0.removeLast() }),
    ]

    @Test(arguments: irregulars, JPEGMaker.Scans.allCases)
    func isRead(_ irregular: Irregular, scans: JPEGMaker.Scans) throws {
        for decoder in JPEGReader.Decoder.allCases {
            var maker = JPEGDamageTests.maker(scans)
            maker.restartInterval = irregular.restartInterval
            let expected = try JPEGReader.pixels(of: maker.encoded).bytes
            var file = maker.encoded
            irregular.change(&file)
            let (bytes, reader) = try JPEGReader.pixels(of: file, decoder: decoder)
            #expect(bytes == expected)
            #expect(
                reader.warnings.count == (irregular.warning == nil ? 0 : 1), "\(reader.warnings)")
            if let words = irregular.warning {
                #expect(reader.warnings.first?.contains(words) == true, "\(reader.warnings)")
            }
        }
    }

    /// A restart marker behind the last row, and a video instead of the end.
    @Test func foreignBytesAfterTheLastRowAreCounted() throws {
        let maker = JPEGDamageTests.maker(.one)
        let (expected, _) = try JPEGReader.pixels(of: maker.encoded)
        let video = [UInt8](repeatElement([1, 0xFF, 0xC4, 3, 0xFF, 0xDA], count: 1000).joined())
        let file = Array(maker.encoded.dropLast(2)) + [0xFF, 0xD0] + video
        let (bytes, reader) = try JPEGReader.pixels(of: file)
        #expect(bytes == expected)
        #expect(
            reader.warnings == [
                "1 restart marker after the last row",
                "6000 bytes after the last row, which belong to no pixel",
                "the end-of-image marker is missing; all rows are complete",
            ])
    }

    /// Sheet feeders write the height behind the scan.
    @Test(arguments: [[0, 0], [0xFF, 0xFF]] as [[UInt8]], [false, true])
    func aHeightBehindTheScanIsRead(height: [UInt8], fromMemory: Bool) throws {
        let maker = JPEGDamageTests.maker(.one)
        let (expected, _) = try JPEGReader.pixels(of: maker.encoded)
        var file = maker.encoded
        let place = JPEGDamageTests.place(0xC0, in: file) + 5
        file.replaceSubrange(place..<place + 2, with: height)
        #expect(JPEGReader.failure(of: file)?.message.contains("DNL") == true)
        file.insert(contentsOf: [0xFF, 0xDC, 0, 4, 0, UInt8(maker.height)], at: file.count - 2)
        let source = try UnnamedFile(file)
        let reader = try JPEGReader(
            PictureDecoder.Input(
                fromMemory ? .content(file) : .file(source.descriptor), name: "x.jpg"))
        #expect(reader.layout.height == maker.height)
        #expect(try reader.allBytes() == expected)
        #expect(reader.warnings == [])
    }

    @Test(arguments: JPEGDamageTests.damages.filter { $0.code == .jpegData })
    func damageCanBeKept(_ damage: JPEGDamageTests.Damage) throws {
        let samples = JPEGDamageTests.maker(damage.scans, channels: damage.channels).samples
        let limits = PictureLimits { $0.damaged = .keep }
        let (bytes, reader) = try JPEGReader.pixels(of: damage.file, limits: limits)
        #expect(bytes.count == samples.count)
        #expect(reader.warnings.contains { $0.hasPrefix("damaged ") }, "\(reader.warnings)")
    }

    /// The rows before the end of a file are its rows.
    @Test func truncatedPicturesCanBeKept() throws {
        let maker = JPEGMaker.noise(width: 64, height: 64, channels: 3)
        let (whole, _) = try JPEGReader.pixels(of: maker.encoded)
        let limits = PictureLimits { $0.damaged = .keep }
        let file = Array(maker.encoded.prefix(maker.encoded.count / 2))
        let (bytes, reader) = try JPEGReader.pixels(of: file, limits: limits)
        let warning = try #require(reader.warnings.first)
        let match = try #require(
            warning.firstMatch(of: /^damaged from row ([0-9]+) of 64 on: the file ends before/),
            "\(warning)")
        let row = try #require(Int(match.1))
        #expect((17...48).contains(row))
        #expect(bytes.prefix((row - 1) * 64 * 3) == whole.prefix((row - 1) * 64 * 3))
    }

    @Test func profilesAndExifAreKeptUnlessTheyAreWrong() throws {
        let profile = ICCProfileMaker.profile(space: "RGB ", padding: 300)
        let other = ICCProfileMaker.profile(space: "RGB ", padding: 200)
        func reader(_ early: [JPEGSegment]) throws -> JPEGReader {
            var maker = JPEGDamageTests.maker(.one)
            maker.early = early
            return try JPEGReader.pixels(of: maker.encoded).reader
        }
        let one = JPEGSegment.profile(profile)
        let twice = try reader(one + one)
        #expect(twice.colour.profile?.bytes == profile)
        #expect(twice.warnings == [])
        let different = try reader(one + JPEGSegment.profile(other))
        #expect(different.colour.profile?.bytes == profile)
        #expect(
            different.warnings == [
                "there are different colour profiles; the first complete one counts"
            ])
        let empty = JPEGSegment(0xE1, Array("Exif\0\0".utf8))
        let turned = try reader([empty, .exif(orientation: 6), .exif(orientation: 3)])
        #expect(turned.orientation == .rightTop)
        #expect(turned.warnings == [])
    }

    /// Each remark is in the table once, each warning of libjpeg among them.
    @Test func theTableHasEachRemarkOnce() {
        var count = 0
        let table = Array(UnsafeBufferPointer(start: darkroom_remarks(&count), count: count))
        let names = table.map { String(cString: $0.format) + String(cString: $0.words) }
        #expect(Set(names).count == names.count)
        let codes = table.map(\.code).filter { $0 != 0 }
        #expect(Set(codes).count == codes.count)
        let warnings = (1..<darkroom_jpeg_message_count()).filter {
            darkroom_jpeg_is_warning($0) != 0
        }
        #expect(warnings.count >= 10)
        #expect(Set(warnings).isSubset(of: codes))
    }
}
