import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import DarkroomBatch
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomPicture
@testable import DarkroomSpool

/// JPEG at either end of the pipeline.
@Suite struct JPEGPipelineTests {
    static let jpeg = OutputOptions(format: .jpeg, quality: 100)

    static func run(
        _ file: [UInt8], filters: [Filter] = [], options: OutputOptions = OutputOptions(),
        limits: PictureLimits = PictureLimits()
    ) throws -> (file: [UInt8], report: PictureReport) {
        try PicturePipelineTests.run(
            file, filters: filters, options: options, limits: limits, stage: FilterStage.make)
    }

    @Test func filtersJPEGToPNGAndBack() throws {
        var maker = JPEGMaker(
            width: 16, height: 8, channels: 3,
            samples: (0..<128).flatMap { _ in [200, 150, 100] as [UInt8] })
        maker.scans = .progressive
        let (png, report) = try Self.run(maker.encoded, filters: [.sepia(intensity: 0.8)])
        let picture = try PNGDecoder.decode(png)
        #expect(picture.layout == PixelLayout(width: 16, height: 8, channels: 3, depth: 8))
        #expect(largestDifference(picture.bytes.prefix(3) + [], [210, 182, 138]) <= 1)
        #expect(report.format == .png && report.bytes == png.count && report.metadata == [:])

        let (jpeg, second) = try Self.run(png, filters: [.flop], options: Self.jpeg)
        #expect(second.format == .jpeg && second.channels == 3 && second.depth == 8)
        #expect(second.sha256 == SHA256Digest.hex(of: jpeg))
        #expect(largestDifference(try JPEGReader.pixels(of: jpeg).bytes, picture.bytes) <= 1)

        let (gray, third) = try Self.run(jpeg, filters: [.grayscale(amount: 1)], options: Self.jpeg)
        #expect(third.channels == 1)
        #expect(try JPEGReader.pixels(of: gray).reader.layout.channels == 1)
    }

