import SystemPackage
import TestPictures
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

/// What the codec programs read, in the real processes.
struct CodecReaderTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let kind: InputFormat
        let file: [UInt8]
        var hasAlpha = false
        var difference = 0
    }

    static let cases = [
        Case(testDescription: "WebP", kind: .webp, file: CodecSamples.webp),
        Case(
            testDescription: "WebP with alpha", kind: .webp, file: CodecSamples.webpAlpha,
            hasAlpha: true),
        Case(
            testDescription: "lossy WebP", kind: .webp, file: CodecSamples.webpLossy,
            difference: 40),
        Case(testDescription: "TIFF", kind: .tiff, file: CodecSamples.tiff),
        Case(
            testDescription: "TIFF with alpha", kind: .tiff, file: CodecSamples.tiffAlpha,
            hasAlpha: true),
        Case(testDescription: "GIF", kind: .gif, file: CodecSamples.gif),
        Case(testDescription: "BMP", kind: .bmp, file: CodecSamples.bmp),
        Case(testDescription: "AVIF", kind: .avif, file: CodecSamples.avif, difference: 3),
        Case(testDescription: "JPEG XL", kind: .jpegXL, file: CodecSamples.jxl),
    ]

    /// The picture of all samples.
    static func pixels(hasAlpha: Bool) -> [UInt8] {
        (0..<6).flatMap { y in
            (0..<8).flatMap { x -> [UInt8] in
                let colour = [UInt8(x * 30), UInt8(y * 40), UInt8((x + y) * 15)]
                return hasAlpha ? colour + [y == 0 ? 255 : UInt8(x * 36)] : colour
            }
        }
    }

    @Test(arguments: cases) func readsEveryPixel(_ test: Case) throws {
        #expect(InputFormat(prefix: test.file.prefix(InputFormat.prefixLength)) == test.kind)
        let file = try UnnamedFile(test.file)
        for input in [PictureInput.content(test.file), .file(file.descriptor)] {
            let reader = try Self.reader(of: input, test.kind)
            let channels = test.hasAlpha ? 4 : 3
            #expect(
                reader.layout == PixelLayout(width: 8, height: 6, channels: channels, depth: 8))
            let difference = largestDifference(
                try reader.allBytes(), Self.pixels(hasAlpha: test.hasAlpha))
            #expect(difference <= test.difference)
            #expect(reader.warnings == [])
            #expect(reader.orientation == .topLeft)
            #expect(reader.format == test.kind)
            try reader.drain()
        }
    }

    /// Its inks are those that are missing for white, without black.
    @Test func inksBecomeColours() throws {
        let reader = try Self.reader(of: .content(CodecSamples.tiffCMYK), .tiff)
        let colours = Self.pixels(hasAlpha: false)
        var expected: [UInt8] = []
        for pixel in stride(from: 0, to: colours.count, by: 3) {
            expected += colours[pixel..<pixel + 3].map { 255 - $0 } + [0]
        }
        try expected.withUnsafeMutableBytes {
            CMYKConverter(to: reader.layout, table: CMYKModel.sRGB)
                .convert(try #require($0.baseAddress), rows: 6)
        }
        #expect(try reader.allBytes() == Array(expected.prefix(reader.layout.bytes)))
        #expect(reader.colour.profile == nil)
    }

    /// A file that ends at any place is refused, or whole: the bytes that are missing have no pixels.
    @Test(arguments: cases) func endsAtAnyPlace(_ test: Case) throws {
        for count in stride(from: test.file.count - 1, to: 0, by: -3) {
            do {
                let part = Array(test.file.prefix(count))
                let bytes = try Self.reader(of: .content(part), test.kind).allBytes()
                let whole = try Self.reader(of: .content(test.file), test.kind).allBytes()
                #expect(bytes == whole, "\(count) bytes")
            } catch let error as PictureError {
                let codes: [PictureError.Code] = [
                    .pictureTruncated, .pictureDamaged, .unsupportedFormat,
                ]
                #expect(codes.contains(error.kind), "\(count) bytes: \(error)")
            }
        }
    }

    /// Exif of a WebP and the tag of a TIFF say how it lies. The container of an AVIF turns the rows themselves, and then
    /// nothing is to be turned again.
    @Test func turnsOnce() throws {
        for (file, kind) in [
            (CodecSamples.webpTurned, InputFormat.webp), (CodecSamples.tiffTurned, .tiff),
        ] {
            let reader = try Self.reader(of: .content(file), kind)
            #expect(reader.orientation == Orientation(rawValue: 6), "\(kind)")
            #expect(try reader.allBytes() == Self.pixels(hasAlpha: false), "\(kind)")
        }
        let reader = try Self.reader(of: .content(CodecSamples.avifTurned), .avif)
        #expect(reader.orientation == .topLeft)
        #expect(reader.layout == PixelLayout(width: 6, height: 8, channels: 3, depth: 8))
        let upright = Self.pixels(hasAlpha: false)
        var turned: [UInt8] = []
        for y in 0..<8 {
            for x in 0..<6 {
                let pixel = (5 - x) * 24 + y * 3
                turned += upright[pixel..<pixel + 3]
            }
        }
        #expect(largestDifference(try reader.allBytes(), turned) <= 3)
    }

    /// What a JPEG XL has as numbers needs no profile of libjxl's making; and what is missing is not called damaged.
    @Test func aJPEGXLHasWhatItsFileHas() throws {
        let reader = try Self.reader(of: .content(CodecSamples.jxl), .jpegXL)
        #expect(reader.colour.profile == nil)
        // The numbers are those of sRGB, which go without saying.
        #expect(reader.colour.codePoints == nil)
        #expect(reader.metadata.meanings["ICC"] == nil)
        try reader.drain()
        let half = Array(CodecSamples.jxl.prefix(CodecSamples.jxl.count / 2))
        expectFailure(.pictureTruncated) {
            try Self.reader(of: .content(half), .jpegXL).allBytes()
        }
    }

    /// Of several pages, the first is read, and the others are not forgotten in silence.
    @Test func theFirstOfSeveralPages() throws {
        let reader = try Self.reader(of: .content(TIFFMaker(pages: 3).bytes), .tiff)
        #expect(try reader.allBytes() == [10])
        #expect(reader.warnings == ["it has 3 pages: page 1 is used; pages: all uses each"])
    }

    @Test func readsThePageThatIsWanted() throws {
        let file = PictureInput.content(TIFFMaker(pages: 3).bytes)
        for page in 1...3 {
            let reader = try PictureDecoder.reader(
                of: PictureDecoder.Input(file, name: "x", page: page))
            #expect(try reader.allBytes() == [UInt8(10 * page)])
            #expect(reader.warnings == [])
        }
        let cases = [
            (
                TIFFMaker(pages: 3).bytes, 4,
                "x: reading the header: the file has 3 pages, and no page 4"
            ),
            (
                TIFFMaker(pages: 1).bytes, 65_535,
                "x: reading the header: the file has 1 page, and no page 65535"
            ),
            (CodecSamples.gif, 2, "x: this is a GIF picture, which has no pages, and no page 2"),
        ]
        for (file, page, message) in cases {
            #expect(throws: PictureError(.pageMissing, message)) {
                try PictureDecoder.reader(
                    of: PictureDecoder.Input(.content(file), name: "x", page: page))
            }
        }
        _ = try PictureDecoder.reader(
            of: PictureDecoder.Input(.content(CodecSamples.gif), name: "x", page: 1))
    }

    @Test func keepsSixteenBits() throws {
        let reader = try Self.reader(of: .content(CodecSamples.tiffDeep), .tiff)
        #expect(reader.layout == PixelLayout(width: 8, height: 6, channels: 1, depth: 16))
        #expect(reader.facts.storedDepth == 16)
        let samples: [UInt16] = try reader.allBytes().withUnsafeBytes {
            Array($0.bindMemory(to: UInt16.self))
        }
        var expected: [UInt16] = []
        for pixel in 0..<48 { expected.append(UInt16(pixel * 1000 + 7)) }
        #expect(samples == expected)
    }

    @Test func ofAnAnimationTheFirstPictureIsRead() throws {
        let reader = try Self.reader(of: .content(CodecSamples.gifAnimation), .gif)
        #expect(try reader.allBytes() == Self.pixels(hasAlpha: false))
        #expect(reader.warnings.count == 1)
    }

    /// A lossy WebP and an AVIF are decoded at the size that a resize needs; the outermost samples stand for what is left.
    @Test(arguments: [(CodecSamples.webpWide, InputFormat.webp), (CodecSamples.avifWide, .avif)])
    func reduces(_ file: [UInt8], _ kind: InputFormat) throws {
        let (width, height) = (41, 27)
        let whole = try Self.reader(of: .content(file), kind)
        for divisor in [1, 2, 4, 8] {
            let reader = try Self.reader(of: .content(file), kind, divisor: divisor)
            // Brightness and colour are averaged, so there never is a whole picture of RGB.
            #expect(divisor == 1 || reader.heldBytes < whole.heldBytes)
            let layout = PixelLayout(
                width: (width + divisor - 1) / divisor, height: (height + divisor - 1) / divisor,
                channels: 3, depth: 8)
            #expect(reader.layout == layout && reader.divisor == divisor && reader.facts.canReduce)
            #expect(reader.storedSize == (width, height))
            var expected: [UInt8] = []
            for y in 0..<layout.height {
                for x in 0..<layout.width {
                    let columns = x * divisor..<min(width, (x + 1) * divisor)
                    let rows = y * divisor..<min(height, (y + 1) * divisor)
                    let across = columns.reduce(0, +) / columns.count
                    let down = rows.reduce(0, +) / rows.count
                    for value in [20 + across * 5, 20 + down * 8, (across + down) * 3 + 20] {
                        expected.append(UInt8(min(255, value)))
                    }
                }
            }
            #expect(largestDifference(try reader.allBytes(), expected) <= 16, "1/\(divisor)")
        }
    }

    /// Without loss a WebP is decoded whole, and with alpha each picture.
    @Test(arguments: [
        (CodecSamples.webp, InputFormat.webp), (CodecSamples.webpAlpha, .webp),
        (CodecSamples.avifAlpha, .avif),
    ])
    func decodesOthersWhole(_ file: [UInt8], _ kind: InputFormat) throws {
        let reader = try Self.reader(of: .content(file), kind, divisor: 2)
        #expect(!reader.facts.canReduce && reader.divisor == 1 && reader.layout.width == 8)
    }

    /// Light beyond white would look washed out; what a sensor has measured is no picture.
    @Test func refusesByName() throws {
        let mark = Array("colrnclx".utf8)
        let place = try #require(
            CodecSamples.avif.indices.first { CodecSamples.avif[$0...].starts(with: mark) })
        for (transfer, word) in [(UInt8(16), "PQ"), (18, "HLG")] {
            var file = CodecSamples.avif
            file[place + 11] = transfer
            expectFailure(.unsupportedFormat, "high dynamic range (\(word))") {
                try Self.reader(of: .content(file), .avif)
            }
        }
        expectFailure(.unsupportedFormat, "a raw file of a camera") {
            try Self.reader(of: .content(CodecSamples.dng), .tiff)
        }
    }

    /// Many pictures at once, each with a child of its own.
    @Test func manyAtOnce() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for turn in 0..<40 {
                let test = Self.cases[turn % Self.cases.count]
                group.addTask {
                    let reader = try Self.reader(of: .content(test.file), test.kind)
                    let bytes = try reader.allBytes()
                    #expect(
                        largestDifference(bytes, Self.pixels(hasAlpha: test.hasAlpha))
                            <= test.difference)
                }
            }
            try await group.waitForAll()
        }
    }

    static func reader(
        of input: PictureInput, _ kind: InputFormat, limits: PictureLimits = PictureLimits(),
        divisor: Int = 1, checkpoint: @escaping () -> Bool = { true }
    ) throws(PictureError) -> CodecReader {
        guard let program = CodecFormat.all.first(where: { $0.kind == kind })?.program else {
            preconditionFailure("no codec reads \(kind)")
        }
        return try CodecReader(
            PictureDecoder.Input(
                input, name: "x", limits: limits, divisor: { _, _, _ in divisor },
                checkpoint: checkpoint), kind, by: program)
    }
}

