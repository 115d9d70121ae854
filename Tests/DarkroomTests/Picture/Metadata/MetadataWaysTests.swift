import TestPictures
import Testing

@testable import DarkroomPicture

/// What becomes of metadata between each format that has any and each format that is written.
struct MetadataWaysTests {
    struct Way: Sendable, CustomTestStringConvertible {
        let from: OutputFormat
        let to: OutputFormat
        var testDescription: String { "\(from.rawValue) to \(to.rawValue)" }

        static let all = OutputFormat.allCases.flatMap { from in
            OutputFormat.allCases.map { Way(from: from, to: $0) }
        }
    }

    struct Result {
        let packets: SourcePackets
        let report: PictureReport
        let file: [UInt8]
    }

    static func run(
        _ way: Way, _ choice: MetadataChoice, autoOrient: Bool = true, filters: [Filter] = []
    ) throws -> Result {
        try run(try MetadataSample.file(way.from), way, choice, autoOrient, filters)
    }

    static func run(
        _ source: [UInt8], _ way: Way, _ choice: MetadataChoice, _ autoOrient: Bool = true,
        _ filters: [Filter] = []
    ) throws -> Result {
        let options = OutputOptions(format: way.to, metadata: choice)
        let (file, report) = try PictureSteps(
            filters: filters, autoOrient: autoOrient, options: options
        ).run(source)
        let made = try UnnamedFile(file)
        let reader = try PictureDecoder.reader(
            of: PictureDecoder.Input(.file(made.descriptor), name: "x"))
        return Result(packets: try reader.packets(), report: report, file: file)
    }

    /// The name of a packet of the source in the status.
    private static func name(_ packet: MetadataPacket, _ format: OutputFormat) -> String {
        switch (packet, format) {
        case (.exif, .png): "eXIf"
        case (.xmp, .png): "iTXt"
        case (.iptc, .jpeg): "APP13"
        case (.exif, _): "Exif"
        case (.xmp, _): "XMP"
        case (.iptc, _): "IPTC"
        }
    }

    @Test(arguments: Way.all) func nothingIsKeptUnlessItIsAskedFor(way: Way) throws {
        let result = try Self.run(way, .none)
        #expect(result.packets.exif == nil && result.packets.xmp == nil)
        #expect(result.packets.iptc == nil)
        #expect(!Self.leaks(result.file))
        for packet in [MetadataPacket.exif, .xmp] {
            #expect(result.report.metadata[Self.name(packet, way.from)] == "dropped")
        }
    }

