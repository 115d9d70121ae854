import Foundation
import TestPictures
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

/// Files as other packages convert and write them.
struct PictureConverterTests {
    private static let maker = PNGMaker.noise(width: 31, height: 23, colourType: .rgb, depth: 8)

    /// A folder with a picture.
    struct Folder {
        private let scratch: ScratchDirectory
        var path: String { scratch.path }
        var source: String { path + "/source.png" }
        var result: String { path + "/result" }

        init(_ bytes: [UInt8] = PictureConverterTests.maker.encoded) throws {
            scratch = try ScratchDirectory()
            try Data(bytes).write(to: URL(filePath: source))
        }

        func bytes(of path: String) throws -> [UInt8] {
            Array(try Data(contentsOf: URL(filePath: path)))
        }

        /// What lies in it, in alphabetical order.
        func list() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        }
    }

    /// Each kind of file, as the pipeline writes it.
    @Test(arguments: [
        (PictureOutput.png(compression: .small), OutputOptions(compression: .small)),
        (
            .jpeg(quality: 85, progressive: true),
            .init(format: .jpeg, quality: 85, progressive: true)
        ),
        (.webp(lossless: true, effort: 1), .init(format: .webp, lossless: true, effort: 1)),
        (.tiff(), .init(format: .tiff)),
    ]) func writesWhatThePipelineWrites(output: PictureOutput, options: OutputOptions) throws {
        let folder = try Folder()
        let report = try PictureConverter(filters: [.sepia(intensity: 0.8)], output: output)
            .convert(folder.source, to: folder.result)
        let (expected, expectedReport) = try PictureSteps(
            filters: [.sepia(intensity: 0.8)], options: options
        ).run(Self.maker.encoded)
        #expect(try folder.bytes(of: folder.result) == expected)
        #expect(report == expectedReport && report.format == options.format)
        #expect(report.sha256 == SHA256Digest.hex(of: expected))
        #expect(try folder.list() == ["result", "source.png"])
    }

    @Test func outputsAreOptions() throws {
        let outputs: [(PictureOutput, OutputOptions)] = [
            (.png(), OutputOptions()), (.png(compression: .fast), .init(compression: .fast)),
            (.png(compression: .balanced), .init(compression: .balanced)),
            (.png(keepsExif: true), .init(metadata: .exifCopy)),
            (.jpeg(), .init(format: .jpeg)), (.jpeg(quality: 1), .init(format: .jpeg, quality: 1)),
            (.jpeg(quality: 100), .init(format: .jpeg, quality: 100)),
            (.jpeg(keepsExif: true), .init(format: .jpeg, metadata: .exifCopy)),
            (.webp(), .init(format: .webp)),
            (.avif(), .init(format: .avif, depth: 8)), (.tiff(), .init(format: .tiff, depth: 16)),
            (
                .avif(quality: 40, effort: 1, depth: 12, chroma: .full),
                .init(format: .avif, quality: 40, effort: 1, depth: 12, chroma: .full)
            ),
            (
                .tiff(compression: .lzw, depth: 8),
                .init(format: .tiff, tiffCompression: .lzw, depth: 8)
            ),
            (.jpegXL(), .init(format: .jpegXL, depth: 16)),
        ]
        for (output, options) in outputs {
            var expected = options
            // As if they were given.
            (expected.quality, expected.effort) = (options.quality, options.effort)
            var made = try output.checked()
            (made.quality, made.effort) = (made.quality, made.effort)
            #expect(made == expected)
        }
        #expect(PictureOutput.jpeg() == .jpeg(quality: OutputOptions().quality))
        #expect(PictureOutput.png() == .png(compression: OutputOptions().compression))
    }

    @Test(arguments: [
        (PictureOutput.jpeg(quality: 0), "jpeg: quality must be 1 to 100, not 0"),
        (.jpeg(quality: 101), "jpeg: quality must be 1 to 100, not 101"),
        (.jpeg(quality: .min), "jpeg: quality must be 1 to 100, not \(Int.min)"),
        (.jpeg(quality: .max), "jpeg: quality must be 1 to 100, not \(Int.max)"),
        (.webp(quality: 0), "webp: quality must be 1 to 100, not 0"),
        (.avif(quality: 101), "avif: quality must be 1 to 100, not 101"),
        (.webp(effort: 11), "webp: effort must be 0 to 10, not 11"),
        (.jpegXL(effort: -1), "jxl: effort must be 0 to 10, not -1"),
        (.avif(depth: 16), "avif: depth must be 8, 10 or 12, not 16"),
        (.tiff(depth: 12), "tiff: depth must be 8 or 16, not 12"),
        (.jpegXL(depth: 10), "jxl: depth must be 8 or 16, not 10"),
    ]) func refusesAnOptionOutOfRange(output: PictureOutput, message: String) throws {
        let folder = try Folder()
        #expect(throws: PictureError(.invalidArguments, message)) {
            try PictureConverter(output: output).convert(folder.source, to: folder.result)
        }
        #expect(try folder.list() == ["source.png"])
    }

    /// What the formats lack is in the report.
    @Test func reportsWhatBecomesOfSamples() throws {
        let deep = try Folder(
            PNGMaker.noise(width: 9, height: 5, colourType: .grayAlpha, depth: 16).encoded)
        for (output, channels, depth) in [
            (PictureOutput.webp(), 4, 8), (.avif(), 4, 8), (.avif(depth: 10), 4, 10),
            (.avif(depth: 12), 4, 12),
            (.tiff(), 2, 16), (.tiff(depth: 8), 2, 8), (.jpegXL(), 2, 16),
        ] {
            let report = try PictureConverter(output: output)
                .convert(deep.source, to: deep.result)
            #expect(report.channels == channels && report.depth == depth)
            #expect(report.metadata["depth"] == (depth == 16 ? nil : "converted"))
            #expect(report.metadata["alpha"] == nil)
        }
    }

    /// Their files are RGB, for which a profile for gray has no meaning.
    @Test(arguments: [OutputFormat.webp, .avif])
    func aProfileForGrayIsDropped(format: OutputFormat) throws {
        var maker = JPEGMaker.gradient(width: 16, height: 8, channels: 1)
        maker.early = JPEGSegment.profile(ICCProfileMaker.profile(space: "GRAY"))
        let folder = try Folder(maker.encoded)
        let report = try PictureConverter(output: format == .webp ? .webp() : .avif())
            .convert(folder.source, to: folder.result)
        #expect(report.metadata["ICC"] == "dropped")
        #expect(
            report.warnings
                == ["the colour profile is dropped: \(format.title) has none for gray pictures"])
    }

    @Test func turnsUprightUnlessItIsTold() throws {
        var maker = JPEGMaker.gradient(width: 16, height: 8, channels: 3)
        maker.early = [.exif(orientation: 6)]
        let folder = try Folder(maker.encoded)
        for (autoOrient, width) in [(true, 8), (false, 16)] {
            let report = try PictureConverter(autoOrient: autoOrient)
                .convert(folder.source, to: folder.result)
            #expect(report.width == width)
        }
    }

    @Test func laysOtherFilesOver() throws {
        let folder = try Folder(
            PNGMaker(
                width: 4, height: 4, colourType: .gray, depth: 8,
                samples: [UInt16](repeating: 10, count: 16)
            ).encoded)
        let other = folder.path + "/other.png"
        try Data(
            PNGMaker(width: 2, height: 1, colourType: .gray, depth: 8, samples: [200, 201]).encoded
        ).write(to: URL(filePath: other))
        try PictureConverter(filters: [.watermark(contentsOf: other)])
            .convert(folder.source, to: folder.result)
        let samples = try PNGDecoder.decode(folder.bytes(of: folder.result)).samples
        #expect(samples == [UInt16](repeating: 10, count: 14) + [200, 201])

        let missing = folder.path + "/missing.png"
        let message =
            "\(folder.source): overlay: \(missing): opening the file: No such file or directory"
        #expect(throws: PictureError(.readFailed, message)) {
            try PictureConverter(filters: [.overlay(contentsOf: missing)])
                .convert(folder.source, to: folder.result)
        }
    }

    // MARK: Files

    /// A result takes the place of what has its name, also of its source; a failure leaves that and nothing else.
    @Test func replacesTheResultWhenItIsWhole() throws {
        let folder = try Folder()
        try Data("before".utf8).write(to: URL(filePath: folder.result))
        let damaged = folder.path + "/damaged.png"
        try Data(Self.maker.encoded.dropLast(20)).write(to: URL(filePath: damaged))
        expectFailure(.pngTruncated) {
            try PictureConverter().convert(damaged, to: folder.result)
        }
        #expect(try folder.bytes(of: folder.result) == Array("before".utf8))
        #expect(try folder.list() == ["damaged.png", "result", "source.png"])

        try PictureConverter().convert(folder.source, to: folder.result)
        #expect(
            try PNGDecoder.decode(folder.bytes(of: folder.result)) == Self.maker.reference)
        try PictureConverter(filters: [.flip, .flip]).convert(folder.source, to: folder.source)
        #expect(
            try PNGDecoder.decode(folder.bytes(of: folder.source)) == Self.maker.reference)
        #expect(try folder.list() == ["damaged.png", "result", "source.png"])
    }

    @Test func saysWhatIsWrongWithTheResult() throws {
        let folder = try Folder()
        let (inNothing, aFolder) = (folder.path + "/nothing/x.png", folder.path + "/folder")
        try FileManager.default.createDirectory(atPath: aFolder, withIntermediateDirectories: false)
        for (result, message) in [
            (inNothing, "\(inNothing): creating the file: No such file or directory"),
            (aFolder, "\(aFolder): renaming the file: Is a directory"),
            ("\(aFolder)\0", "\(aFolder)\0: creating the file: Invalid argument"),
        ] {
            #expect(throws: PictureError(.writeFailed, message)) {
                try PictureConverter().convert(folder.source, to: result)
            }
        }
        #expect(try folder.list() == ["folder", "source.png"])
    }

    /// A full disk passes.
    @Test func saysWhetherItMaySucceedLater() {
        let full = PictureError(.writeFailed, "x: writing the file", .noSpace)
        #expect(full.isTransient)
        #expect(full.message == "x: writing the file: No space left on device")
        #expect(!PictureError(.writeFailed, "x: writing the file", .readOnlyFileSystem).isTransient)
        #expect(PictureError(.readFailed, "x: opening the file", .tooManyOpenFiles).isTransient)
        #expect(!PictureError(.readFailed, "x: opening the file", .permissionDenied).isTransient)
    }

    @Test func isCancelled() throws {
        let folder = try Folder()
        expectFailure(.cancelled) {
            try PictureConverter().convert(
                folder.source, to: folder.result, isCancelled: { true })
        }
        #expect(try folder.list() == ["source.png"])
    }

    // MARK: Pixels of the caller

    @Test(arguments: PixelKind.all.filter { $0.depth >= 8 && $0.colourType != .palette })
    func writesPixels(kind: PixelKind) throws {
        let folder = try Folder()
        // Several bands.
        let reference = kind.noise(width: 301, height: 211).reference
        let layout = reference.layout
        var seen: [Range<Int>] = []
        let report = try PictureConverter().write(layout, to: folder.result) { samples, rows in
            seen.append(rows)
            let first = rows.lowerBound * layout.bytesPerRow
            for index in samples.indices { samples[index] = reference.bytes(at: first + index) }
        }
        #expect(seen.first?.lowerBound == 0 && seen.last?.upperBound == 211)
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        #expect(try PNGDecoder.decode(folder.bytes(of: folder.result)) == reference)
        #expect(report.metadata == [:])
        #expect(report.channels == layout.channels && report.depth == layout.depth)
    }

    @Test func writesNumbersOf16Bits() throws {
        let folder = try Folder()
        let layout = PixelLayout(width: 3, height: 2, channels: 1, depth: 16)
        try PictureConverter(filters: [.flip]).write(layout, to: folder.result) { samples, rows in
            var bytes = samples.mutableBytes
            for row in rows {
                for x in 0..<3 {
                    bytes.storeBytes(
                        of: UInt16(row * 1000 + x), toByteOffset: 2 * (row * 3 + x),
                        as: UInt16.self)
                }
            }
        }
        let samples = try PNGDecoder.decode(folder.bytes(of: folder.result)).samples
        #expect(samples == [1000, 1001, 1002, 0, 1, 2])
    }

    /// What is not written is black and transparent, in every band.
    @Test func samplesAreZeroAtFirst() throws {
        let folder = try Folder()
        let layout = PixelLayout(width: 100, height: 1000, channels: 4, depth: 8)
        try PictureConverter(filters: [.invert()]).write(layout, to: folder.result) { _, _ in }
        let picture = try PNGDecoder.decode(folder.bytes(of: folder.result))
        #expect(
            Set(picture.samples.indices.filter { picture.samples[$0] == 0 }.map { $0 % 4 }) == [3])
    }

    /// An error of the source is the caller's, as it is.
    @Test func passesErrorsOn() throws {
        let folder = try Folder(Array(Self.maker.encoded.dropLast(20)))
        var rows = try PictureRows(contentsOf: folder.source)
        let layout = rows.layout
        expectFailure(.pngTruncated, start: "\(folder.source): reading ") {
            try PictureConverter().write(layout, to: folder.result) {
                samples, _ throws(PictureError) in
                while try rows.next({ lent, _ in
                    for index in samples.indices { samples[index] = lent[index] }
                }) {}
            }
        }
        #expect(try folder.list() == ["source.png"])
    }

    @Test func layoutsBeyondTheLimitsAreRefused() throws {
        let folder = try Folder()
        for (width, height) in [(1_000_001, 1), (1, .max), (.max, .max), (20_000, 20_000)] {
            let layout = PixelLayout(width: width, height: height, channels: 4, depth: 16)
            expectFailure(.tooManyPixels, start: "\(folder.result): ") {
                try PictureConverter().write(layout, to: folder.result) { _, _ in }
            }
        }
        #expect(try folder.list() == ["source.png"])
    }
}

extension ReferencePicture {
    /// A byte of the rows as they lie in memory.
    fileprivate func bytes(at index: Int) -> UInt8 {
        if layout.depth == 8 { return UInt8(samples[index]) }
        return withUnsafeBytes(of: samples[index / 2]) { $0[index % 2] }
    }
}
