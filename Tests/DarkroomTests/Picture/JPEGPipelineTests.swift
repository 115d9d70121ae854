import Foundation
import SystemPackage
import TestPictures
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

/// JPEG at either end of the pipeline.
struct JPEGPipelineTests {
    static let jpeg = OutputOptions(format: .jpeg, quality: 100)

    @Test func filtersJPEGToPNGAndBack() throws {
        var maker = JPEGMaker(
            width: 16, height: 8, channels: 3,
            samples: (0..<128).flatMap { _ in [200, 150, 100] as [UInt8] })
        maker.scans = .progressive
        let (png, report) = try PictureSteps(filters: [.sepia(intensity: 0.8)]).run(maker.encoded)
        let picture = try PNGDecoder.decode(png)
        #expect(picture.layout == PixelLayout(width: 16, height: 8, channels: 3, depth: 8))
        #expect(largestDifference(picture.bytes.prefix(3) + [], [210, 182, 138]) <= 1)
        #expect(report.format == .png && report.bytes == png.count && report.metadata == [:])

        let (jpeg, second) = try PictureSteps(filters: [.flop], options: Self.jpeg).run(png)
        #expect(second.format == .jpeg && second.channels == 3 && second.depth == 8)
        #expect(second.sha256 == SHA256Digest.hex(of: jpeg))
        #expect(largestDifference(try JPEGReader.pixels(of: jpeg).bytes, picture.bytes) <= 1)

        let (gray, third) = try PictureSteps(filters: [.grayscale(amount: 1)], options: Self.jpeg)
            .run(jpeg)
        #expect(third.channels == 1)
        #expect(try JPEGReader.pixels(of: gray).reader.layout.channels == 1)
    }

    // MARK: What becomes of the rest

