import SystemPackage
import TestPictures
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

/// What the writer makes, read by the reader, which is held to a maker of its own, and taken apart.
struct JPEGWriterTests {
    static func options(_ quality: Int, progressive: Bool = false) -> OutputOptions {
        OutputOptions(format: .jpeg, quality: quality, progressive: progressive)
    }

    static func picture(
        width: Int, height: Int, channels: Int, depth: Int = 8, samples: [UInt16]
    ) -> ReferencePicture {
        ReferencePicture(
            layout: PixelLayout(width: width, height: height, channels: channels, depth: depth),
            samples: samples)
    }

    @Test(arguments: [1, 3], [false, true])
    func keepsEverySampleAtFullQuality(channels: Int, progressive: Bool) throws {
        for (width, height) in JPEGReaderTests.sizes + [(300, 200)] {
            let samples = JPEGMaker.noise(width: width, height: height, channels: channels).samples
            let picture = Self.picture(
                width: width, height: height, channels: channels,
                samples: samples.map { UInt16($0) })
            let (file, written) = try Self.options(100, progressive: progressive).write(
                ArrayStage(picture))
            #expect(written.bytes == file.count)
            #expect(written.sha256 == SHA256Digest.hex(of: file))
            #expect(written.items == [])
            let (bytes, reader) = try JPEGReader.pixels(of: file)
            #expect(reader.layout == picture.layout)
            #expect(largestDifference(bytes, samples) <= (channels == 1 ? 1 : 4))
            #expect(reader.isProgressive == progressive)
            #expect(reader.warnings == [])
            #expect(reader.segments == ["JFIF"])
        }
    }

    /// The frame's components are number, sampling factors and table; 2 × 2 halves the others.
    @Test(arguments: [
        (3, 1, [0x22, 0x11, 0x11] as [UInt8]), (3, 85, [0x22, 0x11, 0x11]),
        (3, 89, [0x22, 0x11, 0x11]), (3, 90, [0x11, 0x11, 0x11]), (3, 100, [0x11, 0x11, 0x11]),
        (1, 50, [0x11]), (1, 95, [0x11]),
    ])
    func qualityDecidesOnColour(channels: Int, quality: Int, factors: [UInt8]) throws {
        let picture = Self.picture(
            width: 9, height: 7, channels: channels,
            samples: [UInt16](repeating: 99, count: 63 * channels))
        let (file, _) = try Self.options(quality).write(ArrayStage(picture))
        let frame = try #require(JPEGSegment.all(in: file)?.first { $0.marker == 0xC0 })
        let head: [UInt8] = [8, 0, 7, 0, 9, UInt8(channels)]
        #expect(Array(frame.data.prefix(6)) == head)
        let found: [UInt8] = (0..<channels).map { frame.data[7 + $0 * 3] }
        #expect(found == factors)
    }

    @Test func lessQualityMakesSmallerFiles() throws {
        let maker = JPEGMaker.noise(width: 64, height: 64, channels: 3)
        let picture = Self.picture(
            width: 64, height: 64, channels: 3, samples: maker.samples.map { UInt16($0) })
        let sizes = try [10, 50, 85, 95, 100].map {
            try Self.options($0).write(ArrayStage(picture)).file.count
        }
        #expect(sizes == sizes.sorted() && Set(sizes).count == sizes.count)
    }

    /// What is in the file grows while rows are still being asked for. A few kilobytes wait for more, and a progressive
    /// picture is written at the end.
    @Test(arguments: [(true, false, 15), (false, false, 1), (true, true, 1)])
    func rowsAreWrittenAsTheyCome(isNoise: Bool, progressive: Bool, sizesOnTheWay: Int) throws {
        let target = try UnnamedFile()
        let layout = PixelLayout(width: 2048, height: 1024, channels: 1, depth: 8)
        var sizes: [Int] = []
        let stage = try BandStage(layout, isNoise: isNoise) {
            sizes.append(Int((try? target.descriptor.seek(offset: 0, from: .end)) ?? 0))
        }
        let written = try JPEGWriter.write(
            PictureEncoder.Input(
                stage, to: target.descriptor, name: "x.jpg",
                Self.options(85, progressive: progressive)))
        #expect(sizes.count == 16)
        // A header, and the rows of the bands before.
        let growing = sizes.dropFirst()
        #expect(Set(growing).count == sizesOnTheWay && growing.sorted() == Array(growing))
        #expect(sizes[0] == 0 && sizes[15] < written.bytes)
        let bytes = try JPEGReader.pixels(of: target.contents()).bytes
        #expect(bytes.count == layout.bytes && (isNoise || bytes.allSatisfy { $0 == 77 }))
    }

    /// Rows of one gray or of noise, the same in each band.
    private final class BandStage: Stage {
        let layout: PixelLayout
        private let memory: FilterBuffer<UInt8>
        private let whenAsked: () -> Void
        private var next = 0

        init(
            _ layout: PixelLayout, isNoise: Bool = false, whenAsked: @escaping () -> Void = {}
        ) throws {
            self.layout = layout
            self.whenAsked = whenAsked
            memory = try FilterBuffer(count: layout.rowsPerBand * layout.bytesPerRow)
            memory.start.update(repeating: 77, count: memory.count)
            guard isNoise else { return }
            var random = SplitMix64(seed: 1)
            for index in 0..<memory.count {
                memory.start[index] = UInt8(truncatingIfNeeded: random.next())
            }
        }

        func nextBand() throws(PictureError) -> Band? {
            guard next < layout.height else { return nil }
            whenAsked()
            let rows = next..<min(layout.height, next + layout.rowsPerBand)
            next = rows.upperBound
            return Band(start: UnsafeMutableRawPointer(memory.start), rows: rows)
        }
    }

