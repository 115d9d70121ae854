import TestPictures
import Testing

@testable import DarkroomPicture

/// Headers without their pixels, and what is calculated from them.
struct PictureHeaderTests {
    struct File: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let width: Int
        let height: Int
        let channels: Int
        let depth: Int
        let isHeld: Bool

        init(
            _ name: String, _ bytes: [UInt8], _ width: Int, _ height: Int, _ channels: Int,
            depth: Int = 8, isHeld: Bool = false
        ) {
            (testDescription, self.bytes) = (name, bytes)
            (self.width, self.height, self.channels) = (width, height, channels)
            (self.depth, self.isHeld) = (depth, isHeld)
        }

        var header: PictureHeader {
            get throws { try PictureHeader(bytes, name: "a") }
        }
    }

    private static func jpeg(
        _ width: Int, _ height: Int, channels: Int, progressive: Bool = false,
        orientation: UInt16? = nil
    ) -> [UInt8] {
        var maker = JPEGMaker.gradient(width: width, height: height, channels: channels)
        if progressive { maker.scans = .progressive }
        if let orientation { maker.early = [.exif(orientation: orientation)] }
        return maker.encoded
    }

    private static func png(
        _ type: PNGMaker.ColourType, _ depth: Int, interlaced: Bool = false
    ) -> [UInt8] {
        PNGMaker.noise(
            width: 64, height: 48, colourType: type, depth: depth, interlaced: interlaced
        ).encoded
    }

    static let files = [
        File("gray bits", png(.gray, 1), 64, 48, 1, depth: 1),
        File("palette", png(.palette, 4), 64, 48, 3),
        File("words with alpha", png(.rgba, 16), 64, 48, 4, depth: 16),
        File("interlaced", png(.rgb, 8, interlaced: true), 64, 48, 3, isHeld: true),
        File("JPEG", jpeg(640, 480, channels: 3), 640, 480, 3),
        File("JPEG of an odd size", jpeg(643, 485, channels: 3), 643, 485, 3),
        File("WebP", CodecSamples.webpWide, 41, 27, 3, isHeld: true),
        File("AVIF", CodecSamples.avifWide, 41, 27, 3, isHeld: true),
        File("gray JPEG on its side", jpeg(640, 480, channels: 1, orientation: 6), 640, 480, 1),
        File(
            "progressive JPEG", jpeg(640, 480, channels: 3, progressive: true), 640, 480, 3,
            isHeld: true),
    ]

    static let chains: [[Filter]] = [
        [], [.resize(.init(width: 100))], [.resize(.init(width: 10))],
        [.resize(.init(width: 60)), .sepia(intensity: 1)],
        [.rotate(.quarter), .resize(.init(width: 20))],
    ]

    @Test(arguments: files) func readsTheHeader(file: File) throws {
        let header = try file.header
        #expect(header.layout.width == file.width && header.layout.height == file.height)
        #expect(header.layout.channels == file.channels && header.storedDepth == file.depth)
        #expect((header.heldBytes > 0) == file.isHeld)
    }

    /// The facts are those that a reader for these filters has, also if it reduces the picture.
    @Test(arguments: files, chains) func knowsWhatAReaderNeeds(file: File, filters: [Filter]) throws
    {
        for autoOrient in [true, false] {
            let input = try UnnamedFile(file.bytes)
            let reader = try PictureSteps(filters: filters, autoOrient: autoOrient).open(
                .file(input.descriptor), name: "a")
            #expect(
                try file.header.source(for: PictureSteps(filters: filters, autoOrient: autoOrient))
                    == PeakMemory.Source(reader))
        }
    }

    /// The calculated result is the one that is written, and its header the one that other images read.
    @Test(arguments: files, chains) func knowsTheResult(file: File, filters: [Filter]) throws {
        let header = try file.header
        for options in [OutputOptions(metadata: .exifCopy), OutputOptions(metadata: .none)] {
            for autoOrient in [true, false] {
                let outcome = try PeakMemory.outcome(
                    of: header.source(for: PictureSteps(filters: filters, autoOrient: autoOrient)),
                    PictureSteps(filters: filters, autoOrient: autoOrient, options: options))
                let (output, report) = try PictureSteps(
                    filters: filters, autoOrient: autoOrient, options: options
                ).run(file.bytes)
                let layout = try #require(outcome.layout)
                #expect(outcome.isExact && outcome.failure == nil)
                #expect(layout.width == report.width && layout.height == report.height)
                #expect(layout.channels == report.channels && layout.depth == report.depth)
                let written = try PictureHeader(output, name: "b")
                #expect(
                    written
                        == PictureHeader(
                            ofResultOf: header, layout: layout, autoOrient: autoOrient,
                            options: options))
            }
        }
    }

    /// What is known of a failure before a pixel is read is what the pipeline says.
    @Test(arguments: [
        ([Filter.crop(.rectangle(x: 0, y: 0, width: 65, height: 1))], OutputOptions()),
        ([.resize(.init(width: 70_000))], OutputOptions(format: .jpeg)),
        ([.resize(.init(width: 20_000, height: 20_000))], OutputOptions()),
    ]) func knowsFailures(
        filters: [Filter], options: OutputOptions
    ) throws {
        let file = Self.files[2]
        let error = try #require(throws: PictureError.self) {
            try PictureSteps(filters: filters, options: options).run(file.bytes)
        }
        let foreseen = try #require(throws: PictureError.self) {
            _ = try PeakMemory.outcome(
                of: try file.header.source(for: PictureSteps(filters: filters)),
                PictureSteps(filters: filters, options: options), outputName: "out.png")
        }
        #expect(foreseen.naming("in.png", or: ["out.png"]) == error)
    }
}

extension PictureHeader {
    /// The header of a file of these bytes.
    init(_ bytes: [UInt8], name: String) throws {
        let file = try UnnamedFile(bytes)
        self = try withExtendedLifetime(file) { try PictureHeader(of: file.descriptor, name: name) }
    }
}