/// A program that misbehaves ends its picture with a clear error, and nothing else.
struct BadCodecTests {
    static let bad = CodecProgram("bad")

    struct Case: CustomTestStringConvertible, Sendable {
        let way: String
        let code: PictureError.Code
        let message: String
        var testDescription: String { way }
    }

    private static let header = "x: reading the header: "
    private static let program = "the program darkroom-codec-bad "
    private static let forbidden =
        header + program + "was ended because it made a system call that it may not make"
    private static let nonsense = program + "says something that makes no sense"

    static let cases =
        [
            Case(
                way: "crash-after-header", code: .codecCrashed,
                message: "x: reading row 1 of 8: \(program)was ended by signal 11"),
            Case(
                way: "leave", code: .codecCrashed, message: header + program + "ended with status 9"
            ),
            Case(
                way: "spin", code: .codecTime,
                message: header + program + "has used 1 seconds of the processor"),
            Case(
                way: "memory", code: .memoryLimit, message: header + "there is no memory for 1 MiB"),
            Case(
                way: "silent", code: .codecTime,
                message: header + program + "has said nothing for 1 seconds"),
            Case(
                way: "silent-after-header", code: .codecTime,
                message: "x: reading row 1 of 8: \(program)has said nothing for 1 seconds"),
            Case(way: "warnings", code: .pictureDamaged, message: header + "it is [0m damaged"),
            Case(
                way: "many-rows", code: .codecCrashed, message: "x: reading row 1 of 8: \(nonsense)"
            ),
            Case(
                way: "whole-rows", code: .codecCrashed,
                message: "x: reading row 1 of 4: \(nonsense)"),
            Case(
                way: "no-slot", code: .codecCrashed, message: "x: reading row 1 of 8: \(nonsense)"),
            Case(
                way: "rows-again", code: .codecCrashed,
                message: "x: reading row 5 of 8: \(nonsense)"),
            Case(
                way: "end-early", code: .codecCrashed, message: "x: reading row 5 of 8: \(nonsense)"
            ),
        ]
        + ["no-width", "seven-channels", "large-size", "large-profile", "long-blob", "short"].map {
            Case(way: $0, code: .codecCrashed, message: header + nonsense)
        }
        // A child cannot open a file, make a socket, a process or code, run a program, signal others, or change its
        // limits.
        + ["open", "socket", "fork", "exec", "signal", "code", "limit"].map {
            Case(way: $0, code: .codecCrashed, message: forbidden)
        }

