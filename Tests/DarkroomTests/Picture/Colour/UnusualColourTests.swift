import TestPictures
import Testing

@testable import DarkroomPicture

/// Files that contradict themselves, say nothing that a result could say, or are made to do harm.
struct UnusualColourTests {
    private typealias Files = OutputProfileTests

    private static func space(_ file: [UInt8]) throws -> (space: SourceSpace, remark: String?) {
        let reader = try PictureDecoder.reader(
            of: PictureDecoder.Input(.content(file), name: "x"))
        return StatedColour(reader).space
    }

    private static func samples(_ file: [UInt8]) throws -> [Int] {
        try PNGDecoder.decode(file).samples.prefix(3).map { Int($0) }
    }

    // MARK: Numbers for spaces

    @Test(arguments: [[2, 2, 0, 1], [12, 99, 0, 1], [9, 13, 1, 1], [9, 13, 0, 0]] as [[UInt8]])
    func numbersThatCannotBeUsedLeaveItToTheProfile(numbers: [UInt8]) throws {
        let cicp = PNGChunk("cICP", numbers)
        let (space, remark) = try Self.space(Files.png([9, 9, 9], [cicp, Files.icc(Files.p3)]))
        #expect(space.isNearly(.rgb(.displayP3)))
        let words = numbers.map { "\($0)" }
        let list = words.dropLast().joined(separator: ", ") + " and " + (words.last ?? "")
        #expect(
            remark
                == (numbers[0] == 2
                    ? nil
                    : "the colour space with the numbers \(list) of H.273 is not known: its profile"
                        + " counts"))
        let (usual, _) = try Self.space(Files.png([9, 9, 9], [cicp]))
        #expect(usual.isNearly(.rgb(.sRGB)))
    }

    /// The values of a profile without colours would all be black.
    @Test func aProfileWithoutColoursIsBroken() throws {
        var profile = Files.p3
        for name in ["rXYZ", "gXYZ", "bXYZ"] {
            let entry = try #require(profile.firstRange(of: Array(name.utf8))?.lowerBound)
            let place = Int(profile.bigEndian(at: entry + 4))
            profile.replaceSubrange(place + 8..<place + 20, with: [UInt8](repeating: 0, count: 12))
        }
        let source = Files.jpeg([200, 200, 200], JPEGSegment.profile(profile))
        let (file, report) = try Files.made(source, OutputOptions(profile: .srgb))
        #expect(try Self.samples(file) == [200, 200, 200])
        #expect(
            report.warnings == [
                "the colour profile makes no sense: the picture's values are taken as sRGB"
            ])
    }

    /// The sums of such a matrix have no room in 32 bits.
    @Test func aMatrixThatIsTooLargeIsRefused() {
        let large = Matrix3(rows: [[3.9, 3.8, 3.9], [0, 1, 0], [0, 0, 1]])
        let source = RGBSpace(curves: RGBSpace.sRGB.curves, matrix: RGBSpace.sRGB.matrix * large)
        #expect(ColourConversion(from: source, to: .sRGB) == nil)
        #expect(ColourConversion(from: .displayP3, to: .sRGB) != nil)
    }

    /// A program that was taken over by a profile says a picture of any kind, which is no table.
    @Test(arguments: ["good", "crash", "no-width", "large-profile", "short", "whole-rows"])
    func anythingButATableIsNoTable(way: String) throws {
        let input = PictureDecoder.Input(.content([]), name: "x")
        let answer = try ProfileTables.samples(
            of: Array(way.utf8), .toSRGB, input, by: BadCodecTests.bad)
        guard case .unusable = answer else {
            Issue.record("a table of \(way)")
            return
        }
    }

    /// The colours of a palette are converted, and its indices are not.
    @Test(arguments: PNGWriter.Compression.allCases, [OutputProfile.srgb, .p3])
    func palettesAreConverted(compression: PNGWriter.Compression, profile: OutputProfile) throws {
        var maker = PNGMaker.noise(width: 34, height: 109, colourType: .palette, depth: 4)
        if profile == .srgb { maker.early = [Files.icc(Files.p3)] }
        let plain = try PNGDecoder.decode(maker.encoded)
        var direct = PNGMaker(
            width: 34, height: 109, colourType: .rgb, depth: 8, samples: plain.samples)
        direct.early = maker.early
        let options = OutputOptions(compression: compression, profile: profile)
        let made = try PNGDecoder.decode(try Files.made(maker.encoded, options).file)
        let expected = try PNGDecoder.decode(try Files.made(direct.encoded, options).file)
        #expect(made.samples == expected.samples && made.samples != plain.samples)
    }

    // MARK: What only Exif says

    private static func adobe(_ colour: [UInt8]) -> [UInt8] {
        Files.jpeg(colour, [Files.exif(colourSpace: 65535)])
    }

    private static let silence =
        "the result does not say the colour space of its values, as the source does; with"
        + " output.profile: srgb they are converted"

    @Test(arguments: OutputFormat.allCases) func adobeRGBIsKeptWithExif(format: OutputFormat) throws
    {
        let source = Self.adobe([100, 150, 50])
        let bare = try Files.made(source, OutputOptions(format: format))
        #expect(bare.report.warnings == [Self.silence])
        let options = OutputOptions(format: format, metadata: MetadataChoice([.exif]))
        let (file, report) = try Files.made(source, options)
        // A TIFF has no place for it.
        #expect(report.warnings == (format == .tiff ? [Self.silence] : []))
        // The numbers of an AVIF come before Exif.
        let isSaid = ![.tiff, .avif, .jpegXL].contains(format)
        #expect(try Self.space(file).space.isNearly(.rgb(isSaid ? .adobe : .sRGB)))
    }

    /// The file for other images says it.
    @Test func adobeRGBIsHandedOver() throws {
        let wish = PictureVariantsTests.Wish(
            options: OutputOptions(format: .jpeg), handsOver: true)
        let pixels = try PictureVariantsTests.alone(Self.adobe([100, 150, 50]), [wish])[0].pixels
        #expect(try Self.space(pixels).space.isNearly(.rgb(.adobe)))
    }

    /// It is about the inks, not about the RGB that they become.
    @Test func inksAreConvertedOnce() throws {
        let source = Self.adobe([40, 90, 160, 20])
        let kept = try Files.made(source, OutputOptions())
        let converted = try Files.made(source, OutputOptions(profile: .srgb))
        #expect(try Self.samples(kept.file) == Self.samples(converted.file))
        #expect(kept.report.warnings == [])
    }

    /// A JPEG has no numbers for spaces.
    @Test func numbersThatAreLostAreSaid() throws {
        let cicp = PNGChunk("cICP", [12, 13, 0, 1])
        let source = Files.png([9, 200, 9], [cicp])
        for (format, warnings) in [
            (OutputFormat.jpeg, [Self.silence]), (.webp, [Self.silence]), (.png, []),
        ] {
            let made = try Files.made(source, OutputOptions(format: format))
            #expect(made.report.warnings == warnings, "\(format)")
        }
        let usual = Files.png([9, 200, 9], [Files.number("gAMA", 45455)])
        #expect(try Files.made(usual, OutputOptions(format: .jpeg)).report.warnings == [])
    }

    /// Gray of another curve loses it with the first colour.
    @Test func grayThatGetsColourIsSaid() throws {
        let source = Files.png([128], [Files.number("gAMA", 55556)])
        let colour = try Files.made(
            source, OutputOptions(format: .jpeg), [.sepia(intensity: 1)])
        #expect(colour.report.warnings == [Self.silence])
    }

    // MARK: Overlays

    private func laid(_ logo: [UInt8], on source: [UInt8]) throws -> (
        samples: [Int], report: PictureReport
    ) {
        let (file, report) = try PictureSteps.laying(logo).run(source)
        return (try Self.samples(file), report)
    }

    /// Gray of sRGB is another value where the picture's curve is straight.
    @Test func grayLogosHaveTheCurveBeneath() throws {
        let beneath = Files.png([9, 200, 9], [Files.number("gAMA", 100_000)])
        let gray = try laid(Files.png([128], []), on: beneath).samples
        #expect(gray == [55, 55, 55])
        #expect(try laid(Files.png([128, 128, 128], []), on: beneath).samples == gray)
    }

    /// From a straight curve, the first values are far apart in sRGB.
    @Test func darkValuesAreExact() throws {
        let logo = Files.png([1, 2, 3], [Files.number("gAMA", 100_000)])
        #expect(try laid(logo, on: Files.png([9, 9, 9], [])).samples == [13, 22, 28])
    }

    /// Scanners need no way from colours to values.
    @Test func aProfileWithoutAWayBackIsSaid() throws {
        let beneath = Files.png([9, 9, 9], [Files.icc(ICCProfileMaker.strangeRGB)])
        let (samples, report) = try laid(Files.png([255, 0, 0], []), on: beneath)
        #expect(samples == [255, 0, 0])
        #expect(report.warnings.count == 1)
        #expect(report.warnings.first?.contains("leads from its values to colours only") == true)
    }
}
