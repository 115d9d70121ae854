import SystemPackage
import TestPictures
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

/// What is written, read back by the reader and by a decoder that shares nothing with it.
struct PNGWriterTests {
    static func noise(
        width: Int, height: Int, channels: Int, depth: Int, seed: UInt64 = 3
    ) -> ReferencePicture {
        .noise(width: width, height: height, channels: channels, depth: depth, seed: seed)
    }

    @Test(arguments: [1, 2, 3, 4], [8, 16])
    func writesEverySample(channels: Int, depth: Int) throws {
        for (width, height) in [(1, 1), (7, 9), (1, 300), (300, 1), (40, 33), (150, 400)] {
            for compression in PNGWriter.Compression.allCases {
                let picture = Self.noise(
                    width: width, height: height, channels: channels, depth: depth)
                let (file, output) = try OutputOptions(compression: compression).write(
                    ArrayStage(picture))
                #expect(try PNGDecoder.decode(file) == picture)
                let (read, reader) = try PNGReader.pixels(of: file)
                #expect(read == picture)
                #expect(reader.warnings.isEmpty)
                #expect(output.bytes == file.count)
                #expect(output.sha256 == SHA256Digest.hex(of: file))
            }
        }
    }

    @Test func aRowMayBeLargerThanAStrip() throws {
        var picture = ReferencePicture(
            layout: PixelLayout(width: 1_000_000, height: 2, channels: 4, depth: 16),
            samples: [UInt16](repeating: 0x1234, count: 8_000_000))
        for index in stride(from: 0, to: 8_000_000, by: 99_991) { picture.samples[index] = 7 }
        let (file, _) = try OutputOptions().write(ArrayStage(picture))
        let (read, reader) = try PNGReader.pixels(of: file)
        #expect(reader.layout == picture.layout)
        let isSame = read.bytes == picture.bytes
        #expect(isSame)
        #expect(PNGChunk.all(in: file)?.filter { $0.type == "IDAT" }.count == 2)
    }

    @Test(arguments: [OutputFormat.png, .jpeg]) func aFullDiskIsTransient(
        format: OutputFormat
    ) throws {
        let full = try FileDescriptor.open("/dev/full", .writeOnly)
        defer { try? full.close() }
        let picture = Self.noise(width: 10, height: 10, channels: 3, depth: 8)
        let error = PictureError(
            .writeFailed, "x: writing the file: No space left on device", isTransient: true,
            storageFailure: .full)
        #expect(throws: error) {
            try format.encoder.write(
                PictureEncoder.Input(
                    ArrayStage(picture), to: full, name: "x", OutputOptions(format: format)))
        }
    }

    @Test func aDescriptorThatCannotBeWrittenIsNot() throws {
        let null = try FileDescriptor.open("/dev/null", .readOnly)
        defer { try? null.close() }
        let picture = Self.noise(width: 10, height: 10, channels: 3, depth: 8)
        let error = try #require(throws: PictureError.self) {
            try PNGWriter.write(
                PictureEncoder.Input(ArrayStage(picture), to: null, name: "out.png"))
        }
        #expect(error.kind == .writeFailed)
        #expect(!error.isTransient)
    }

    @Test func stopsWhereItIsToldTo() throws {
        let picture = Self.noise(width: 300, height: 400, channels: 4, depth: 16)
        var asked = 0
        expectFailure(.cancelled) {
            try OutputOptions().write(
                ArrayStage(picture),
                checkpoint: {
                    asked += 1
                    return asked < 3
                })
        }
        #expect(asked == 3)
    }
}