    @Test(arguments: cases) func endsOnlyItsPicture(_ test: Case) throws {
        var limits = PictureLimits()
        if test.way == "spin" { limits.codecSeconds = 1 }
        if test.way.hasPrefix("silent") { limits.codecSilence = 1 }
        // Beside one that behaves, which has begun before.
        let innocent = try Self.reader("good")
        #expect(throws: PictureError(test.code, test.message)) {
            try Self.reader(test.way, limits).drain()
        }
        let rows = try innocent.allBytes()
        #expect(rows == (0..<8).flatMap { [UInt8](repeating: $0, count: 24) })
    }

    @Test func crashesWithASignal() throws {
        // SIGILL or SIGTRAP, as the processor has it.
        expectFailure(.codecCrashed, "was ended by signal") { try Self.reader("crash") }
    }

    @Test func keepsFewOfManyWarnings() throws {
        let input = PictureDecoder.Input(.content(Array("warnings".utf8)), name: "x")
        let call = try CodecCall(decoding: input, by: Self.bad)
        #expect(throws: PictureError.self) { try call.hear("reading the header") }
        #expect(call.warnings == (0..<16).map { "a warning [31m \($0)" })
    }

    @Test func aCancellationEndsASilentChild() throws {
        #expect(
            throws: PictureError(.cancelled, "x: cancelled while reading the header")
        ) {
            try CodecReader(
                PictureDecoder.Input(
                    .content(Array("silent".utf8)), name: "x", checkpoint: { false }), .unknown,
                by: Self.bad)
        }
    }

    @Test func aMissingProgramNamesItsPackage() throws {
        for name in ["nothing", "heif-nothing"] {
            let program = CodecProgram(name)
            #expect(program.path == nil)
            let words = "x: the program darkroom-codec-\(name), which reads it, is not installed"
            let message = "\(words): install the package darkroom"
            #expect(throws: PictureError(.codecMissing, message)) {
                try CodecReader(
                    PictureDecoder.Input(.content([1]), name: "x"), .unknown, by: program)
            }
        }
        #expect(CodecProgram("heif").debianPackage == "darkroom-heif")
        #expect(CodecProgram("jxl").debianPackage == "darkroom-jxl")
    }

    /// What hundreds of pictures leave unread on the control socket would block the program.
    @Test func manyPicturesDoNotBlockTheProgram() throws {
        for turn in 0..<600 {
            if turn % 3 == 0 {
                #expect(throws: PictureError.self) { try Self.reader("leave") }
            } else if turn % 3 == 1 {
                _ = try Self.reader("good")
            } else {
                try Self.reader("good").drain()
            }
        }
    }

    private static func reader(
        _ way: String, _ limits: PictureLimits = PictureLimits()
    ) throws(PictureError) -> CodecReader {
        try CodecReader(
            PictureDecoder.Input(
                .content(Array(way.utf8)), name: "x", limits: limits, divisor: { _, _, _ in 2 }),
            .unknown, by: bad)
    }
}
