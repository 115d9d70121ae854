import TestPictures
import Testing

@testable import DarkroomPicture

/// What becomes of Exif that is asked for.
struct ExifTests {
    struct Way: Sendable {
        let from: OutputFormat
        let to: OutputFormat

        static let all = [OutputFormat.png, .jpeg].flatMap { from in
            keeping.map { Way(from: from, to: $0) }
        }
        static let keeping = OutputFormat.allCases.filter(\.encoder.keepsExif)
    }

    /// A picture of 16 × 8 pixels with this Exif.
    private static func source(_ format: OutputFormat, _ tiff: [UInt8]) -> [UInt8] {
        switch format {
        case .png:
            var maker = PNGMaker.noise(width: 16, height: 8, colourType: .rgb, depth: 8)
            maker.early = [PNGChunk("eXIf", tiff)]
            return maker.encoded
        case .jpeg:
            var maker = JPEGMaker.noise(width: 16, height: 8, channels: 3)
            maker.early = [JPEGSegment(0xE1, Array("Exif\0\0".utf8) + tiff)]
            return maker.encoded
        case .webp, .avif, .tiff, .jpegXL: return []
        }
    }

    /// The name of Exif in the ledger.
    private static func name(_ format: OutputFormat) -> String {
        format == .png ? "eXIf" : "Exif"
    }

    private static func exif(of file: [UInt8], _ format: OutputFormat) throws -> [UInt8]? {
        switch format {
        case .png:
            // Where the reader sees it: before the pixels.
            let chunks = try #require(PNGChunk.all(in: file))
            let before = chunks.prefix { $0.type != "IDAT" }
            let found = before.first { $0.type == "eXIf" }?.data
            #expect(try PNGReader.pixels(of: file).1.exif == found)
            return found
        case .jpeg:
            return try JPEGReader.pixels(of: file).reader.exif
        case .webp, .avif, .tiff, .jpegXL:
            return try CodecReaderTests.reader(of: .content(file), format.encoder.kind).exif
        }
    }

    private static func run(
        _ way: Way, _ tiff: [UInt8], autoOrient: Bool = true
    ) throws -> (exif: [UInt8]?, report: PictureReport) {
        let options = OutputOptions(format: way.to, metadata: .exifCopy)
        let (file, report) = try PictureSteps(autoOrient: autoOrient, options: options).run(
            source(way.from, tiff))
        return (try exif(of: file, way.to), report)
    }

    @Test(arguments: Way.all, [true, false])
    func isKeptByteForByte(way: Way, isBigEndian: Bool) throws {
        let tiff = JPEGSegment.tiff(orientation: 1, isBigEndian: isBigEndian)
        let (exif, report) = try Self.run(way, tiff)
        #expect(exif == tiff)
        #expect(report.metadata[Self.name(way.from)] == "kept")
        #expect(report.warnings == [])
    }

    /// A result that was turned must not be turned again by whoever reads it.
    @Test(arguments: Way.all, [true, false])
    func saysUprightOfWhatWasTurned(way: Way, isBigEndian: Bool) throws {
        for orientation in Orientation.allCases where orientation != .topLeft {
            let number = UInt16(orientation.rawValue)
            let tiff = JPEGSegment.tiff(orientation: number, isBigEndian: isBigEndian)
            let (exif, report) = try Self.run(way, tiff)
            #expect(exif == JPEGSegment.tiff(orientation: 1, isBigEndian: isBigEndian))
            #expect(report.metadata[Self.name(way.from)] == "converted")
            #expect(report.metadata["orientation"] == "converted")
            #expect(report.width == (orientation.isTransposed ? 8 : 16))
        }
    }

    @Test(arguments: Way.all)
    func saysAsBeforeWhereNothingIsTurned(way: Way) throws {
        let tiff = JPEGSegment.tiff(orientation: 6)
        let (exif, report) = try Self.run(way, tiff, autoOrient: false)
        // In these the container says it, and what Exif says does not count.
        let isHeeded = way.to != .avif && way.to != .jpegXL
        #expect(exif == (isHeeded ? tiff : JPEGSegment.tiff(orientation: 1)))
        #expect(report.metadata[Self.name(way.from)] == (isHeeded ? "kept" : "converted"))
        #expect(report.metadata["orientation"] == (isHeeded ? "kept" : "dropped"))
    }

    @Test(arguments: Way.all)
    func isDroppedWhereItIsDamaged(way: Way) throws {
        let (exif, report) = try Self.run(way, JPEGSegment.tiff(orientation: 9))
        #expect(exif == nil)
        #expect(report.metadata[Self.name(way.from)] == "dropped")
        #expect(report.warnings.count == 1)
    }

    /// A segment of a JPEG holds no more; so a PNG, which could, keeps no more either.
    @Test(arguments: Way.keeping)
    func hasALimit(to: OutputFormat) throws {
        let tiff = JPEGSegment.tiff(orientation: 1)
        let padding = [UInt8](repeating: 7, count: Exif.mostBytes - tiff.count)
        let way = Way(from: .png, to: to)
        #expect(try Self.run(way, tiff + padding).exif == tiff + padding)
        let (exif, report) = try Self.run(way, tiff + padding + [7])
        #expect(exif == nil)
        #expect(report.metadata["eXIf"] == "dropped")
    }
}
