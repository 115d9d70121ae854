import SystemPackage
import TestPictures
import TestSupport
import Testing

@testable import DarkroomPicture

/// Strips on several cores: always the same bytes, and an end however it comes.
@Suite(.tags(.concurrency)) struct StripEncoderTests {
    /// Of some ten strips, of which some look like a photograph, some toned, some like a drawing.
    static let picture: ReferencePicture = {
        var random = SplitMix64(seed: 21)
        var bits: UInt64 = 0
        return ReferencePicture(320, 1200, channels: 3) { column, row, channel in
            if channel == 0 { bits = random.next() }
            switch row / 400 {
            case 0: return 90 + UInt16(bits >> (8 * channel) & 15)
            case 1: return (100 + UInt16(bits & 31)) * [10, 9, 7][channel] / 10
            default:
                let light: UInt16 = (row / 20 + column / 30) % 2 == 0 ? 20 : 210
                return channel < 2 ? light : 255 - light
            }
        }
    }()

    /// The file that each of these numbers of cores writes; it has the same pixels.
    static func write(
        _ picture: ReferencePicture, _ compression: PNGWriter.Compression, cores: [Int] = [1],
        _ name: String = ""
    ) throws -> [UInt8] {
        let files = try cores.map { count in
            let cores = Cores(count: count)
            cores.enter()
            return try OutputOptions(compression: compression)
                .write(ArrayStage(picture), cores: cores).file
        }
        #expect(Set(files).count == 1, "\(name)")
        let isSame = try PNGDecoder.decode(files[0]) == picture
        #expect(isSame, "\(name)")
        return files[0]
    }

    @Test(arguments: PNGWriter.Compression.allCases)
    func coresDoNotChangeTheBytes(compression: PNGWriter.Compression) throws {
        let file = try Self.write(Self.picture, compression, cores: [1, 2, 4, 16])
        let isSame = try PNGReader.pixels(of: file).picture == Self.picture
        #expect(isSame)
        #expect(PNGChunk.all(in: file)?.contains { $0.type == "IDAT" } == true)
    }

    /// The more time is spent, the smaller is the file.
    @Test func compressionsAreOrdered() throws {
        let sizes = try [PNGWriter.Compression.fast, .balanced, .small].map {
            try OutputOptions(compression: $0).write(
                ArrayStage(Self.picture), cores: Cores(count: 2)
            ).written.bytes
        }
        #expect(sizes[0] > sizes[1])
        #expect(sizes[1] > sizes[2])
    }

    /// Small pieces of noise, repeated all over, of which there are more and more towards the bottom:
    /// libdeflate makes several blocks of each strip.
    static func drawing(width: Int, height: Int) -> ReferencePicture {
        var random = SplitMix64(seed: 6)
        let glyphs = (0..<64).map { _ in (0..<40).map { _ in UInt16(random.next() & 255) } }
        var samples = [UInt16](repeating: 245, count: width * height * 3)
        for row in stride(from: 0, to: height - 5, by: 6) {
            for column in stride(from: 0, to: width - 8, by: 9) {
                let glyph = glyphs[Int(random.next() % UInt64(1 + 63 * row / height))]
                for index in 0..<40 {
                    let at = ((row + index / 8) * width + column + index % 8) * 3
                    for channel in 0..<3 { samples[at + channel] = glyph[index] }
                }
            }
        }
        return ReferencePicture(
            layout: PixelLayout(width: width, height: height, channels: 3, depth: 8),
            samples: samples)
    }

    /// The differences of a drawing repeat less than the drawing itself, so its rows are left as
    /// they are; without a search for matches it would be many times larger.
    @Test(arguments: PNGWriter.Compression.allCases)
    func drawingsAreNotFiltered(compression: PNGWriter.Compression) throws {
        let picture = Self.drawing(width: 400, height: 500)
        let file = try Self.write(picture, compression, cores: [2])
        #expect(file.count < picture.bytes.count / 8)
        let stream = try #require(PNGChunk.all(in: file)).filter { $0.type == "IDAT" }
        let rows = try Inflater.zlib(stream.flatMap(\.data))
        let lines = stride(from: 0, to: rows.count, by: picture.layout.bytesPerRow + 1)
        #expect(lines.allSatisfy { rows[$0] == 0 })
    }

    /// A tile of noise, of few colours or of a smooth surface, over the whole picture or, in its middle
    /// third, beneath more noise.
    static func pattern(
        tile: (width: Int, height: Int), width: Int, height: Int, depth: Int = 8, values: UInt64,
        isBroken: Bool = false
    ) -> ReferencePicture {
        var random = SplitMix64(seed: values)
        let scale: UInt64 = depth == 8 ? 1 : 257
        let count = tile.width * 3
        let shades = (0..<count * tile.height).map { index -> UInt16 in
            let slope = UInt64(index / count + index % count / 3) % 64
            return UInt16((random.next() % values * (256 / values) + slope) & 255 * scale)
        }
        return ReferencePicture(width, height, channels: 3, depth: depth) { x, row, channel in
            let noise: UInt64 = isBroken && row / (height / 3) == 1 ? 7 : 0
            let shade = shades[row % tile.height * count + (3 * x + channel) % count]
            return shade ^ UInt16(random.next() & noise)
        }
    }

    /// What repeats further up is found across strips, whose bytes nevertheless depend on nothing but
    /// rows: the filtered and the unfiltered, where strips that know of each other begin and end.
    @Test(arguments: PNGWriter.Compression.allCases)
    func patternsCrossStrips(compression: PNGWriter.Compression) throws {
        for (name, picture, most) in [
            ("noise", Self.pattern(tile: (100, 64), width: 100, height: 1300, values: 256), 24_000),
            ("smooth", Self.pattern(tile: (50, 90), width: 100, height: 1300, values: 2), 13_000),
            ("two", Self.pattern(tile: (3, 40), width: 180, height: 800, values: 4), 6_000),
            (
                "16 bits",
                Self.pattern(tile: (40, 50), width: 80, height: 900, depth: 16, values: 256), 20_000
            ),
            (
                "broken",
                Self.pattern(
                    tile: (60, 64), width: 120, height: 1200, values: 256, isBroken: true), 190_000
            ),
        ] {
            let file = try Self.write(picture, compression, cores: [1, 3], name)
            #expect(file.count < most, "\(name)")
        }
    }

    /// Of several ways that are tried on rows with and without filters, the checksum is that of the way
    /// taken, whichever was tried last: here the filtered rows win after the others were ahead.
    @Test(arguments: PNGWriter.Compression.allCases)
    func checksumIsOfTheRowsTaken(compression: PNGWriter.Compression) throws {
        // Tall enough for two strips of the largest size, which repeat each other.
        let layout = PixelLayout(width: 130, height: 8861, channels: 1, depth: 8)
        let row = (0..<layout.width).map { UInt16($0) }
        let picture = ReferencePicture(
            layout: layout, samples: (0..<layout.height).flatMap { _ in row })
        let file = try Self.write(picture, compression)
        let isRead = try PNGReader.pixels(of: file).picture == picture
        #expect(isRead)
    }

    @Test func picturesShareTheCores() async throws {
        let cores = Cores(count: 4)
        let digests = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    cores.enter()
                    defer { cores.leave() }
                    return try OutputOptions().write(ArrayStage(Self.picture), cores: cores).written
                        .sha256
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
                try OutputOptions().write(
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
                PictureEncoder.Input(
                    ArrayStage(Self.picture), to: full, name: "out.png", cores: cores))
        }
        #expect(error.kind == .writeFailed)
        #expect(cores.idle == 3)
    }

    /// Many cores make many strips, but not of the widest rows.
    @Test(arguments: [(4_000, 3, 8, 10), (100_000, 3, 8, 10), (1_000_000, 4, 16, 2)])
    func stripsAreBounded(width: Int, channels: Int, depth: Int, strips: Int) {
        let layout = PixelLayout(width: width, height: 200, channels: channels, depth: depth)
        let encoder = StripEncoder(
            layout, PNGWriter.Compression.balanced.effort, cores: Cores(count: 32), name: "out.png")
        defer { encoder.close() }
        #expect(encoder.mostStrips == strips)
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
