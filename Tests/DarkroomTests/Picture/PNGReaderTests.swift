import SystemPackage
import TestPictures
import Testing

@testable import DarkroomPicture

/// The reader's pixels against the arrays the files were made from.
struct PNGReaderTests {
    static let sizes = [
        (1, 1), (2, 1), (1, 2), (3, 5), (4, 5), (5, 4), (7, 7), (8, 8), (9, 9), (31, 33), (1, 40),
        (40, 1), (301, 5),
    ]

    /// Bytes of data in an IDAT; the last is more than there are.
    static let cuts = [1 << 20, 1, 7]

    @Test(arguments: PixelKind.all)
    func readsEverySample(of kind: PixelKind) throws {
        var cut = 0
        for (width, height) in Self.sizes {
            for filter in (0...4).map({ PNGMaker.RowFilter.fixed($0) }) + [.mixed] {
                var maker = kind.noise(width: width, height: height, seed: UInt64(width))
                maker.rowFilter = filter
                maker.bytesPerIDAT = Self.cuts[cut % Self.cuts.count]
                cut += 1
                let file = maker.encoded
                let reference = maker.reference
                for way in DecodingWay.all {
                    let (picture, reader) = try way.pixels(of: file)
                    #expect(
                        picture == reference,
                        "\(width) × \(height), \(filter), \(way.testDescription)")
                    #expect(reader.header.colourType == kind.colourType.rawValue)
                    #expect(reader.header.depth == kind.depth)
                    #expect(reader.header.isInterlaced == kind.interlaced)
                    #expect(reader.warnings == [])
                }
            }
        }
    }

    /// Of smooth pictures Paeth's and the average's guesses are often equally good, of noise hardly
    /// ever.
    @Test(arguments: PixelKind.all.filter { $0.depth >= 8 && !$0.interlaced })
    func readsSmoothPictures(of kind: PixelKind) throws {
        for filter in (1...4).map({ PNGMaker.RowFilter.fixed($0) }) + [.mixed] {
            var maker = kind.noise(width: 67, height: 35)
            maker.samples = maker.samples.indices.map { UInt16($0 % 67 / 3 + $0 / 200 % 5) }
            maker.rowFilter = filter
            try DecodingWay.expectAll(maker.encoded, maker.reference, "\(filter)")
        }
    }

    @Test(arguments: PixelKind.all.filter { $0.colourType == .gray || $0.colourType == .rgb })
    func oneColourIsTransparent(kind: PixelKind) throws {
        // Few values, so that the transparent one is met often. One bit above the depth is set in
        // tRNS, which must not count.
        var maker = kind.noise(width: 19, height: 13)
        maker.samples = maker.samples.map { $0 & 1 }
        let key: [UInt16] = kind.colourType == .gray ? [1] : [1, 0, 1]
        let stray: UInt16 = kind.depth < 16 ? 0x0100 : 0
        maker.transparency = key.flatMap { sample in
            [UInt8((sample | stray) >> 8), UInt8(sample & 0xFF)]
        }
        let reference = maker.reference
        for way in DecodingWay.all {
            let (picture, reader) = try way.pixels(of: maker.encoded)
            #expect(picture == reference, "\(way.testDescription)")
            #expect(picture.layout.hasAlpha && reader.hasTransparencyChunk)
        }
        let alphas = Set(
            stride(
                from: reference.layout.channels - 1, to: reference.samples.count,
                by: reference.layout.channels
            ).map { reference.samples[$0] })
        #expect(alphas == [0, kind.depth == 16 ? 65535 : 255])
    }

    @Test(arguments: PixelKind.all.filter { $0.colourType == .palette })
    func paletteEntriesAreTransparent(kind: PixelKind) throws {
        var maker = kind.noise(width: 19, height: 13)
        maker.transparency = Array([0, 128, 255].prefix(maker.palette.count))
        for way in DecodingWay.all {
            let (picture, _) = try way.pixels(of: maker.encoded)
            #expect(picture == maker.reference, "\(way.testDescription)")
            #expect(picture.layout.channels == 4)
        }
    }

    /// PNG wants tRNS behind PLTE. Of one before it libpng makes no alpha, and warns; so does our own decoder.
    @Test(arguments: PixelKind.all.filter { [.rgb, .palette].contains($0.colourType) })
    func transparencyBeforeThePaletteDoesNotCount(kind: PixelKind) throws {
        var maker = kind.noise(width: 19, height: 13)
        let isPalette = kind.colourType == .palette
        let key: [UInt8] =
            isPalette ? [0] : maker.samples[..<3].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        maker.early = [PNGChunk("tRNS", key)]
        if !isPalette { maker.palette = [[1, 2, 3], [4, 5, 6]] }
        var plain = maker
        plain.early = []
        for way in DecodingWay.all {
            let (picture, reader) = try way.pixels(of: maker.encoded)
            #expect(picture == plain.reference, "\(way.testDescription)")
            #expect(!picture.layout.hasAlpha && !reader.hasTransparencyChunk)
            #expect(
                reader.warnings == [isPalette ? "tRNS: out of place" : "PLTE: tRNS must be after"])
        }
        let report = try PictureSteps().run(maker.encoded).report
        #expect(report.metadata["tRNS"] == "dropped")
    }

    /// Compressed by a library: codes made for the picture, matches, several blocks.
    @Test(arguments: [8, 16], [false, true])
    func readsWhatEncodersMake(depth: Int, alpha: Bool) throws {
        let stars = Starfield(width: 300, height: 200, seed: 9).picture(depth: depth, alpha: alpha)
        let (file, _) = try OutputOptions().write(ArrayStage(stars))
        try DecodingWay.expectAll(file, stars)
    }

    /// libpng by itself would give black for them.
    @Test(arguments: PixelKind.all.filter { $0.colourType == .palette })
    func numbersBeyondThePaletteAreErrors(kind: PixelKind) throws {
        var maker = kind.noise(width: 5, height: 40)
        maker.samples = maker.samples.map { _ in 0 }
        maker.palette = [[10, 20, 30]]
        let good = maker
        maker.samples[17 * 5 + 2] = 1
        for way in DecodingWay.all {
            #expect(try way.pixels(of: good.encoded).picture == good.reference)
            let error = try #require(throws: PictureError.self) {
                try way.pixels(of: maker.encoded)
            }
            #expect(error.kind == .pngPalette)
            #expect(
                error.message
                    == "x.png: reading row 18 of 40: IDAT: a pixel has an index that is not in the palette"
            )
        }
    }

    @Test func fullPalettesHaveAllNumbers() throws {
        var maker = PixelKind(colourType: .palette, depth: 8, interlaced: false)
            .noise(width: 256, height: 2)
        maker.samples = (0..<512).map { UInt16($0 % 256) }
        try DecodingWay.expectAll(maker.encoded, maker.reference)
    }

    @Test(arguments: [(1, 5000), (70_000, 1), (70_000, 3), (300, 400)], [false, true])
    func bandsMayBeManyOrOneRow(size: (Int, Int), interlaced: Bool) throws {
        let kind = PixelKind(colourType: .rgba, depth: 16, interlaced: interlaced)
        var maker = kind.noise(width: size.0, height: size.1)
        maker.rowFilter = .fixed(1)
        maker.method = .stored
        let (file, reference) = (maker.encoded, maker.reference)
        for decoder in PNGReader.Decoder.allCases {
            #expect(try PNGReader.pixels(of: file, decoder: decoder).picture == reference)
        }
    }

    @Test(arguments: Deflater.Method.allCases, [1, 2, 3, 7, 1 << 20])
    func dataMayBeCutIntoChunksAnywhere(method: Deflater.Method, bytes: Int) throws {
        var maker = PNGMaker.noise(width: 21, height: 20, colourType: .rgb, depth: 8)
        maker.method = method
        maker.bytesPerIDAT = bytes
        try DecodingWay.expectAll(maker.encoded, maker.reference)
    }

    @Test func emptyDataChunksCountForNothing() throws {
        let maker = PNGMaker.noise(width: 5, height: 5, colourType: .rgb, depth: 8)
        var chunks = maker.chunks
        let data = try #require(chunks.firstIndex { $0.type == "IDAT" })
        chunks.insert(PNGChunk("IDAT"), at: data)
        chunks.insert(PNGChunk("IDAT"), at: data + 2)
        try DecodingWay.expectAll(PNGChunk.file(chunks), maker.reference)
    }

    /// What follows IEND, be it in the piece of the file that was read with it or not, is warned of.
    @Test(arguments: [false, true], PNGReader.Decoder.allCases)
    func warnsOfBytesBehindTheEnd(isLong: Bool, decoder: PNGReader.Decoder) throws {
        var maker = PNGMaker.noise(width: 3, height: 2, colourType: .gray, depth: 8)
        // Chunks are read 64 KiB at a time: the file ends with such a piece, or amid one.
        let spare = (64 << 10) - maker.encoded.count - 12
        if isLong { maker.early = [PNGChunk("prVt", [UInt8](repeating: 0, count: spare))] }
        #expect(!isLong || maker.encoded.count == 64 << 10)
        #expect(try PNGReader.pixels(of: maker.encoded, decoder: decoder).reader.warnings == [])
        let (picture, reader) = try PNGReader.pixels(of: maker.encoded + [0], decoder: decoder)
        #expect(picture == maker.reference)
        #expect(reader.warnings == ["IEND: trailing bytes after the end of the picture"])
    }

    @Test func readsFromAPipeAndStopsAtTheEnd() throws {
        let maker = PNGMaker.noise(width: 30, height: 20, colourType: .rgb, depth: 8)
        let (out, into) = try FileDescriptor.pipe()
        defer { try? out.close() }
        try into.writeAll(maker.encoded + Array("what follows is not looked at".utf8))
        try into.close()
        let reader = try PNGReader(PictureDecoder.Input(.file(out), name: "pipe"))
        #expect(try reader.allBytes() == maker.reference.bytes)
    }

    @Test(arguments: [false, true])
    func stopsWhereItIsToldTo(interlaced: Bool) throws {
        let kind = PixelKind(colourType: .rgb, depth: 8, interlaced: interlaced)
        let source = try UnnamedFile(kind.noise(width: 200, height: 700).encoded)
        var asked = 0
        let reader = try PNGReader(
            PictureDecoder.Input(
                .file(source.descriptor), name: "x.png",
                checkpoint: {
                    asked += 1
                    return asked < 3
                }))
        expectFailure(.cancelled) { try reader.drain() }
        #expect(asked == 3)
    }
}
