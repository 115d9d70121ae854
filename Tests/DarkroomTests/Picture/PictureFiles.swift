import CDarkroomPixels
import Foundation
import Synchronization
import SystemPackage
import TestPictures
import Testing

@testable import DarkroomPicture

/// An open file without a name that lives as long as this does.
final class UnnamedFile {
    let descriptor: FileDescriptor

    /// A file of these bytes, at its beginning.
    init(_ bytes: [UInt8] = []) throws {
        var path = Array(
            FileManager.default.temporaryDirectory.appending(path: "picture-XXXXXX").path
                .utf8CString)
        let number = mkstemp(&path)
        guard number >= 0 else { throw Errno(rawValue: errno) }
        unlink(path)
        descriptor = FileDescriptor(rawValue: number)
        try descriptor.writeAll(bytes)
        try descriptor.seek(offset: 0, from: .start)
    }

    deinit { try? descriptor.close() }

    /// All of its bytes.
    func contents() throws -> [UInt8] {
        let size = Int(try descriptor.seek(offset: 0, from: .end))
        return try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = try descriptor.read(
                fromAbsoluteOffset: 0, into: UnsafeMutableRawBufferPointer(buffer))
        }
    }
}

extension PictureSteps {
    /// Runs the pipeline: the file of the result, and the report.
    ///
    /// - Parameter handOver: gets the pixels for other images.
    func run(
        _ source: [UInt8], name: String = "in.png", handOver: UnnamedFile? = nil,
        preview: PicturePreview? = nil
    ) throws -> (file: [UInt8], report: PictureReport) {
        let (source, target) = (try UnnamedFile(source), try UnnamedFile())
        let result = PictureResult(
            target.descriptor, name: "out.png",
            handOver: handOver.map { HandOverFile(file: $0.descriptor, name: "pixels.png") },
            preview: preview)
        let report = try PicturePipeline.run(
            PictureConversion(name, self, to: result), .file(source.descriptor))
        return (try target.contents(), report)
    }
}

extension OutputOptions {
    /// The file that the writer makes of a stage's rows, and what it says.
    ///
    /// - Parameter change: of what the writer gets.
    func write(
        _ stage: any Stage, name: String = "x", colour: PictureColour = PictureColour(),
        exif: [UInt8]? = nil, change: (inout PictureEncoder.Input) -> Void = { _ in },
        memory: PictureMemory? = nil, cores: Cores = .shared,
        checkpoint: @escaping () -> Bool = { true }
    ) throws -> (file: [UInt8], written: WrittenPicture) {
        let target = try UnnamedFile()
        var input = PictureEncoder.Input(
            stage, to: target.descriptor, name: name, self, colour: colour, exif: exif,
            memory: memory, cores: cores, checkpoint: checkpoint)
        change(&input)
        let written = try format.encoder.write(input)
        return (try target.contents(), written)
    }
}

extension ReferencePicture {
    /// A picture, sample by sample.
    init(
        _ width: Int, _ height: Int, channels: Int, depth: Int = 8,
        sample: (_ x: Int, _ y: Int, _ channel: Int) -> UInt16
    ) {
        let grid = PixelGrid(width, height, channels: channels, depth: depth, sample: sample)
        self.init(layout: grid.layout, samples: grid.samples)
    }
}

/// What comes of reading a picture.
struct Reading: Equatable {
    var layout: PixelLayout?
    var bytes: [UInt8] = []
    var warnings: [String] = []
    var metadata: SourceMetadata?
    var colour: PictureColour?
    var exif: [UInt8]?
    var error: PictureError?

    init(_ input: PictureInput, _ limits: PictureLimits = PictureLimits(), divisor: Int = 1) {
        do throws(PictureError) {
            let reader = try PictureDecoder.reader(
                of: PictureDecoder.Input(
                    input, name: "x", limits: limits, divisor: { _, _, _ in divisor }))
            layout = reader.layout
            (bytes, error) = reader.bytesUntilError()
            (warnings, metadata) = (reader.warnings, reader.metadata)
            (colour, exif) = (reader.colour, reader.exif)
        } catch {
            self.error = error
        }
    }
}

/// Checks how a picture fails.
///
/// - Parameters:
///   - words: what the message has in it.
///   - start: what it begins with.
func expectFailure<Value>(
    _ kind: PictureError.Code, _ words: String = "", start: String = "",
    location: SourceLocation = #_sourceLocation, _ body: () throws -> Value
) {
    let error = #expect(throws: PictureError.self, sourceLocation: location) { _ = try body() }
    let message = error?.message ?? ""
    #expect(error?.kind == kind, "\(message)", sourceLocation: location)
    #expect(message.hasPrefix(start), "\(message)", sourceLocation: location)
    #expect(words.isEmpty || message.contains(words), "\(message)", sourceLocation: location)
}

