import TestPictures
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

/// Pictures that keep their palettes, held against those without: what the pipeline writes where other images need the
/// pixels too.
struct PaletteTests {
    private static let kinds = PixelKind.all.filter { $0.colourType == .palette && !$0.interlaced }

    /// One pixel at a time, and with three or four channels in the result.
    private static let filters: [[Filter]] = [
        [], [.sepia(intensity: 0.8)], [.saturate(amount: 1.7), .invert(amount: 1)],
        [.hueRotate(angle: 70), .gamma(0.6), .posterize(levels: 5)],
        [.brightness(amount: 1.4), .contrast(amount: 0.7), .grayscale(amount: 0.5)],
        [.opacity(amount: 0.4)], [.flatten(background: .white)],
    ]

    private func run(
        _ file: [UInt8], _ filters: [Filter], _ options: OutputOptions = OutputOptions(),
        asColours: Bool = false
    ) throws -> (file: [UInt8], report: PictureReport) {
        try PictureSteps(filters: filters, options: options)
            .run(file, handOver: asColours ? UnnamedFile() : nil)
    }

    private static func maker(_ width: Int, _ height: Int, depth: Int = 8) -> PNGMaker {
        PixelKind(colourType: .palette, depth: depth, interlaced: false)
            .noise(width: width, height: height)
    }

    /// A file whose data begin as if another compressor had made them, and the data.
    private static func file(
        _ maker: PNGMaker, rows: [UInt8]? = nil, head: [UInt8] = [0x78, 0x9C],
        adlerError: UInt32 = 0
    ) -> (file: [UInt8], data: [UInt8]) {
        let stream = maker.stream(of: rows ?? maker.filteredRows(), adlerError: adlerError)
        let data = head + stream.dropFirst(2)
        return (PNGChunk.file(maker.chunks(around: data)), data)
    }

    /// Checks that a result in sepia has the pixels of the one without a palette.
    private func expectColours(
        _ file: [UInt8], of source: [UInt8], location: SourceLocation = #_sourceLocation
    ) throws {
        let colours = try run(source, [.sepia(intensity: 1)], asColours: true).file
        let isSame = try PNGDecoder.decode(file) == PNGDecoder.decode(colours)
        #expect(isSame, sourceLocation: location)
    }

    /// The byte of IHDR with the kind of colours, and the one with the bits.
    private func header(_ file: [UInt8]) -> (colourType: UInt8, bits: UInt8) {
        (file[25], file[24])
    }

    @Test(arguments: kinds, filters.indices)
    func keepsItsPalette(kind: PixelKind, filters: Int) throws {
        for transparency in [nil, [0, 128], [255, 255]] as [[UInt8]?] {
            for (width, height) in [(31, 23), (1, 1), (3000, 70)] {
                var maker = kind.noise(width: width, height: height)
                maker.transparency = transparency
                let (file, report) = try run(maker.encoded, Self.filters[filters])
                let (colours, reference) = try run(
                    maker.encoded, Self.filters[filters], asColours: true)
                #expect(try PNGDecoder.decode(file) == PNGDecoder.decode(colours))
                #expect(header(file) == (3, UInt8(kind.depth)))
                #expect(header(colours).colourType != 3)
                var expected = reference
                (expected.bytes, expected.sha256) = (file.count, SHA256Digest.hex(of: file))
                for chunk in expected.metadata.keys { expected.metadata[chunk] = "kept" }
                #expect(report == expected)
            }
        }
    }

    /// As few bits as the number of colours needs.
    @Test(arguments: [(1, 1), (2, 1), (3, 2), (4, 2), (5, 4), (16, 4), (17, 8), (256, 8)])
    func bitsAreAsFewAsThereCanBe(colours: Int, bits: UInt8) throws {
        var maker = Self.maker(37, 19)
        maker.palette = Array(maker.palette[..<colours])
        maker.samples = maker.samples.map { $0 % UInt16(colours) }
        let (file, _) = try run(maker.encoded, [.sepia(intensity: 1)])
        #expect(header(file) == (3, bits))
        try expectColours(file, of: maker.encoded)
    }

    // MARK: The compressed indices

    /// The zlib stream of a file's pixels, and the sizes of its pieces.
    private func stream(_ file: [UInt8]) throws -> (bytes: [UInt8], pieces: [Int]) {
        let data = try #require(PNGChunk.all(in: file)).filter { $0.type == "IDAT" }.map(\.data)
        return (data.flatMap { $0 }, data.map(\.count))
    }

    /// They are copied if their compressor made an effort, in other chunks, and declare the largest window.
    @Test(
        arguments: [
            ([0x78, 0x9C], true), ([0x78, 0xDA], true), ([0x58, 0x85], true),
            ([0x78, 0x01], false),
            ([0x78, 0x5E], false),
        ] as [([UInt8], Bool)])
    func indicesAreCopied(head: [UInt8], isCopied: Bool) throws {
        for (width, height, bytesPerIDAT) in [(400, 1000, 8192), (31, 23, 1), (30, 20, 8192)] {
            var maker = Self.maker(width, height)
            maker.method = .stored
            maker.bytesPerIDAT = bytesPerIDAT
            let (source, given) = Self.file(maker, head: head)
            for compression in PNGWriter.Compression.allCases {
                let options = OutputOptions(compression: compression)
                let file = try run(source, [.sepia(intensity: 1)], options).file
                let (bytes, pieces) = try stream(file)
                try expectColours(file, of: source)
                let isCopy = bytes.dropFirst(2) == given.dropFirst(2)
                #expect(isCopy == (isCopied && compression != .small), "\(compression)")
                if !isCopy { continue }
                #expect(bytes[0] == 0x78 && bytes[1] & 0xC0 == head[1] & 0xC0)
                #expect((Int(bytes[0]) << 8 | Int(bytes[1])) % 31 == 0)
                #expect(pieces.dropLast().allSatisfy { $0 == 64 << 10 })
            }
        }
    }