    @Test func compressionChangesNoPixels() throws {
        let maker = PNGMaker.noise(width: 30, height: 20, colourType: .rgb, depth: 8)
        let all: [OutputOptions] = [
            .init(compression: .fast), .init(compression: .balanced), .init(compression: .small),
        ]
        for options in all {
            #expect(
                try PNGDecoder.decode(Self.run(maker.encoded, options: options).file)
                    == maker.reference)
        }
    }

    // MARK: What becomes of the rest

    @Test func profileAndDensityGoBothWays() throws {
        let profile = ICCProfileMaker.profile(space: "RGB ", padding: 300)
        var maker = JPEGMaker.noise(width: 8, height: 8, channels: 3)
        maker.early =
            [.jfif(unit: 1, x: 72, y: 300), .exif(orientation: 1)] + JPEGSegment.profile(profile)
            + [JPEGSegment(0xFE, [65])]
        let others = ["Exif": "dropped", "COM": "dropped"]
        let (png, toPNG) = try Self.run(maker.encoded)
        let metadata = ["JFIF": "converted", "ICC": "kept"]
        #expect(toPNG.metadata == metadata.merging(others) { $1 })
        let chunks = try #require(PNGChunk.all(in: png)).map(\.type)
        #expect(chunks.filter { $0 != "IDAT" }.sorted() == ["IEND", "IHDR", "iCCP", "pHYs"])

        let (jpeg, toJPEG) = try Self.run(png, options: Self.jpeg)
        #expect(toJPEG.warnings == [])
        #expect(toJPEG.metadata == ["pHYs": "converted", "iCCP": "kept"])
        let reader = try JPEGReader.pixels(of: jpeg).reader
        #expect(reader.colour.profile?.bytes == profile)
        #expect(reader.colour.density == .init(x: 2835, y: 11811, unit: 1))
        #expect(reader.segments == ["JFIF", "ICC"])

        let (_, same) = try Self.run(maker.encoded, options: Self.jpeg)
        #expect(same.metadata == ["JFIF": "kept", "ICC": "kept"].merging(others) { $1 })
        let (_, turned) = try Self.run(
            maker.encoded, filters: [.rotate(.quarter), .mono], options: Self.jpeg)
        #expect(
            turned.metadata == ["JFIF": "converted", "ICC": "dropped"].merging(others) { $1 })
        let (_, resized) = try Self.run(
            maker.encoded, filters: [.resize(.init(width: 4))], options: Self.jpeg)
        #expect(resized.metadata == ["JFIF": "dropped", "ICC": "kept"].merging(others) { $1 })
    }

    @Test func whatJPEGDoesNotHoldIsListed() throws {
        var maker = PNGMaker.noise(width: 8, height: 8, colourType: .rgba, depth: 16)
        maker.early = [PicturePipelineTests.gAMA, PicturePipelineTests.cICP]
        let (file, report) = try Self.run(maker.encoded, options: Self.jpeg)
        #expect(report.channels == 3 && report.depth == 8)
        #expect(
            report.metadata == [
                "alpha": "converted", "depth": "converted", "gAMA": "dropped", "cICP": "dropped",
            ])
        #expect(try JPEGReader.pixels(of: file).reader.layout.channels == 3)
    }

    // MARK: Decoding smaller

    /// Width, height, orientation and filters, and how many times smaller to decode.
    static let reductions: [(Int, Int, Orientation, [Filter], Int)] = [
        (1600, 1200, .topLeft, [.resize(.init(width: 100))], 8),
        (1600, 1200, .topLeft, [.resize(.init(width: 101))], 4),
        (1600, 1200, .topLeft, [.resize(.init(width: 200))], 4),
        (1600, 1200, .topLeft, [.resize(.init(width: 400))], 2),
        (1600, 1200, .topLeft, [.resize(.init(width: 401))], 1),
        (1600, 1200, .topLeft, [.resize(.init(width: 100)), .mono], 8),
        (1600, 1200, .topLeft, [.mono, .resize(.init(width: 100))], 1),
        (1600, 1200, .topLeft, [], 1),
        // Both sides count: 100 × 100 covers 133 × 100 of the picture, but 1600 × 1200 is no less.
        (1600, 1200, .topLeft, [.resize(.init(width: 100, height: 100, fit: .cover))], 4),
        (1600, 1200, .topLeft, [.resize(.init(width: 100, height: 100, fit: .fill))], 4),
        (1600, 1200, .topLeft, [.resize(.init(width: 100, height: 700, fit: .fill))], 1),
        // Sides that are no multiples.
        (1601, 1200, .topLeft, [.resize(.init(width: 100))], 1),
        (1604, 1202, .topLeft, [.resize(.init(width: 100))], 2),
        (1604, 1204, .topLeft, [.resize(.init(width: 100))], 4),
        // Kernels and light that the decoder would not do justice to.
        (1600, 1200, .topLeft, [.resize(.init(width: 100, kernel: .nearest))], 1),
        (1600, 1200, .topLeft, [.resize(.init(width: 100, kernel: .linear))], 8),
        (1600, 1200, .topLeft, [.resize(.init(width: 100, linear: true))], 1),
        // Turned upright it is 1200 wide.
        (1600, 1200, .rightTop, [.resize(.init(width: 75))], 8),
        (1600, 1200, .rightTop, [.resize(.init(width: 76))], 4),
        (1600, 1200, .bottomRight, [.resize(.init(width: 100))], 8),
    ]

    @Test(arguments: reductions)
    func decodesSmallerWhereThatIsSafe(
        entry: (Int, Int, Orientation, [Filter], Int)
    ) {
        let (width, height, orientation, filters, divisor) = entry
        #expect(
            ReducedDecoding.divisor(
                width: width, height: height, orientation: orientation, filters: filters) == divisor
        )
    }

    /// Peak signal-to-noise ratio in dB.
    static func similarity(_ a: [UInt8], _ b: [UInt8]) -> Double {
        let sum = zip(a, b).reduce(0.0) { sum, pair in
            let difference = Double(pair.0) - Double(pair.1)
            return sum + difference * difference
        }
        return 10 * log10(255 * 255 * Double(a.count) / max(sum, 1e-9))
    }

    /// A starry sky is all detail. The same without reduction is what the resize makes when it does not
    /// come first.
    @Test(arguments: [2, 4, 8], [Orientation.topLeft, .rightTop])
    func decodingSmallerLooksTheSame(divisor: Int, orientation: Orientation) throws {
        let sky = Starfield.png(width: 320, height: 256, seed: 5)
        var (file, _) = try Self.run(sky, options: OutputOptions(format: .jpeg, quality: 92))
        file.insert(
            contentsOf: JPEGSegment.exif(orientation: UInt16(orientation.rawValue)).bytes, at: 2)
        let resize = Filter.Resize(width: (orientation.isTransposed ? 256 : 320) / divisor / 2)
        #expect(
            ReducedDecoding.divisor(
                width: 320, height: 256, orientation: orientation, filters: [.resize(resize)])
                == divisor)
        let reduced = try PNGDecoder.decode(Self.run(file, filters: [.resize(resize)]).file)
        let whole = try PNGDecoder.decode(
            Self.run(file, filters: [.brightness(amount: 1), .resize(resize)]).file)
        #expect(reduced.layout == whole.layout)
        let similarity = Self.similarity(reduced.bytes, whole.bytes)
        #expect(similarity >= 40, "\(similarity) dB")
    }
}