extension PictureLimits {
    /// The usual limits, except what is changed.
    init(_ change: (inout Self) -> Void) {
        self.init()
        change(&self)
    }
}

/// A way of decoding pixels: code of our own with SIMD, the same in plain C, libpng.
struct DecodingWay: Sendable, CustomTestStringConvertible {
    let decoder: PNGReader.Decoder
    let level: darkroom_cpu

    static let all = [
        DecodingWay(decoder: .automatic, level: DARKROOM_CPU_AVX2),
        DecodingWay(decoder: .automatic, level: DARKROOM_CPU_SCALAR),
        DecodingWay(decoder: .reference, level: DARKROOM_CPU_AVX2),
    ]

    var testDescription: String {
        decoder == .reference
            ? "libpng" : "own code, \(level == DARKROOM_CPU_SCALAR ? "plain C" : "SIMD")"
    }

    /// The limit of the processor's instructions holds for the whole process.
    private static let limit = Mutex(())

    func pixels(of file: [UInt8]) throws -> (picture: ReferencePicture, reader: PNGReader) {
        let result = try Self.limit.withLock { _ in
            darkroom_cpu_limit(level)
            defer { darkroom_cpu_limit(DARKROOM_CPU_AVX512) }
            return Decoded(try PNGReader.pixels(of: file, decoder: decoder))
        }
        return (result.picture, result.reader)
    }

    /// Checks what each way makes of a file.
    static func expectAll(
        _ file: [UInt8], _ picture: ReferencePicture, _ comment: String = "",
        location: SourceLocation = #_sourceLocation
    ) throws {
        for way in all {
            #expect(
                try way.pixels(of: file).picture == picture, "\(way.testDescription) \(comment)",
                sourceLocation: location)
        }
    }

    /// What leaves the lock; nobody else holds the reader.
    private struct Decoded: @unchecked Sendable {
        let picture: ReferencePicture
        let reader: PNGReader

        init(_ pair: (picture: ReferencePicture, reader: PNGReader)) {
            (picture, reader) = pair
        }
    }
}

extension PNGReader {
    /// All pixels of a PNG file, and the reader that read them.
    static func pixels(
        of file: [UInt8], name: String = "x.png", limits: PictureLimits = PictureLimits(),
        decoder: Decoder = .automatic
    ) throws -> (picture: ReferencePicture, reader: PNGReader) {
        let source = try UnnamedFile(file)
        let reader = try PNGReader(
            PictureDecoder.Input(.file(source.descriptor), name: name, limits: limits),
            decoder: decoder)
        let bytes = try reader.allBytes()
        return (ReferencePicture(layout: reader.layout, bytes: bytes), reader)
    }
}

extension Stage {
    /// The bytes of all bands; checks that they follow each other.
    func allBytes() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var next = 0
        while let band = try nextBand() {
            precondition(band.rows.lowerBound == next && !band.rows.isEmpty)
            next = band.rows.upperBound
            bytes += UnsafeRawBufferPointer(
                start: band.start, count: band.rows.count * layout.bytesPerRow)
        }
        precondition(next == layout.height)
        return bytes
    }
}

extension Stage {
    /// The bytes of all bands up to the end, or up to the error that ends them.
    func bytesUntilError() -> (bytes: [UInt8], error: PictureError?) {
        var bytes: [UInt8] = []
        do throws(PictureError) {
            while let band = try nextBand() {
                bytes += UnsafeRawBufferPointer(
                    start: band.start, count: band.rows.count * layout.bytesPerRow)
            }
            return (bytes, nil)
        } catch {
            return (bytes, error)
        }
    }
}

/// A kind of PNG pixels.
struct PixelKind: Sendable, CustomTestStringConvertible {
    let colourType: PNGMaker.ColourType
    let depth: Int
    let interlaced: Bool

    var testDescription: String { "\(colourType) \(depth)\(interlaced ? " interlaced" : "")" }

    static let all = PNGMaker.ColourType.allCases.flatMap { colourType in
        colourType.depths.flatMap { depth in
            [false, true].map {
                PixelKind(colourType: colourType, depth: depth, interlaced: $0)
            }
        }
    }

    func noise(width: Int, height: Int, seed: UInt64 = 1) -> PNGMaker {
        .noise(
            width: width, height: height, colourType: colourType, depth: depth,
            interlaced: interlaced, seed: seed)
    }
}

extension PictureEncoder.Input {
    init(
        _ stage: any Stage, to file: FileDescriptor, name: String,
        _ options: OutputOptions = OutputOptions(),
        colour: PictureColour = PictureColour(), exif: [UInt8]? = nil,
        memory: PictureMemory? = nil, cores: Cores = .shared,
        checkpoint: @escaping () -> Bool = { true }
    ) {
        self.init(stage, to: file, name: name)
        self.options = options
        self.colour = colour
        self.exif = exif
        if let memory { self.memory = memory }
        self.cores = cores
        self.checkpoint = checkpoint
    }
}