    /// A source with rows too many is read with a warning, and its result has none.
    @Test func rowsTooManyAreNotCopied() throws {
        for (width, height) in [(400, 1000), (31, 23), (1, 1)] {
            var maker = Self.maker(width, height)
            maker.method = .stored
            let rows = maker.filteredRows()
            let surplus = Array(rows.prefix(rows.count / height))
            let (source, _) = Self.file(maker, rows: rows + surplus)
            let (file, report) = try run(source, [.sepia(intensity: 1)])
            #expect(
                report.warnings == [
                    "IDAT: too much image data: \(surplus.count) bytes after the last row"
                ])
            #expect(report.bytes == file.count && report.sha256 == SHA256Digest.hex(of: file))
            #expect(header(file) == (3, 8))
            let (again, second) = try run(file, [])
            #expect(second.warnings == [])
            try expectColours(again, of: source)
        }
    }

    /// The result has fewer bits than the source.
    @Test func indicesThatBecomeShorterAreNotCopied() throws {
        var maker = Self.maker(37, 19)
        maker.palette = Array(maker.palette[..<16])
        maker.samples = maker.samples.map { $0 % 16 }
        let (source, _) = Self.file(maker)
        let file = try run(source, [.sepia(intensity: 1)]).file
        #expect(header(file) == (3, 4))
        try expectColours(file, of: source)
    }

    /// Those that look at other pixels or places, those that give gray, and other formats.
    @Test(
        arguments: [
            ([.mono], .png), ([.grayscale(amount: 1)], .png),
            ([.resize(Filter.Resize(width: 10))], .png), ([.flip], .png), ([.blur(sigma: 1)], .png),
            ([.sepia(intensity: 1), .crop(.rectangle(x: 1, y: 1, width: 5, height: 5))], .png),
            ([.sepia(intensity: 1)], .jpeg),
        ] as [([Filter], OutputFormat)])
    func othersHaveNone(filters: [Filter], format: OutputFormat) throws {
        let options = OutputOptions(format: format)
        for kind in Self.kinds {
            let source = kind.noise(width: 31, height: 23).encoded
            let (file, report) = try run(source, filters, options)
            let (colours, reference) = try run(source, filters, options, asColours: true)
            #expect(file == colours && report == reference)
        }
    }

    @Test func interlacedOnesHaveNone() throws {
        let source = PixelKind(colourType: .palette, depth: 8, interlaced: true)
            .noise(width: 31, height: 23).encoded
        #expect(
            try run(source, [.sepia(intensity: 1)]).file
                == run(source, [.sepia(intensity: 1)], asColours: true).file)
    }

    // MARK: Damage

    /// Errors are those of colours: cut at every byte, and an index that is not in the palette.
    @Test func damageIsFoundAsInColours() throws {
        let good = Self.maker(23, 40, depth: 4)
        var maker = good
        maker.palette.removeLast()
        // The same as a stream that would be copied.
        let files = [
            maker.encoded, Self.file(maker).file, Self.file(maker, adlerError: 1).file,
            Self.file(good, adlerError: 1).file,
        ]
        let starts = [good.encoded, Self.file(good).file].flatMap { file in
            (8..<file.count).map { Array(file[..<$0]) }
        }
        for file in starts + files {
            let error = #expect(throws: PictureError.self) { try run(file, [.sepia(intensity: 1)]) }
            let expected = #expect(throws: PictureError.self) {
                try run(file, [.sepia(intensity: 1)], asColours: true)
            }
            #expect(error == expected)
        }
    }

    // MARK: Variants

    @Test(arguments: [[], [.sepia(intensity: 0.5)]] as [[Filter]])
    func variantsAreWhatSeparateImagesWouldBe(common: [Filter]) throws {
        let wishes =
            [
                [], [.saturate(amount: 1.5)], [.mono], [.resize(Filter.Resize(width: 9))],
                [.invert(amount: 1)],
            ].map { PictureVariantsTests.Wish(filters: $0) } + [
                PictureVariantsTests.Wish(options: OutputOptions(format: .jpeg)),
                PictureVariantsTests.Wish(handsOver: true),
            ]
        for kind in Self.kinds {
            let source = kind.noise(width: 300, height: 200).encoded
            let made = try PictureVariantsTests.together(source, common: common, wishes)
            #expect(try made == PictureVariantsTests.alone(source, common: common, wishes))
            #expect(made.allSatisfy { $0.error == nil })
            #expect(
                made.map { $0.file[25] == 3 } == [true, true, false, false, true, false, false])
        }
    }
}
