import Foundation
import SystemPackage
import TestPictures
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

/// What the codec programs write, in the real processes, read again by them.
struct CodecWriterTests {
    struct Way: CustomTestStringConvertible, Sendable {
        let options: OutputOptions
        /// The channels that the reader finds.
        var channels: @Sendable (PixelLayout) -> Int = { $0.channels }
        /// The largest difference of a sample, of 16 bits if the file has so many.
        var difference = 0

        var testDescription: String {
            let options = options
            return "\(options.format) \(options.depth(of: Self.wide)) \(options.tiffCompression)"
        }
        private static let wide = PixelLayout(width: 1, height: 1, channels: 1, depth: 16)
    }

    /// WebP has no gray, and the reader makes RGB of it in AVIF.
    private static let rgb: @Sendable (PixelLayout) -> Int = { $0.hasAlpha ? 4 : 3 }

    static let exact = [
        Way(options: OutputOptions(format: .webp, lossless: true), channels: rgb),
        Way(options: OutputOptions(format: .avif, lossless: true), channels: rgb),
        // 10 and 12 bits are read as 16: half a step.
        Way(
            options: OutputOptions(format: .avif, lossless: true, depth: 10), channels: rgb,
            difference: 33),
        Way(
            options: OutputOptions(format: .avif, lossless: true, depth: 12), channels: rgb,
            difference: 9),
        Way(options: OutputOptions(format: .tiff, tiffCompression: .none)),
        Way(options: OutputOptions(format: .tiff, tiffCompression: .deflate)),
        Way(options: OutputOptions(format: .tiff, tiffCompression: .lzw)),
        Way(options: OutputOptions(format: .tiff, depth: 8)),
        Way(options: OutputOptions(format: .jpegXL, lossless: true)),
        Way(options: OutputOptions(format: .jpegXL, lossless: true, depth: 8)),
    ]

    static let sizes = [(1, 1), (7, 13), (64, 1), (1, 70), (301, 200)]

    @Test(arguments: exact, [8, 16]) func keepsEverySample(_ way: Way, depth: Int) throws {
        for channels in 1...4 {
            for (width, height) in Self.sizes {
                let picture = Self.noise(width, height, channels, depth)
                let (file, written) = try way.options.write(ArrayStage(picture))
                #expect(written.bytes == file.count)
                #expect(written.sha256 == SHA256Digest.hex(of: file))
                #expect(written.remarks == [])
                let kind = way.options.format.encoder.kind
                #expect(InputFormat(prefix: file.prefix(InputFormat.prefixLength)) == kind)
                let reader = try CodecReaderTests.reader(of: .content(file), kind)
                let found = ReferencePicture(
                    layout: reader.layout, bytes: try reader.allBytes())
                let expected = Self.expected(picture, way)
                #expect(found.layout == expected.layout)
                #expect(found.difference(from: expected) <= way.difference)
                #expect(reader.warnings == [])
                if way.options.format == .avif {
                    #expect(reader.facts.storedDepth == way.options.depth(of: picture.layout))
                }
            }
        }
    }

    /// A smooth picture with each default, at least 34 dB.
    @Test(arguments: [OutputFormat.webp, .avif, .jpegXL], [8, 16])
    func losesLittle(format: OutputFormat, depth: Int) throws {
        for channels in 1...4 {
            let most = 1 << depth - 1
            let picture = ReferencePicture(200, 120, channels: channels, depth: depth) {
                x, y, channel in
                // Translucent: a file may leave out the alpha of what is opaque, and the colour of what is transparent.
                if channels % 2 == 0, channel == channels - 1 { return UInt16(most / 255 * 200) }
                let part = (x * (channel + 1) + y * 2) % 400
                return UInt16(most * min(part, 400 - part) / 200)
            }
            var way = Way(options: OutputOptions(format: format))
            if format != .jpegXL { way.channels = Self.rgb }
            let (file, _) = try way.options.write(ArrayStage(picture))
            let reader = try CodecReaderTests.reader(of: .content(file), format.encoder.kind)
            let found = ReferencePicture(layout: reader.layout, bytes: try reader.allBytes())
            let expected = Self.expected(picture, way)
            #expect(found.layout == expected.layout)
            let error = found.meanSquareError(from: expected)
            // 10^-3.4.
            #expect(error <= 0.000398, "\(channels) channels")
        }
    }

