import TestSupport
import Testing

@testable import DarkroomPicture

/// Headers without their pixels, and what is calculated from them.
@Suite struct PictureHeaderTests {
    struct File: Sendable, CustomTestStringConvertible {
        var testDescription: String
        let bytes: [UInt8]
        let width: Int
        let height: Int
        let channels: Int
        let depth: Int
        var isHeld = false

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
        File(
            testDescription: "gray bits", bytes: png(.gray, 1), width: 64, height: 48, channels: 1,
            depth: 1),
        File(
            testDescription: "palette", bytes: png(.palette, 4), width: 64, height: 48, channels: 3,
            depth: 8),
        File(
            testDescription: "words with alpha", bytes: png(.rgba, 16), width: 64, height: 48,
            channels: 4, depth: 16),
        File(
            testDescription: "interlaced", bytes: png(.rgb, 8, interlaced: true), width: 64,
            height: 48, channels: 3, depth: 8, isHeld: true),
        File(
            testDescription: "JPEG", bytes: jpeg(640, 480, channels: 3), width: 640, height: 480,
            channels: 3, depth: 8),
        File(
            testDescription: "JPEG of an odd size", bytes: jpeg(643, 485, channels: 3), width: 643,
            height: 485, channels: 3, depth: 8),
        File(
            testDescription: "WebP", bytes: CodecSamples.webpWide, width: 41, height: 27,
            channels: 3, depth: 8, isHeld: true),
        File(
            testDescription: "AVIF", bytes: CodecSamples.avifWide, width: 41, height: 27,
            channels: 3, depth: 8, isHeld: true),
        File(
            testDescription: "gray JPEG on its side",
            bytes: jpeg(640, 480, channels: 1, orientation: 6), width: 640, height: 480,
            channels: 1, depth: 8),
        File(
            testDescription: "progressive JPEG",
            bytes: jpeg(640, 480, channels: 3, progressive: true),
            width: 640, height: 480, channels: 3, depth: 8, isHeld: true),
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
    fileprivate init(_ bytes: [UInt8], name: String) throws {
        let file = try UnnamedFile(bytes)
        self = try withExtendedLifetime(file) { try PictureHeader(of: file.descriptor, name: name) }
    }
}