    @Test func profileAndDensityGoBothWays() throws {
        let profile = ICCProfileMaker.profile(space: "RGB ", padding: 300)
        var maker = JPEGMaker.noise(width: 8, height: 8, channels: 3)
        maker.early =
            [.jfif(unit: 1, x: 72, y: 300), .exif(orientation: 1)] + JPEGSegment.profile(profile)
            + [JPEGSegment(0xFE, [65])]
        let others = ["Exif": "dropped", "COM": "dropped"]
        let (png, toPNG) = try PictureSteps().run(maker.encoded)
        let metadata = ["JFIF": "converted", "ICC": "kept"]
        #expect(toPNG.metadata == metadata.merging(others) { $1 })
        let chunks = try #require(PNGChunk.all(in: png)).map(\.type)
        #expect(chunks.filter { $0 != "IDAT" }.sorted() == ["IEND", "IHDR", "iCCP", "pHYs"])

        let (jpeg, toJPEG) = try PictureSteps(options: Self.jpeg).run(png)
        #expect(toJPEG.warnings == [])
        #expect(toJPEG.metadata == ["pHYs": "converted", "iCCP": "kept"])
        let reader = try JPEGReader.pixels(of: jpeg).reader
        #expect(reader.colour.profile?.bytes == profile)
        #expect(reader.colour.density == .init(x: 2835, y: 11811, unit: 1))
        #expect(reader.segments == ["JFIF", "ICC"])

        let (_, same) = try PictureSteps(options: Self.jpeg).run(maker.encoded)
        #expect(same.metadata == ["JFIF": "kept", "ICC": "kept"].merging(others) { $1 })
        let (_, turned) = try PictureSteps(filters: [.rotate(.quarter), .mono], options: Self.jpeg)
            .run(maker.encoded)
        #expect(
            turned.metadata == ["JFIF": "converted", "ICC": "dropped"].merging(others) { $1 })
        let (_, resized) = try PictureSteps(filters: [.resize(.init(width: 4))], options: Self.jpeg)
            .run(maker.encoded)
        #expect(resized.metadata == ["JFIF": "dropped", "ICC": "kept"].merging(others) { $1 })
    }

    @Test func whatJPEGDoesNotHoldIsListed() throws {
        var maker = PNGMaker.noise(width: 8, height: 8, colourType: .rgba, depth: 16)
        maker.early = [PicturePipelineTests.gAMA, PicturePipelineTests.cICP]
        let (file, report) = try PictureSteps(options: Self.jpeg).run(maker.encoded)
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
        (1601, 1200, .topLeft, [.resize(.init(width: 100))], 8),
        (1604, 1202, .topLeft, [.resize(.init(width: 100))], 8),
        (1599, 1200, .topLeft, [.resize(.init(width: 100))], 4),
        (1600, 1199, .topLeft, [.resize(.init(width: 100))], 4),
        (803, 601, .topLeft, [.resize(.init(width: 200))], 2),
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
        var (file, _) = try PictureSteps(options: OutputOptions(format: .jpeg, quality: 92)).run(
            sky)
        file.insert(
            contentsOf: JPEGSegment.exif(orientation: UInt16(orientation.rawValue)).bytes, at: 2)
        let resize = Filter.Resize(width: (orientation.isTransposed ? 256 : 320) / divisor / 2)
        #expect(
            ReducedDecoding.divisor(
                width: 320, height: 256, orientation: orientation, filters: [.resize(resize)])
                == divisor)
        let reduced = try PNGDecoder.decode(PictureSteps(filters: [.resize(resize)]).run(file).file)
        let whole = try PNGDecoder.decode(
            PictureSteps(filters: [.brightness(amount: 1), .resize(resize)]).run(file).file)
        #expect(reduced.layout == whole.layout)
        let similarity = Self.similarity(reduced.bytes, whole.bytes)
        #expect(similarity >= 40, "\(similarity) dB")
    }

    // MARK: Sizes that the divisor does not divide

    /// For each divisor, sides that leave each rest.
    static let oddSizes: [(width: Int, height: Int, divisor: Int)] = [2, 4, 8].flatMap { divisor in
        (1..<divisor).map { (320 + $0, 256 + $0 * 3 % divisor, divisor) }
    }

    /// Waves of all directions, bright at the edges.
    static func waves(width: Int, height: Int) -> JPEGMaker {
        var samples: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let (u, v) = (Double(x), Double(y))
                let wave = sin(u / 9) * cos(v / 7) + sin((u + v) / 23) + cos((u - 2 * v) / 17)
                for channel in 0..<3 {
                    samples.append(UInt8(150 + 25 * wave + Double(channel * 10)))
                }
            }
        }
        return JPEGMaker(width: width, height: height, channels: 3, samples: samples)
    }

    /// Resized while it is decoded, and from the whole picture.
    static func bothWays(
        _ file: [UInt8], _ orientation: Orientation, width: Int, divisor: Int
    ) throws -> (reduced: ReferencePicture, whole: ReferencePicture) {
        var file = file
        file.insert(
            contentsOf: JPEGSegment.exif(orientation: UInt16(orientation.rawValue)).bytes, at: 2)
        let resize = Filter.resize(.init(width: width))
        let source = try UnnamedFile(file)
        let reader = try PictureSteps(filters: [resize]).open(.file(source.descriptor), name: "a")
        #expect(reader.divisor == divisor)
        let reduced = try PNGDecoder.decode(PictureSteps(filters: [resize]).run(file).file)
        let whole = try PNGDecoder.decode(
            PictureSteps(filters: [.brightness(amount: 1), resize]).run(file).file)
        #expect(reduced.layout == whole.layout)
        return (reduced, whole)
    }

    /// The mean difference of the outermost rows and columns.
    static func largestBorderDifference(_ a: ReferencePicture, _ b: ReferencePicture) -> Double {
        let (width, height, step) = (a.layout.width, a.layout.height, a.layout.bytesPerPixel)
        func mean(_ pixels: [Int]) -> Double {
            let differences = pixels.flatMap { pixel in
                (0..<step).map {
                    abs(Int(a.bytes[pixel * step + $0]) - Int(b.bytes[pixel * step + $0]))
                }
            }
            return Double(differences.reduce(0, +)) / Double(differences.count)
        }
        let sides = [
            Array(0..<width), (0..<width).map { (height - 1) * width + $0 },
            (0..<height).map { $0 * width }, (0..<height).map { $0 * width + width - 1 },
        ]
        return sides.map(mean).max() ?? 0
    }

    /// At every rest and turned in every way, it is nearly what the whole picture gives, also at the borders.
    @Test(arguments: oddSizes.indices) func oddSizesLookTheSame(index: Int) throws {
        let (width, height, divisor) = Self.oddSizes[index]
        let sky = Starfield.png(width: width, height: height, seed: 5)
        let stars = try PictureSteps(options: OutputOptions(format: .jpeg, quality: 92)).run(sky)
            .file
        let waves = Self.waves(width: width, height: height).encoded
        for orientation in Orientation.allCases {
            let upright = orientation.isTransposed ? height : width
            let target = upright / divisor / 2
            let few = try Self.bothWays(stars, orientation, width: target, divisor: divisor)
            let similarity = Self.similarity(few.reduced.bytes, few.whole.bytes)
            #expect(similarity >= 38, "\(orientation): \(similarity) dB")
            let smooth = try Self.bothWays(waves, orientation, width: target, divisor: divisor)
            let border = Self.largestBorderDifference(smooth.reduced, smooth.whole)
            #expect(Self.similarity(smooth.reduced.bytes, smooth.whole.bytes) >= 45)
            #expect(border < 1.5, "\(orientation): \(border)")
        }
    }

    /// What the encoder adds to fill its blocks may be anything. Black there hardly darkens the border of a bright
    /// picture: the samples that it is in count for their stored pixels only.
    @Test(arguments: oddSizes.indices) func whatFillsBlocksHardlyCounts(index: Int) throws {
        let (width, height, divisor) = Self.oddSizes[index]
        var maker = Self.waves(width: (width + 7) / 8 * 8, height: (height + 7) / 8 * 8)
        for y in 0..<maker.height {
            for x in 0..<maker.width where x >= width || y >= height {
                for channel in 0..<3 { maker.samples[(y * maker.width + x) * 3 + channel] = 0 }
            }
        }
        var file = maker.encoded
        let size = JPEGDamageTests.place(0xC0, in: file) + 5
        file.replaceSubrange(
            size..<size + 4,
            with: [height >> 8, height & 255, width >> 8, width & 255].map { UInt8($0) })
        let both = try Self.bothWays(
            file, .topLeft, width: width / divisor / 2, divisor: divisor)
        let border = Self.largestBorderDifference(both.reduced, both.whole)
        #expect(border < 16, "\(border)")
    }
}