    @Test func eachOptionCounts() throws {
        let picture = Self.noise(200, 150, 3, 8)
        func size(_ options: OutputOptions) throws -> Int {
            try options.write(ArrayStage(picture)).file.count
        }
        for format in [OutputFormat.webp, .avif, .jpegXL] {
            let poor = try size(OutputOptions(format: format, quality: 20))
            let good = try size(OutputOptions(format: format, quality: 95))
            let exact = try size(OutputOptions(format: format, quality: 20, lossless: true))
            #expect(poor < good && good < exact, "\(format)")
            #expect(
                try size(OutputOptions(format: format, effort: 1))
                    != size(OutputOptions(format: format, effort: 6)))
        }
        // The ends of the scale, too.
        let small = Self.noise(24, 20, 3, 8)
        for format in OutputOption.effort.formats {
            for effort in [0, 10] {
                for lossless in [false, true] {
                    _ = try OutputOptions(format: format, lossless: lossless, effort: effort).write(
                        ArrayStage(small))
                }
            }
        }
        #expect(
            try size(OutputOptions(format: .avif))
                < size(OutputOptions(format: .avif, chroma: .full)))
        #expect(
            try size(OutputOptions(format: .tiff, tiffCompression: .none)) > 200 * 150 * 3)
    }

    @Test(arguments: [OutputFormat.webp, .avif, .tiff, .jpegXL])
    func keepsProfileAndExif(format: OutputFormat) throws {
        let profile = ICCProfileMaker.profile(space: "RGB ", padding: 700_000)
        var colour = PictureColour()
        colour.profile = PictureColour.Profile(bytes: profile)
        let exif = JPEGSegment.tiff(orientation: 1)
        let (file, written) = try OutputOptions(format: format).write(
            ArrayStage(Self.noise(40, 30, 3, 8)), colour: colour, exif: format == .tiff ? nil : exif
        )
        let reader = try CodecReaderTests.reader(of: .content(file), format.encoder.kind)
        if format != .tiff { #expect(reader.exif == exif) }
        let isKept = written.items.contains(.profile)
        #expect((reader.colour.profile?.bytes == profile) == isKept)
        // libjxl takes only profiles whose colours it can compute, and this has none.
        #expect(isKept == (format != .jpegXL))
        #expect(
            written.remarks
                == (isKept ? [] : ["the colour profile is dropped: libjxl cannot use it"]))
    }

    @Test func keepsDensityAndCodePoints() throws {
        var colour = PictureColour()
        colour.density = PictureColour.Density(x: 11_811, y: 11_811, unit: 1)
        colour.codePoints = [9, 16, 0, 1]
        let picture = Self.noise(20, 10, 3, 8)
        let (tiff, written) = try OutputOptions(format: .tiff).write(
            ArrayStage(picture), colour: colour)
        #expect(written.items == [.density])
        let reader = try CodecReaderTests.reader(of: .content(tiff), .tiff)
        #expect(reader.colour.density == colour.density)
        let (_, other) = try OutputOptions(format: .avif).write(ArrayStage(picture), colour: colour)
        #expect(other.items == [.codePoints])
    }

    /// The memory that the child gets is enough for what takes libwebp most, for its size. Lossless noise of up to 200 pixels
    /// a side takes four fifths of it, a larger one a third.
    @Test(arguments: [120, 160, 200, 290, 380, 400], [6, 9]) func noiseHasItsMemory(
        side: Int, effort: Int
    ) throws {
        for channels in [3, 4] {
            for isLossless in [true, false] {
                try Self.writeNoise(side, effort, isLossless, channels)
            }
        }
    }

    /// At the highest effort, lossless noise of all sizes would take minutes. It needs at most 6 % more memory than at the
    /// effort before, so three such pictures are enough. Lossy colours with alpha need seven tenths of the limit.
    @Test(arguments: [
        (200, true, 3), (200, true, 4), (290, true, 3),
        (200, false, 3), (200, false, 4), (290, false, 3), (290, false, 4),
        (330, false, 3), (330, false, 4), (400, false, 3), (400, false, 4),
    ])
    func noiseHasItsMemoryAtTheHighestEffort(side: Int, isLossless: Bool, channels: Int) throws {
        try Self.writeNoise(side, 10, isLossless, channels)
    }

    private static func writeNoise(
        _ side: Int, _ effort: Int, _ isLossless: Bool, _ channels: Int
    ) throws {
        let options = OutputOptions(format: .webp, lossless: isLossless, effort: effort)
        let picture = ArrayStage(noise(side, side, channels, 8))
        #expect(try !options.write(picture).file.isEmpty)
    }

    @Test(arguments: [2, 4, 6, 7]) func aDrawingHasItsMemory(effort: Int) throws {
        // libaom takes it for a screen, and needs 30 MB for it if it may look for repetitions.
        let file = Repository.root.appending(path: "etc/samples/pictures/comet.png")
        let drawing = try PNGReader.pixels(of: Array(Data(contentsOf: file))).picture
        let options = OutputOptions(format: .avif, effort: effort)
        #expect(try !options.write(ArrayStage(drawing)).file.isEmpty)
    }

    /// libjxl takes most for what repeats: a picture of one colour, and letters on a page.
    @Test(arguments: [0, 4, 5, 6, 7, 8, 10]) func aScreenHasItsMemory(effort: Int) throws {
        let file = Repository.root.appending(path: "etc/doc/page.png")
        let page = try PNGReader.pixels(of: Array(Data(contentsOf: file))).picture
        // The letters are above the pictures.
        let layout = PixelLayout(width: page.layout.width, height: 600, channels: 3, depth: 8)
        let count = layout.bytesPerRow * layout.height
        for samples in [Array(page.samples.prefix(count)), Array(repeating: 200, count: count)] {
            let picture = ReferencePicture(layout: layout, samples: samples)
            for isLossless in [false, true] {
                let options = OutputOptions(
                    format: .jpegXL, lossless: isLossless, effort: effort)
                #expect(try !options.write(ArrayStage(picture)).file.isEmpty)
            }
        }
    }

    @Test func sidesHaveALimit() throws {
        let none = try FileDescriptor.open("/dev/null", .readWrite)
        defer { try? none.close() }
        for (format, side, name) in [
            (OutputFormat.webp, 16_384, "a WebP may have at most 16383"),
            (.avif, 65_537, "an AVIF may have at most 65536"),
        ] {
            for layout in [
                PixelLayout(width: side, height: 1, channels: 3, depth: 8),
                PixelLayout(width: 1, height: side, channels: 3, depth: 8),
            ] {
                let error = PictureError(
                    .tooManyPixels,
                    "x: writing the header: \(layout.width) × \(layout.height) pixels; a side of"
                        + " \(name)")
                #expect(throws: error) {
                    try format.encoder.write(
                        PictureEncoder.Input(
                            BlankStage(layout), to: none, name: "x", OutputOptions(format: format)))
                }
            }
        }
    }

    /// What is not there is refused before a row is pulled.
    @Test func aMissingProgramNamesItsPackage() throws {
        let target = try UnnamedFile()
        let encoder = CodecEncoder(
            format: .avif, program: CodecProgram("heif-nothing"), memory: { _, _, _ in 0 })
        let layout = PixelLayout(width: 4, height: 4, channels: 3, depth: 8)
        #expect(
            throws: PictureError(
                .codecMissing,
                "x: the program darkroom-codec-heif-nothing, which writes it, is not installed: install"
                    + " the package darkroom")
        ) {
            try CodecWriter.write(
                PictureEncoder.Input(BlankStage(layout), to: target.descriptor, name: "x"),
                encoder)
        }
        #expect(OutputFormat.allCases.compactMap(\.absence) == [])
    }

    /// The memory is counted: a child with what is counted has enough, also for noise; and a picture that may not have so
    /// much is refused before a row is pulled.
    @Test(arguments: [
        OutputOptions(format: .webp, quality: 100), OutputOptions(format: .webp, lossless: true),
        OutputOptions(format: .avif, quality: 100, chroma: .full),
        OutputOptions(format: .avif, lossless: true, effort: 2, depth: 10),
        OutputOptions(format: .avif, lossless: true, effort: 2, depth: 12),
        OutputOptions(format: .tiff), OutputOptions(format: .jpegXL, quality: 100),
        OutputOptions(format: .jpegXL, lossless: true),
    ]) func itsMemoryIsCounted(_ options: OutputOptions) throws {
        // A codec for WebP gets 8 bits of either.
        for depth in options.format == .webp ? [8] : [8, 16] {
            let picture = Self.noise(800, 600, 4, depth)
            _ = try options.write(ArrayStage(picture))
            expectFailure(.tooManyPixels, start: "x: writing \(options.format.title): needs") {
                try options.write(
                    BlankStage(picture.layout), memory: PictureMemory(limit: 1000))
            }
        }
    }

    // MARK: Support

    static func noise(
        _ width: Int, _ height: Int, _ channels: Int, _ depth: Int
    ) -> ReferencePicture {
        .noise(
            width: width, height: height, channels: channels, depth: depth,
            seed: UInt64(width * 31 + height * 7 + channels))
    }

    /// The samples with the depth and the channels of the file, as they are read.
    static func expected(_ picture: ReferencePicture, _ way: Way) -> ReferencePicture {
        picture.converted(
            channels: way.channels(picture.layout),
            depth: way.options.depth(of: picture.layout) > 8 ? 16 : 8)
    }
}