    // MARK: What a JPEG does not hold

    /// The first samples in the middle of tiles of 8 × 8 pixels of one value each, which come back exactly.
    private static func written(tiles: [[UInt16]], depth: Int) throws -> [[UInt8]] {
        let picture = ReferencePicture(
            tiles.count * 8, 8, channels: tiles[0].count, depth: depth
        ) { x, _, channel in tiles[x / 8][channel] }
        let (file, _) = try options(100).write(ArrayStage(picture))
        let (bytes, reader) = try JPEGReader.pixels(of: file)
        let channels = reader.layout.channels
        return tiles.indices.map { Array(bytes[($0 * 8 + 4) * channels..<($0 * 8 + 5) * channels]) }
    }

    /// Every value of 16 bits becomes v · 255 / 65535, rounded.
    @Test func sixteenBitsAreRounded() throws {
        let values: [UInt16] = [0, 128, 129, 384, 386, 32_767, 32_768, 65_150, 65_151, 65_535]
        let expected = values.map { [UInt8((Double($0) * 255 / 65535).rounded())] }
        #expect(try Self.written(tiles: values.map { [$0] }, depth: 16) == expected)
    }

    @Test(arguments: [8, 16])
    func transparencyIsLaidOverWhite(depth: Int) throws {
        let full = depth == 8 ? 255.0 : 65535.0
        let values: [(gray: Double, alpha: Double)] = [
            (0, 0), (1, 0), (0, 1), (0.5, 1), (0, 0.5), (0.25, 0.25), (1, 0.5), (0.75, 0.125),
        ]
        let tiles = values.map {
            [UInt16(($0.gray * full).rounded()), UInt16(($0.alpha * full).rounded())]
        }
        let expected = tiles.map { tile in
            let alpha = Double(tile[1]) / full
            let value = Double(tile[0]) / full * alpha + 1 - alpha
            return [UInt8((value * 255).rounded())]
        }
        #expect(try Self.written(tiles: tiles, depth: depth) == expected)
    }

    @Test(arguments: [8, 16])
    func colourIsLaidOverWhite(depth: Int) throws {
        let full: UInt16 = depth == 8 ? 255 : 65535
        let found = try Self.written(tiles: [[full, 0, full / 2, full / 5]], depth: depth)[0]
        #expect(largestDifference(found, [255, 204, 229]) <= 1)
    }

    // MARK: What goes with the pixels

    @Test func writesProfileAndDensity() throws {
        var colour = PictureColour()
        colour.profile = .init(name: Array("p".utf8), bytes: ICCProfileMaker.profile(space: "RGB "))
        colour.density = .init(x: 2835, y: 11811, unit: 1)
        colour.gamma = 45455
        let picture = Self.picture(width: 1, height: 1, channels: 3, samples: [1, 2, 3])
        for progressive in [false, true] {
            let (file, written) = try Self.options(85, progressive: progressive).write(
                ArrayStage(picture), colour: colour)
            #expect(written.items == [.profile, .density])
            let segments = try #require(JPEGSegment.all(in: file))
            #expect(segments[0].data.starts(with: Array("JFIF\0".utf8)))
            #expect(Array(segments[0].data[7..<12]) == [1, 0, 72, 1, 44])
            let reader = try JPEGReader.pixels(of: file).reader
            #expect(reader.colour.profile?.bytes == colour.profile?.bytes)
            #expect(reader.colour.density == colour.density)
        }
    }

    @Test func largeProfilesAreCutIntoSegments() throws {
        let profile = ICCProfileMaker.profile(space: "GRAY", padding: 200_000)
        var colour = PictureColour()
        colour.profile = .init(name: Array("p".utf8), bytes: profile)
        let (file, _) = try OutputOptions(format: .jpeg).write(
            ArrayStage(Self.picture(width: 1, height: 1, channels: 1, samples: [1])), colour: colour
        )
        #expect(try JPEGReader.pixels(of: file).reader.colour.profile?.bytes == profile)
    }

    // MARK: Ends

    @Test func sidesHaveALimit() throws {
        let layout = PixelLayout(width: 65_501, height: 1, channels: 1, depth: 8)
        expectFailure(.tooManyPixels, "65501 × 1 pixels") {
            try OutputOptions(format: .jpeg).write(BandStage(layout))
        }
        let (file, _) = try OutputOptions(format: .jpeg).write(
            ArrayStage(
                Self.picture(
                    width: 65_500, height: 1, channels: 1,
                    samples: [UInt16](repeating: 7, count: 65_500))))
        #expect(try JPEGReader.pixels(of: file).reader.layout.width == 65_500)
    }

    @Test(arguments: [(85, 6), (90, 3 * 4)])
    func progressivePicturesAreCounted(quality: Int, blocks: Int) throws {
        let picture = Self.picture(
            width: 16, height: 16, channels: 3, samples: [UInt16](repeating: 7, count: 768))
        let memory = PictureMemory(limit: blocks * 128)
        _ = try Self.options(quality, progressive: true).write(ArrayStage(picture), memory: memory)
        #expect(memory.held == 0)
        let less = PictureMemory(limit: blocks * 128 - 1)
        expectFailure(.tooManyPixels) {
            try Self.options(quality, progressive: true).write(ArrayStage(picture), memory: less)
        }
        _ = try Self.options(quality).write(ArrayStage(picture), memory: less)
    }

    @Test func stopsWhereItIsToldTo() throws {
        let picture = Self.picture(width: 1, height: 1, channels: 1, samples: [1])
        #expect(throws: PictureError(.cancelled, "x: cancelled while writing")) {
            try OutputOptions(format: .jpeg).write(ArrayStage(picture), checkpoint: { false })
        }
    }
}