    @Test(arguments: Way.all) func allIsKeptAndValid(way: Way) throws {
        let all = MetadataChoice(Set(MetadataChoice.Item.allCases))
        let resize = Filter.resize(Filter.Resize(width: 15))
        let (packets, report) = try {
            let result = try Self.run(way, all, filters: [resize])
            return (result.packets, result.report)
        }()
        let exif = try #require(packets.exif.flatMap(ExifBlock.init))
        #expect(exif.main.contains { $0.tag == 0x8298 })
        #expect(ExifOrientation(tiff: exif.bytes) == (way.to == .tiff ? .none : .found(.topLeft)))
        #expect(exif.first(ExifTags.makerNote, in: \.exif) == nil && !exif.hasThumbnail)
        #expect(exif.gps.count == 5)
        if way.to != .tiff {
            let sides = [ExifTags.width, ExifTags.height].map { tag in
                exif.first(tag, in: \.exif).flatMap(exif.number)
            }
            #expect(sides == [report.width, report.height])
        }
        let xmp = try XMPScanner.read(try #require(packets.xmp))
        #expect(xmp.hasPlaces && !xmp.hasThumbnail)
        let hasIPTC = [.jpeg, .tiff].contains(way.from) && [.jpeg, .tiff].contains(way.to)
        #expect((packets.iptc != nil) == hasIPTC)
        #expect(report.metadata["GPS"] == "kept" && report.metadata["copyright"] == "kept")
        #expect(report.metadata[Self.name(.xmp, way.from)] == "converted")
        #expect(report.metadata[Self.name(.exif, way.from)] == "converted")
        #expect(report.metadata["thumbnail"] == "dropped")
        #expect(report.warnings == [])
    }

    @Test(arguments: Way.all) func placesAreLeftOut(way: Way) throws {
        let choice = MetadataChoice(Set(MetadataChoice.Item.allCases), keepsPlaces: false)
        let result = try Self.run(way, choice)
        #expect(result.packets.exif.flatMap(ExifBlock.init)?.gps == [])
        #expect(!Self.leaks(result.file, "Bern") && Self.leaks(result.file, "Ann"))
        #expect(result.report.metadata["GPS"] == "dropped")
    }

    @Test(arguments: Way.all) func onlyTheCopyrightIsKept(way: Way) throws {
        let result = try Self.run(way, MetadataChoice([.copyright]))
        let exif = try #require(result.packets.exif.flatMap(ExifBlock.init))
        #expect(exif.exif.isEmpty && exif.gps.isEmpty)
        #expect(exif.main.filter { ExifTags.copyright.contains($0.tag) }.count == 3)
        #expect(!exif.main.contains { $0.tag == ExifTags.orientation || $0.tag == 0x010F })
        let text = String(decoding: try #require(result.packets.xmp), as: UTF8.self)
        #expect(text.contains("© Ann") && !text.contains("sea"))
        for word in ["Bern", "THUMBNAIL", "Model 5", "sea"] {
            #expect(!Self.leaks(result.file, word), "\(word)")
        }
        #expect(result.report.metadata["copyright"] == "kept")
    }

    @Test(arguments: [MetadataChoice.Item.exif, .iptc, .xmp])
    func oneKindIsKeptAlone(item: MetadataChoice.Item) throws {
        let result = try Self.run(Way(from: .jpeg, to: .jpeg), MetadataChoice([item]))
        #expect((result.packets.exif != nil) == (item == .exif))
        #expect((result.packets.xmp != nil) == (item == .xmp))
        #expect((result.packets.iptc != nil) == (item == .iptc))
    }

    /// Neither has a copy a thumbnail.
    @Test(arguments: Way.all) func aCopyOfExifHasNoThumbnail(way: Way) throws {
        let result = try Self.run(way, .exifCopy)
        let exif = try #require(result.packets.exif.flatMap(ExifBlock.init))
        #expect(exif.gps.count == 5 && !exif.hasThumbnail)
        #expect(!Self.leaks(result.file, "THUMBNAIL"))
        #expect(result.packets.xmp == nil)
        let name = Self.name(.exif, way.from)
        #expect(["kept", "converted"].contains(result.report.metadata[name]))
    }

    /// A format without IPTC says its notices in XMP, if that has none.
    @Test(arguments: [OutputFormat.png, .webp]) func iptcGoesToXMP(to: OutputFormat) throws {
        var maker = JPEGMaker.noise(width: 8, height: 8, channels: 3)
        maker.early = [MetadataSample.photoshop]
        let way = Way(from: .jpeg, to: to)
        let result = try Self.run(maker.encoded, way, MetadataChoice([.copyright]))
        let text = String(decoding: try #require(result.packets.xmp), as: UTF8.self)
        #expect(text.contains("Ann Ö") && text.contains("Agency") && !text.contains("sea"))
        #expect(result.report.metadata["APP13"] == "converted")
        let whole = try Self.run(maker.encoded, way, MetadataChoice([.iptc]))
        #expect(whole.packets.xmp == nil && whole.report.metadata["APP13"] == "dropped")
    }

    @Test(arguments: OutputFormat.allCases)
    func theOrientationStaysWhereNothingIsTurned(to: OutputFormat) throws {
        let way = Way(from: .jpeg, to: to)
        let result = try Self.run(way, MetadataChoice([.exif]), autoOrient: false)
        let isHeeded = to.encoder.usesExifOrientation
        let expected: ExifOrientation = isHeeded ? .found(.rightTop) : .found(.topLeft)
        let exif = try #require(result.packets.exif)
        #expect(ExifOrientation(tiff: exif) == (to == .tiff ? .none : expected))
        #expect(result.report.metadata["orientation"] == (isHeeded ? "kept" : "dropped"))
        let notice = try Self.run(way, MetadataChoice([.copyright]), autoOrient: false)
        #expect(notice.report.metadata["orientation"] == "dropped")
    }

    @Test func damageIsSaid() throws {
        var maker = JPEGMaker.noise(width: 8, height: 8, channels: 3)
        let head = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
        maker.early = [
            JPEGSegment(0xE1, head + Array("<!DOCTYPE a><a/>".utf8)),
            JPEGSegment(0xE1, Array("http://ns.adobe.com/xmp/extension/\0".utf8) + [0, 0, 0, 0]),
            JPEGSegment(0xED, PhotoshopResources.segment([1, 2, 3])),
        ]
        let all = MetadataChoice(Set(MetadataChoice.Item.allCases))
        let way = Way(from: .jpeg, to: .jpeg)
        let report = try Self.run(maker.encoded, way, all).report
        #expect(
            report.warnings == [
                "IPTC is dropped: it is damaged",
                "XMP is dropped: it has a declaration (DOCTYPE or another)",
            ])
        #expect(report.metadata["XMP"] == "dropped" && report.metadata["APP13"] == "dropped")
        #expect(report.metadata["extended XMP"] == "dropped")
        // Nobody has asked, so nobody is warned.
        #expect(try Self.run(maker.encoded, way, .none).report.warnings == [])
    }

    /// At each size there is room, or a warning. Of these, a result has 20 bytes fewer.
    @Test(arguments: 65_520...65_530) func iptcOfAnySizeIsWritten(count: Int) throws {
        var record = MetadataSample.iptc
        while record.count < count {
            let left = count - record.count
            let length = min(30_000, left - 5 > 30_000 ? 20_000 : left - 5)
            record += MetadataSample.dataset(2, 25, String(repeating: "x", count: length))
        }
        #expect(record.count == count)
        // A segment of a JPEG has no room for it, so it comes from a TIFF.
        let maker = PNGMaker.noise(width: 8, height: 8, colourType: .rgb, depth: 8)
        let source = try OutputOptions(format: .tiff).write(ArrayStage(maker.reference)) {
            $0.iptc = record
        }.file
        let way = Way(from: .tiff, to: .jpeg)
        let result = try Self.run(source, way, MetadataChoice([.iptc]))
        let kept = try #require(IPTCRecord(record)?.kept(MetadataChoice([.iptc])))
        #expect(kept.bytes.count == count - 20)
        let fits = kept.bytes.count <= IPTCRecord.mostBytes
        #expect(result.packets.iptc == (fits ? kept.bytes : nil))
        #expect(result.report.warnings.count == (fits ? 0 : 1))
    }

    /// Of Exif that overlaps itself, nobody knows whether it has a thumbnail.
    @Test func aCopyOfExifIsExamined() throws {
        var exif = MetadataSample.exif()
        let entries = Int(exif[8])
        for entry in 0..<entries where exif[10 + 12 * entry + 2] == 2 {
            exif.replaceSubrange(
                10 + 12 * entry + 4..<22 + 12 * entry, with: [0, 4, 0, 0, 8, 0, 0, 0])
        }
        exif += [UInt8](repeating: 65, count: 1100 - exif.count % 1100)
        try #require(ExifBlock(exif) == nil)
        var maker = JPEGMaker.noise(width: 8, height: 8, channels: 3)
        maker.early = [JPEGSegment(0xE1, Array("Exif\0\0".utf8) + exif)]
        let result = try Self.run(maker.encoded, Way(from: .jpeg, to: .jpeg), .exifCopy)
        #expect(
            !Self.leaks(result.file, "THUMBNAIL") && result.report.metadata["Exif"] == "dropped")
        #expect(result.report.warnings.contains("Exif is dropped: it is damaged"))
    }

    /// What is kept as it is, is said as well.
    @Test func aCopyOfExifSaysWhatIsInIt() throws {
        var block = try #require(ExifBlock(MetadataSample.exif()))
        block.main.removeAll { $0.tag == ExifTags.exifDirectory || $0.tag == ExifTags.gpsDirectory }
        var maker = JPEGMaker.noise(width: 8, height: 8, channels: 3)
        maker.early = [JPEGSegment(0xE1, Array("Exif\0\0".utf8) + block.bytes)]
        let result = try Self.run(maker.encoded, Way(from: .jpeg, to: .png), .exifCopy)
        for name in ["GPS", "MakerNote", "copyright"] {
            #expect(result.report.metadata[name] == "kept", "\(name)")
        }
    }

    /// What a segment of a JPEG has no room for is dropped in each format.
    @Test(arguments: [OutputFormat.png, .webp]) func sizesAreBounded(to: OutputFormat) throws {
        let text = String(repeating: "x", count: 66_000)
        let packet = MetadataSample.xmp(
            "<rdf:Description xmlns:a=\"u:a\" a:b=\"\(text)\"/>")
        var maker = PNGMaker.noise(width: 8, height: 8, colourType: .rgb, depth: 8)
        maker.early = [PNGChunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + packet)]
        let way = Way(from: .png, to: to)
        let result = try Self.run(maker.encoded, way, MetadataChoice([.xmp]))
        #expect(result.packets.xmp == nil && result.report.metadata["iTXt"] == "dropped")
        #expect(result.report.warnings.count == 1)
    }