/// An encoder that misbehaves ends its picture with a clear error, and nothing else.
struct BadEncoderTests {
    private static let encoder = CodecEncoder(
        format: .webp, program: CodecProgram("bad"), memory: { _, _, _ in 1 << 20 })

    private static let program = "the program darkroom-codec-bad "
    private static let nonsense = "says something that makes no sense"

    static let cases: [(way: String, code: PictureError.Code, words: String)] =
        [
            ("crash-at-end", .codecCrashed, program + "was ended by signal 11"),
            ("leave", .codecCrashed, program + "ended with status 9"),
            ("spin", .codecTime, program + "has used 1 seconds of the processor"),
            (
                "memory", .memoryLimit,
                "there is no memory for 1 MiB; a smaller effort or a smaller picture needs less"
            ),
            ("silent", .codecTime, program + "has said nothing for 1 seconds"),
            (
                "open", .codecCrashed,
                program + "was ended because it made a system call that it may not make"
            ),
            ("refuse", .writeFailed, "it cannot"),
        ]
        + [
            "short", "bytes-of-rows", "bytes-of-no-slot", "many-bytes", "no-bytes", "gap",
            "far-away", "large-for-ever", "free-no-slot", "free-twice", "rows-back",
            "end-without-rows", "end-without-bytes", "damaged", "warnings", "for-ever",
        ].map { ($0, .codecCrashed, program + nonsense) }

