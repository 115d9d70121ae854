import TestPictures
import Testing

@testable import DarkroomPicture

/// What a picture hands over besides its output is what its output would be as a PNG.
struct HandOverStageTests {
    private static func run(
        _ file: [UInt8], filters: [Filter], options: OutputOptions, handsOver: Bool,
        autoOrient: Bool = true
    ) throws -> (output: [UInt8], handOver: [UInt8], report: PictureReport) {
        let pixels = try UnnamedFile()
        let (file, report) = try PictureSteps(
            filters: filters, autoOrient: autoOrient, options: options
        ).run(file, handOver: handsOver ? pixels : nil)
        return (file, try pixels.contents(), report)
    }

    static let filters: [[Filter]] = [
        [], [.mono], [.opacity(amount: 0.5)], [.resize(.init(width: 20))], [.rotate(.quarter)],
        [.trim(tolerance: 0), .blur(sigma: 2)],
    ]

    @Test(arguments: PixelKind.all, filters)
    func isTheOutputAsPNG(kind: PixelKind, filters: [Filter]) throws {
        let file = kind.noise(width: 61, height: 47).encoded
        for progressive in [false, true] {
            let jpeg = OutputOptions(format: .jpeg, progressive: progressive)
            let both = try Self.run(file, filters: filters, options: jpeg, handsOver: true)
            let png = OutputOptions(compression: .fast)
            // Without others that need its pixels, it could keep its palette.
            let asPNG = try Self.run(file, filters: filters, options: png, handsOver: true)
            #expect(both.handOver == asPNG.output)
            // And the output is what it is without.
            let alone = try Self.run(file, filters: filters, options: jpeg, handsOver: false)
            #expect(both.output == alone.output)
            #expect(both.report == alone.report)
        }
    }

    @Test(arguments: [true, false], [true, false])
    func profileExifAndOrientationAreThoseOfAPNG(keepsExif: Bool, autoOrient: Bool) throws {
        var maker = JPEGMaker.noise(width: 24, height: 16, channels: 3)
        maker.early =
            [.jfif(unit: 1, x: 72, y: 72), .exif(orientation: 6)]
            + JPEGSegment.profile(ICCProfileMaker.profile(space: "RGB ", padding: 300))
        let jpeg = OutputOptions(format: .jpeg, metadata: keepsExif ? .exifCopy : .none)
        let both = try Self.run(
            maker.encoded, filters: [.flop], options: jpeg, handsOver: true, autoOrient: autoOrient)
        let png = OutputOptions(compression: .fast, metadata: keepsExif ? .exifCopy : .none)
        let asPNG = try Self.run(
            maker.encoded, filters: [.flop], options: png, handsOver: false, autoOrient: autoOrient)
        #expect(both.handOver == asPNG.output)
        let chunks = try #require(PNGChunk.all(in: both.handOver)).map(\.type)
        #expect(chunks.contains("iCCP") && chunks.contains("eXIf") == keepsExif)
    }

    /// Large enough for several strips and helpers.
    @Test func manyStripsAreHandedOver() throws {
        let stars = Starfield(width: 1500, height: 900, seed: 4).picture(depth: 16, alpha: true)
        let (file, _) = try OutputOptions().write(ArrayStage(stars))
        let jpeg = OutputOptions(format: .jpeg)
        let both = try Self.run(file, filters: [], options: jpeg, handsOver: true)
        #expect(try PNGDecoder.decode(both.handOver) == stars)
    }

    @Test func aDamagedSourceFailsAsItDoes() throws {
        let file = Array(PNGAncillaryTests.maker.encoded.dropLast(30))
        expectFailure(.pngTruncated) {
            try Self.run(
                file, filters: [], options: OutputOptions(format: .jpeg), handsOver: true)
        }
    }

    @Test func losslessFormatsAreReadThemselves() {
        #expect(OutputFormat.allCases.filter(\.isLossless) == [.png])
    }

    /// The second writer's strips are in the bound.
    @Test func itsMemoryIsCounted() throws {
        let source = PeakMemory.Source(
            png: PixelLayout(width: 3000, height: 2000, channels: 4, depth: 16))
        let bounds = try [false, true].map {
            try PeakMemory.outcome(
                of: source,
                PictureSteps(
                    filters: [], options: OutputOptions(format: .jpeg), cores: Cores(count: 2)),
                handsOver: $0
            ).bytes
        }
        let strips = StripEncoder.mostBytes(
            source.layout, HandOverFile.options.compression.effort, cores: Cores(count: 2))
        #expect(bounds[1] - bounds[0] == strips)
    }
}
