import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Darkroom

/// Strips on several cores: always the same bytes, and an end however it comes.
@Suite struct StripEncoderTests {
    /// Of some ten strips, of which some look like a photograph, some toned, some like a drawing.
    static let picture: ReferencePicture = {
        let layout = PixelLayout(width: 320, height: 1200, channels: 3, depth: 8)
        var random = SplitMix64(seed: 21)
        var samples: [UInt16] = []
        samples.reserveCapacity(layout.bytesPerRow * layout.height)
        for row in 0..<layout.height {
            for column in 0..<layout.width {
                let bits = random.next()
                switch row / 400 {
                case 0:
                    for channel in 0..<3 { samples.append(90 + UInt16(bits >> (8 * channel) & 15)) }
                case 1:
                    let light = 100 + UInt16(bits & 31)
                    samples += [light, light * 9 / 10, light * 7 / 10]
                default:
                    let light: UInt16 = (row / 20 + column / 30) % 2 == 0 ? 20 : 210
                    samples += [light, light, 255 - light]
                }
            }
        }
        return ReferencePicture(layout: layout, samples: samples)
    }()

    static func write(
        _ stage: any Stage, cores: Cores, compression: PNGWriter.Compression = .balanced,
        checkpoint: () -> Bool = { true }
    ) throws -> (file: [UInt8], output: PNGWriter.Output) {
        let target = try UnnamedFile()
        let output = try PNGWriter.write(
            stage, to: target.descriptor, name: "out.png", compression: compression, cores: cores,
            checkpoint: checkpoint)
        return (try target.contents(), output)
    }

    @Test(arguments: PNGWriter.Compression.allCases)
    func coresDoNotChangeTheBytes(compression: PNGWriter.Compression) throws {
        var files: Set<[UInt8]> = []
        for count in [1, 2, 4, 16] {
            let cores = Cores(count: count)
            cores.enter()
            let written = try Self.write(
                ArrayStage(Self.picture), cores: cores, compression: compression)
            files.insert(written.file)
        }
        #expect(files.count == 1)
        let file = try #require(files.first)
        let isSame = try PNGReader.pixels(of: file).picture == Self.picture
        #expect(isSame)
        #expect(PNGChunk.all(in: file)?.contains { $0.type == "IDAT" } == true)
    }

    /// The more time is spent, the smaller is the file.
    @Test func compressionsAreOrdered() throws {
        let sizes = try [PNGWriter.Compression.fast, .balanced, .small].map {
            try Self.write(
                ArrayStage(Self.picture), cores: Cores(count: 2), compression: $0
            ).output.bytes
        }
        #expect(sizes[0] > sizes[1])
        #expect(sizes[1] > sizes[2])
    }

    @Test func picturesShareTheCores() async throws {
        let cores = Cores(count: 4)
        let digests = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    cores.enter()
                    defer { cores.leave() }
                    return try Self.write(ArrayStage(Self.picture), cores: cores).output.sha256
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(digests.count == 1)
        #expect(cores.idle == 4)
    }

    @Test func cancellationWaitsForTheHelpers() throws {
        for last in 1...12 {
            let cores = Cores(count: 3)
            var asked = 0
            let error = try #require(throws: PictureError.self) {
                try Self.write(
                    ArrayStage(Self.picture), cores: cores,
                    checkpoint: {
                        asked += 1
                        return asked <= last % 8
                    })
            }
            #expect(error.kind == .cancelled)
            #expect(cores.idle == 3)
        }
    }

    @Test func aFullDiskEndsTheHelpersToo() throws {
        let full = try FileDescriptor.open("/dev/full", .writeOnly)
        defer { try? full.close() }
        let cores = Cores(count: 3)
        let error = try #require(throws: PictureError.self) {
            try PNGWriter.write(
                ArrayStage(Self.picture), to: full, name: "out.png", cores: cores)
        }
        #expect(error.kind == .writeFailed)
        #expect(cores.idle == 3)
    }

    @Test func coresAreLentOnlyWhereTheyAreIdle() {
        let cores = Cores(count: 2)
        cores.enter()
        #expect(cores.tryBorrow())
        #expect(!cores.tryBorrow())
        #expect(!cores.isShort)
        // A second picture wants the core that was lent.
        cores.enter()
        #expect(cores.isShort)
        cores.giveBack()
        #expect(!cores.isShort)
        #expect(!cores.tryBorrow())
        cores.leave()
        #expect(cores.tryBorrow())
        #expect(cores.idle == 0)
    }
}