    @Test(arguments: cases)
    func endsOnlyItsPicture(way: String, code: PictureError.Code, words: String) throws {
        var limits = PictureLimits()
        if way == "spin" { limits.codecSeconds = 1 }
        if way == "silent" { limits.codecSilence = 1 }
        let error = #expect(throws: PictureError.self) { try Self.write(way, limits) }
        #expect(error?.kind == code && error?.message == "x: writing the end: \(words)")
        // The next one is written well.
        let (file, written) = try Self.write("good")
        #expect(file == Array("good: \((0..<192).reduce(0, +))".utf8))
        #expect(written.sha256 == SHA256Digest.hex(of: file))
        #expect(written.bytes == file.count)
        #expect(written.remarks == ["a remark"])
    }

    /// A child that says nothing of its choice is not believed.
    @Test(arguments: [OutputOptions(format: .webp, ssim: 0.9), .init(format: .webp, maxBytes: 99)])
    func aChoiceIsChecked(_ options: OutputOptions) throws {
        let target = try UnnamedFile()
        var input = Self.input("good", to: target.descriptor)
        input.options = options
        let message = "x: writing the end: \(Self.program)\(Self.nonsense)"
        #expect(throws: PictureError(.codecCrashed, message)) {
            try CodecWriter.write(input, Self.encoder)
        }
    }

    @Test func crashesWithASignal() throws {
        // SIGILL or SIGTRAP, as the processor has it.
        expectFailure(.codecCrashed, "was ended by signal") { try Self.write("crash") }
    }

    @Test(arguments: ["silent", "spin", "for-ever", "warnings"])
    func aCancellationEndsIt(way: String) throws {
        let clock = ContinuousClock()
        let end = clock.now + .milliseconds(300)
        let took = clock.measure {
            let error = #expect(throws: PictureError.self) {
                try Self.write(way) { clock.now < end }
            }
            #expect(
                error?.kind == .cancelled
                    // They end by themselves before.
                    || error?.kind == .codecCrashed && ["for-ever", "warnings"].contains(way))
        }
        #expect(took < .seconds(1.3))
    }

    @Test func aFullFileIsAnErrorOfTheFile() throws {
        let full = try FileDescriptor.open("/dev/full", .readWrite)
        defer { try? full.close() }
        let error = #expect(throws: PictureError.self) {
            try CodecWriter.write(Self.input("good", to: full), Self.encoder)
        }
        #expect(error?.kind == .writeFailed && error?.storageFailure == .full)
    }

    /// The result stands where the file was.
    @Test func writesFromTheOffsetOn() throws {
        let target = try UnnamedFile(Array("before ".utf8))
        try target.descriptor.seek(offset: 7, from: .start)
        let written = try CodecWriter.write(
            Self.input("good", to: target.descriptor), Self.encoder)
        #expect(try target.descriptor.seek(offset: 0, from: .current) == 7 + Int64(written.bytes))
        let bytes = try target.contents()
        #expect(bytes.starts(with: "before good: ".utf8))
        #expect(written.sha256 == SHA256Digest.hex(of: Array(bytes.dropFirst(7))))
    }

    private static func input(
        _ way: String, to file: FileDescriptor, _ limits: PictureLimits = PictureLimits(),
        _ checkpoint: @escaping () -> Bool = { true }
    ) -> PictureEncoder.Input {
        let picture = ReferencePicture(
            layout: PixelLayout(width: 8, height: 8, channels: 3, depth: 8),
            samples: (0..<192).map { UInt16($0) })
        var input = PictureEncoder.Input(
            ArrayStage(picture), to: file, name: "x", exif: Array(way.utf8),
            checkpoint: checkpoint)
        input.limits = limits
        return input
    }

    private static func write(
        _ way: String, _ limits: PictureLimits = PictureLimits(),
        _ checkpoint: @escaping () -> Bool = { true }
    ) throws -> (file: [UInt8], written: WrittenPicture) {
        let target = try UnnamedFile()
        let written = try CodecWriter.write(
            input(way, to: target.descriptor, limits, checkpoint), encoder)
        return (try target.contents(), written)
    }
}
