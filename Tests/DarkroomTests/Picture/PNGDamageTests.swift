import CDarkroomShims
import SystemPackage
import TestPictures
import Testing

@testable import DarkroomPicture

/// Broken files fail, each with its own code, and never pass with gray pixels.
struct PNGDamageTests {
    /// A palette and at least three IDATs, as `PNGDamage` asks for.
    static func maker(interlaced: Bool = false) -> PNGMaker {
        var maker = PNGMaker.noise(
            width: 24, height: 24, colourType: .palette, depth: 8, interlaced: interlaced)
        maker.bytesPerIDAT = 150
        return maker
    }

    static func failure(
        of file: [UInt8], name: String = "x.png", limits: PictureLimits = PictureLimits(),
        decoder: PNGReader.Decoder = .automatic
    ) -> PictureError? {
        #expect(throws: PictureError.self) {
            try PNGReader.pixels(of: file, name: name, limits: limits, decoder: decoder)
        }
    }

    @Test(arguments: PNGDamage.failing, PNGReader.Decoder.allCases)
    func isAnError(_ damage: PNGDamage, decoder: PNGReader.Decoder) throws {
        let error = try #require(
            Self.failure(of: damage.file(from: Self.maker()), decoder: decoder))
        #expect(error.kind == damage.code, "\(error.message)")
        #expect(error.message.hasPrefix("x.png: "))
        #expect(!error.isTransient)
    }

    /// Rows that are not expanded, and of 16 bits, take a way of their own.
    @Test(
        arguments: PNGDamage.failing.filter { !$0.isOfThePalette },
        [
            PixelKind(colourType: .rgb, depth: 8, interlaced: false),
            PixelKind(colourType: .grayAlpha, depth: 16, interlaced: false),
            PixelKind(colourType: .gray, depth: 4, interlaced: false),
        ])
    func isAnErrorWithoutAPaletteToo(_ damage: PNGDamage, kind: PixelKind) throws {
        var maker = kind.noise(width: 48, height: 24)
        maker.bytesPerIDAT = 150
        let file = damage.file(from: maker)
        for decoder in PNGReader.Decoder.allCases {
            let error = try #require(Self.failure(of: file, decoder: decoder))
            #expect(error.kind == damage.code, "\(decoder): \(error.message)")
        }
    }

    @Test(arguments: [
        PNGDamage.crcOfData, .crcOfLastData, .wrongAdler, .missingAdler, .changedPixel, .badBlock,
        .tooFewRows, .missingLastByteOfRows, .dataChunkAfterOthers, .missingSecondDataChunk,
        .missingEnd,
        .crcOfEnd,
    ])
    func isAnErrorInterlacedToo(_ damage: PNGDamage) throws {
        let error = try #require(
            Self.failure(of: damage.file(from: Self.maker(interlaced: true))))
        #expect(error.kind == damage.code, "\(error.message)")
    }

    /// What stands behind the last row decides no pixel.
    @Test(arguments: PNGDamage.allCases.filter(\.isHarmless), [false, true])
    func whatFollowsTheLastRowIsWarnedOf(_ damage: PNGDamage, interlaced: Bool) throws {
        let maker = Self.maker(interlaced: interlaced)
        let file = damage.file(from: maker)
        for decoder in PNGReader.Decoder.allCases {
            let (picture, reader) = try PNGReader.pixels(of: file, decoder: decoder)
            #expect(picture == maker.reference)
            #expect(reader.warnings.count == 1, "\(reader.warnings)")
            let words = damage == .tooManyRows ? "oo much image data" : "xtra compressed data"
            #expect(reader.warnings.first?.contains(words) == true, "\(reader.warnings)")
        }
    }

    /// More data behind a stream that ends with one of the reader's pieces.
    @Test(arguments: [1, 40_000, 200_000], PNGReader.Decoder.allCases)
    func dataBehindAPieceAreWarnedOf(extra: Int, decoder: PNGReader.Decoder) throws {
        var maker = PNGMaker.noise(width: 65536 - 12, height: 1, colourType: .gray, depth: 8)
        maker.method = .stored
        maker.bytesPerIDAT = 1 << 20
        let stream = maker.stream(of: maker.filteredRows())
        #expect(stream.count == 65536)
        let file = PNGChunk.file(
            maker.chunks(around: stream + [UInt8](repeating: 0, count: extra)))
        let (picture, reader) = try PNGReader.pixels(of: file, decoder: decoder)
        #expect(picture == maker.reference)
        #expect(reader.warnings == ["IDAT: extra compressed data: \(extra) bytes after its end"])
    }

    /// Behind rows too many, the checksum is compared all the same.
    @Test func aWrongChecksumBehindRowsTooManyIsAnError() throws {
        let maker = Self.maker()
        let rows = maker.filteredRows()
        let stream = maker.stream(of: rows + rows.prefix(25), adlerError: 1)
        let file = PNGChunk.file(maker.chunks(around: stream))
        #expect(Self.failure(of: file)?.kind == .pngAdler)
    }

    /// A stream that goes on and on behind the last row is not decompressed to its end, which takes minutes where it is
    /// made for that.
    @Test(arguments: [false, true], PNGReader.Decoder.allCases)
    func aStreamThatGoesOnIsCutShort(interlaced: Bool, decoder: PNGReader.Decoder) throws {
        var maker = PNGMaker.noise(
            width: 4, height: 3, colourType: .gray, depth: 8, interlaced: interlaced)
        maker.method = .stored
        maker.bytesPerIDAT = 1 << 16
        let rows = maker.filteredRows()
        func file(_ extra: Int) -> [UInt8] {
            let stream = maker.stream(of: rows + [UInt8](repeating: 0, count: extra))
            return PNGChunk.file(maker.chunks(around: stream))
        }
        let (picture, reader) = try PNGReader.pixels(of: file(100), decoder: decoder)
        #expect(picture == maker.reference)
        #expect(reader.warnings.count == 1)
        #expect(
            reader.warnings.first?.contains("oo much image data") == true, "\(reader.warnings)")
        let error = try #require(Self.failure(of: file(6 << 20), decoder: decoder))
        #expect(error.kind == .pngData)
        #expect(error.message.contains("more "), "\(error.message)")
    }

    /// The rows before damage are kept, the others are gray and opaque, and a warning names the first of them.
    @Test(arguments: [
        PNGDamage.crcOfLastData, .wrongAdler, .missingAdler, .badBlock, .tooFewRows,
        .filterNumberFive, .missingEnd,
    ])
    func damageCanBeKept(_ damage: PNGDamage) throws {
        let limits = PictureLimits { $0.damaged = .keep }
        for kind in [
            PixelKind(colourType: .rgb, depth: 8, interlaced: false),
            PixelKind(colourType: .rgba, depth: 16, interlaced: false),
            PixelKind(colourType: .palette, depth: 8, interlaced: false),
            PixelKind(colourType: .gray, depth: 8, interlaced: true),
        ] {
            if kind.interlaced, damage == .filterNumberFive { continue }
            var maker = kind.noise(width: 48, height: 24)
            maker.bytesPerIDAT = 150
            let (picture, reader) = try PNGReader.pixels(
                of: damage.file(from: maker), limits: limits)
            #expect(picture.samples.count == maker.reference.samples.count)
            let warning = try #require(reader.warnings.first)
            #expect(warning.hasPrefix("damaged "), "\(kind): \(warning)")
            if let row = warning.firstMatch(of: /^damaged from row ([0-9]+) of 24 on:/)?.1 {
                let rowSamples = picture.samples.count / 24
                let good = (Int(row) ?? 0) - 1
                #expect(
                    picture.samples.prefix(good * rowSamples)
                        == maker.reference.samples.prefix(good * rowSamples))
                #expect(
                    picture.samples[good * rowSamples] == (kind.depth == 16 ? 0x8080 : 0x80))
            }
        }
    }

    /// Blocks that give nothing are read at some hundred megabytes a second at best, and nobody can
    /// interrupt it.
    @Test(arguments: [false, true], PNGReader.Decoder.allCases)
    func aStreamOfEmptyBlocksIsNotFollowedToItsEnd(
        interlaced: Bool, decoder: PNGReader.Decoder
    ) throws {
        let maker = PNGMaker.noise(
            width: 9, height: 9, colourType: .rgb, depth: 8, interlaced: interlaced)
        // Four blocks of fixed codes with nothing but their end, a million times.
        var blocks: [UInt8] = [0x02, 0x08, 0x20, 0x80, 0x00]
        for _ in 0..<20 { blocks += blocks }
        let file = PNGChunk.file(maker.chunks(around: [0x78, 0x01] + blocks))
        let error = Self.failure(of: file, decoder: decoder)
        #expect(error?.kind == .pngData)
        #expect(error?.message.hasSuffix("continue for too long without pixels") == true)
    }

    /// A last row as large as its stream is not taken for one that goes on.
    @Test(arguments: [1_000_000, 131_072, 65_000], PNGReader.Decoder.allCases)
    func aLastRowMayBeLarge(width: Int, decoder: PNGReader.Decoder) throws {
        var maker = PNGMaker.noise(width: width, height: 1, colourType: .gray, depth: 8)
        maker.method = .stored
        maker.bytesPerIDAT = 8192
        let file = PNGChunk.file(maker.chunks(around: maker.stream(of: maker.filteredRows())))
        #expect(try PNGReader.pixels(of: file, decoder: decoder).picture == maker.reference)
    }

    /// The cap on a single request: of libpng's, by asking for less than zlib needs; and of the buffers for code of our own,
    /// which take a row and some 200 KiB.
    @Test(arguments: [
        (4096, DARKROOM_PNG_REFERENCE, DARKROOM_PNG_LIMIT),
        (1 << 20, DARKROOM_PNG_AUTOMATIC, DARKROOM_PNG_OK),
        (1 << 17, DARKROOM_PNG_AUTOMATIC, DARKROOM_PNG_LIMIT),
    ])
    func nobodyGetsMoreMemoryThanAllowed(
        largest: Int, decoder: darkroom_png_decoder, result: darkroom_png_result
    ) throws {
        let source = try UnnamedFile(Self.maker().encoded)
        let reader = try #require(
            darkroom_png_reader_new(source.descriptor.rawValue, largest, 1 << 20))
        defer { darkroom_png_reader_free(reader) }
        var header = darkroom_png_header()
        var rowBytes = 0
        #expect(darkroom_png_reader_open(reader, &header) == DARKROOM_PNG_OK)
        for _ in 0..<(decoder == DARKROOM_PNG_REFERENCE ? 2 : 1) {
            #expect(darkroom_png_reader_start(reader, decoder, &rowBytes) == result)
        }
    }

    @Test(arguments: PNGReader.Decoder.allCases)
    func messageNamesFileRowAndCause(decoder: PNGReader.Decoder) throws {
        var maker = PNGMaker.noise(width: 100, height: 512, colourType: .rgb, depth: 8)
        maker.method = .stored
        var chunks = maker.chunks
        let last = try #require(chunks.lastIndex { $0.type == "IDAT" })
        chunks[last].crcError = 1
        let error = try #require(
            Self.failure(of: PNGChunk.file(chunks), name: "k04.png", decoder: decoder))
        // Before the damaged chunk lie 18 of 8 KiB each: 489 whole rows of 301 bytes.
        #expect(error.message == "k04.png: reading row 490 of 512: IDAT: CRC error")
    }

    /// The rows before damage are read also where all of the file is in the reader's first piece. Of a file
    /// that ends too early they are all that are there, of a wrong checksum those of the chunks before it.
    @Test(arguments: PNGReader.Decoder.allCases)
    func rowsBeforeDamageAreRead(decoder: PNGReader.Decoder) throws {
        var maker = PNGMaker.noise(width: 100, height: 40, colourType: .rgb, depth: 8)
        maker.method = .stored
        // Signature, IHDR, and the beginnings of IDAT, of zlib's stream and of its block; rows of 301 bytes.
        let rows = 8 + 25 + 8 + 2 + 5
        for (bytes, row) in [(0, 1), (300, 1), (301, 2), (10 * 301 + 50, 11), (40 * 301 + 2, 40)] {
            let file = Array(maker.encoded.prefix(rows + bytes))
            let error = try #require(Self.failure(of: file, decoder: decoder))
            #expect(error.kind == .pngTruncated)
            #expect(
                error.message == "x.png: reading row \(row) of 40: the file ends too early")
        }
        maker.bytesPerIDAT = 1000
        for (chunk, row) in [(0, 1), (1, 4), (3, 10)] {
            var chunks = maker.chunks
            let first = try #require(chunks.firstIndex { $0.type == "IDAT" })
            chunks[first + chunk].crcError = 1
            let error = try #require(Self.failure(of: PNGChunk.file(chunks), decoder: decoder))
            #expect(error.message == "x.png: reading row \(row) of 40: IDAT: CRC error")
        }
    }

    @Test func wordsOfLibpngAreMarked() throws {
        for (decoder, words) in [(PNGReader.Decoder.automatic, "Adler-32"), (.reference, "libpng")]
        {
            let file = PNGDamage.wrongAdler.file(from: Self.maker())
            let error = try #require(Self.failure(of: file, decoder: decoder))
            #expect(
                error.message
                    == "x.png: reading row 24 of 24: IDAT: incorrect data check (\(words))")
        }
    }

    private func expectTheChecksumIsCompared(_ maker: PNGMaker) throws {
        let stream = maker.stream(of: maker.filteredRows(), adlerError: 1)
        let (good, wrong) = (maker.encoded, PNGChunk.file(maker.chunks(around: stream)))
        for decoder in PNGReader.Decoder.allCases {
            #expect(try PNGReader.pixels(of: good, decoder: decoder).picture == maker.reference)
            #expect(Self.failure(of: wrong, decoder: decoder)?.kind == .pngAdler)
        }
    }

    /// The compressed data's last bytes, each in a chunk of its own or two together: libpng by
    /// itself looks at no more than one chunk after the last row and would not see the checksum.
    @Test(arguments: [1, 2, 3, 5], Deflater.Method.allCases)
    func checksumMayBeScattered(bytes: Int, method: Deflater.Method) throws {
        var maker = Self.maker()
        maker.method = method
        maker.bytesPerIDAT = bytes
        try expectTheChecksumIsCompared(maker)
    }

    /// The same where the data are long and end anywhere about the size of the reader's pieces.
    @Test(arguments: (65536 - 4...65536 + 10).map { $0 } + (131072 - 4...131072 + 12).map { $0 })
    func checksumMayLieAcrossPieces(streamBytes: Int) throws {
        // A header of 2 bytes, 5 for each stored block of up to 65535, 4 of checksum.
        let blocks = streamBytes < 100_000 ? 1 : 2
        let rowBytes = streamBytes - 6 - 5 * blocks
        let maker = {
            var maker = PNGMaker.noise(
                width: rowBytes - 1, height: 1, colourType: .gray, depth: 8)
            maker.method = .stored
            return maker
        }()
        #expect(maker.stream(of: maker.filteredRows()).count == streamBytes)
        try expectTheChecksumIsCompared(maker)
    }

    @Test(arguments: PixelKind.all.filter { $0.depth >= 8 })
    func cutOffAnywhereIsTruncated(kind: PixelKind) {
        let maker = kind.noise(width: 5, height: 4)
        let file = maker.encoded
        for count in 0..<file.count {
            for decoder in PNGReader.Decoder.allCases {
                let error = Self.failure(of: Array(file.prefix(count)), decoder: decoder)
                #expect(
                    error?.kind == (count < 8 ? .notAPicture : .pngTruncated), "\(count) bytes")
            }
        }
    }

    /// Any change of any byte of a file without ancillary chunks must be noticed: checksums cover
    /// all of it.
    @Test(arguments: [false, true])
    func noByteMayBeChanged(interlaced: Bool) {
        var maker = PNGMaker.noise(
            width: 5, height: 4, colourType: .palette, depth: 4, interlaced: interlaced)
        maker.bytesPerIDAT = 30
        let file = maker.encoded
        for index in file.indices {
            for mask: UInt8 in [0x01, 0x20, 0x80, 0xFF] {
                var changed = file
                changed[index] ^= mask
                // A file whose first IDAT is no longer called so ends in an error just the same.
                for decoder in PNGReader.Decoder.allCases {
                    #expect(
                        Self.failure(of: changed, decoder: decoder) != nil,
                        "byte \(index) xor \(mask)")
                }
            }
        }
    }

    @Test func ofAnAnimationTheDefaultPictureIsRead() throws {
        var maker = Self.maker()
        maker.middle = [PNGChunk("acTL", [0, 0, 0, 2, 0, 0, 0, 0])]
        let (picture, reader) = try PNGReader.pixels(of: maker.encoded)
        #expect(picture == maker.reference)
        #expect(
            reader.warnings == ["this is an animation (APNG); only its default picture is read"])
        // After the pixels, it makes no animation.
        (maker.middle, maker.late) = ([], maker.middle)
        #expect(try PNGReader.pixels(of: maker.encoded).picture == maker.reference)
    }

    @Test func limitsAreExact() throws {
        let file = Self.maker(interlaced: true).encoded
        let limits: [(WritableKeyPath<PictureLimits, Int>, Int)] = [
            (\.side, 24), (\.pixels, 576), (\.wholePictureBytes, 1728),
        ]
        for (limit, value) in limits {
            _ = try PNGReader.pixels(
                of: file, limits: PictureLimits { $0[keyPath: limit] = value })
            let less = PictureLimits { $0[keyPath: limit] = value - 1 }
            #expect(Self.failure(of: file, limits: less)?.kind == .tooManyPixels)
        }
    }
}