    /// Metadata behind the pixels is found, too.
    @Test func metadataMayStandBehindThePixels() throws {
        var maker = PNGMaker.noise(width: 8, height: 8, colourType: .rgb, depth: 8)
        maker.late = [
            PNGChunk("iTXt", Array("XML:com.adobe.xmp\0\0\0en\0\0".utf8) + MetadataSample.xmp),
            PNGChunk("eXIf", MetadataSample.exif()),
        ]
        let choice = MetadataChoice([.copyright])
        let result = try Self.run(maker.encoded, Way(from: .png, to: .jpeg), choice)
        #expect(result.packets.exif != nil && result.packets.xmp != nil)
        #expect(result.report.metadata["iTXt"] == "converted")
    }

    /// Results that are made together have what each chooses.
    @Test func variantsChooseForThemselves() throws {
        let steps = [MetadataChoice([.copyright]), .none].map {
            PictureSteps([], OutputOptions(format: .jpeg, metadata: $0))
        }
        let made = try PictureVariants.run(MetadataSample.file(.jpeg), steps)
        let kept = try made.map { try $0.outcome.get().metadata["copyright"] }
        #expect(kept == ["kept", nil])
        #expect(made.map { Self.leaks($0.file, "Ann") } == [true, false])
    }

    /// Whether a file has a text.
    static func leaks(_ file: [UInt8], _ text: String = "Ann") -> Bool {
        file.firstRange(of: Array(text.utf8)) != nil
    }
}
