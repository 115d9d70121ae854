import Foundation
import TestPictures
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

/// `output.profile`: patches of known colours in files that tell their space in each way, as sRGB and Display P3.
struct OutputProfileTests {
    /// A file of one colour, and what it is.
    struct Patch: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let file: [UInt8]
        /// In sRGB.
        let colour: [Int]
        let tolerance: Int

        init(_ name: String, _ file: [UInt8], _ colour: [Int], tolerance: Int = 1) {
            (testDescription, self.file) = (name, file)
            (self.colour, self.tolerance) = (colour, tolerance)
        }
    }

    static let p3: [UInt8] = PictureColour.Profile.displayP3.bytes

    static func png(
        _ colour: [UInt16], _ chunks: [PNGChunk], depth: Int = 8
    ) -> [UInt8] {
        let type: PNGMaker.ColourType = colour.count == 1 ? .gray : .rgb
        var maker = PNGMaker(
            width: 8, height: 8, colourType: type, depth: depth,
            samples: (0..<64).flatMap { _ in colour })
        maker.early = chunks
        return maker.encoded
    }

    static func jpeg(_ colour: [UInt8], _ early: [JPEGSegment]) -> [UInt8] {
        var maker = JPEGMaker(
            width: 8, height: 8, channels: colour.count, samples: (0..<64).flatMap { _ in colour })
        maker.early = early
        return maker.encoded
    }

    static func number(_ name: String, _ values: UInt32...) -> PNGChunk {
        var data: [UInt8] = []
        for value in values { data.append(bigEndian: value) }
        return PNGChunk(name, data)
    }

    static func icc(_ profile: [UInt8]) -> PNGChunk {
        ICCProfileMaker.chunk(name: "x", profile: profile)
    }

    /// Exif with a colour space, and with the index of interoperability of Adobe RGB if that is not named.
    static func exif(colourSpace: UInt16) -> JPEGSegment {
        func entry(_ tag: UInt16, _ type: UInt16, _ value: [UInt8]) -> [UInt8] {
            var bytes = [UInt8(tag >> 8), UInt8(tag & 255), UInt8(type >> 8), UInt8(type & 255)]
            bytes.append(bigEndian: UInt32(type == 2 ? 4 : 1))
            return bytes + value
        }
        let last: [UInt8] = [0, 0, 0, 0]
        // At 8 the first directory, at 26 that of Exif, at 56 that of interoperability.
        var tiff = Array("MM".utf8) + [0, 42, 0, 0, 0, 8]
        tiff += [0, 1] + entry(34665, 4, [0, 0, 0, 26]) + last
        let space = [UInt8(colourSpace >> 8), UInt8(colourSpace & 255), 0, 0]
        tiff += [0, 2] + entry(40961, 3, space) + entry(40965, 4, [0, 0, 0, 56]) + last
        tiff += [0, 1] + entry(1, 2, Array("R03\0".utf8)) + last
        return JPEGSegment(0xE1, Array("Exif\0\0".utf8) + tiff)
    }

    private static let adobePrimaries = number(
        "cHRM", 31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000)

    /// The colours are calculated from the matrices between the linear spaces, without any code of the project:
    /// Display P3 (200, 100, 50) is sRGB (215, 93, 31); Adobe RGB (100, 150, 50) is sRGB (66, 151, 34).
    static let patches = [
        Patch(
            "nothing", png([200, 100, 50], []), [200, 100, 50],
            tolerance: 0),
        Patch(
            "PNG's iCCP of P3", png([200, 100, 50], [icc(p3)]),
            reference([200, 100, 50], p3ToSRGB, srgbLight)),
        Patch(
            "PNG's cICP of P3",
            png([200, 100, 50], [PNGChunk("cICP", [12, 13, 0, 1])]),
            reference([200, 100, 50], p3ToSRGB, srgbLight)),
        Patch(
            "cICP of sRGB before iCCP of P3",
            png([200, 100, 50], [PNGChunk("cICP", [1, 13, 0, 1]), icc(p3)]),
            [200, 100, 50], tolerance: 0),
        Patch(
            "iCCP of P3 before gAMA and cHRM",
            png(
                [200, 100, 50], [number("gAMA", 55556), adobePrimaries, icc(p3)]),
            reference([200, 100, 50], p3ToSRGB, srgbLight)),
        Patch(
            "sRGB before gAMA and cHRM",
            png(
                [200, 100, 50],
                [PNGChunk("sRGB", [1]), number("gAMA", 55556), adobePrimaries]),
            [200, 100, 50], tolerance: 0),
        Patch(
            "gAMA and cHRM of Adobe RGB",
            png([100, 150, 50], [number("gAMA", 45455), adobePrimaries]),
            reference([100, 150, 50], adobeToSRGB) { pow($0, 100_000 / 45455) }),
        Patch(
            "gamma 1.8 of gray", png([128], [number("gAMA", 55556)]),
            reference([128, 128, 128], identity) { pow($0, 1.8) }),
        Patch(
            "the usual gamma", png([40, 100, 50], [number("gAMA", 45455)]),
            [40, 100, 50], tolerance: 0),
        Patch(
            "16 bits of P3",
            png([200 * 257, 100 * 257, 50 * 257], [icc(p3)], depth: 16),
            reference([200, 100, 50], p3ToSRGB, srgbLight)),
        Patch(
            "JPEG in P3",
            jpeg([200, 100, 50], JPEGSegment.profile(p3)),
            reference([200, 100, 50], p3ToSRGB, srgbLight), tolerance: 3),
        Patch(
            "Exif of Adobe RGB",
            jpeg([100, 150, 50], [exif(colourSpace: 65535)]),
            reference([100, 150, 50], adobeToSRGB) { pow($0, 563.0 / 256) }, tolerance: 3),
        Patch(
            "Exif of sRGB", jpeg([100, 150, 50], [exif(colourSpace: 1)]),
            [100, 150, 50], tolerance: 2),
        Patch(
            "a table in a profile",
            png([255, 0, 255], [icc(ICCProfileMaker.strangeRGB)]), [57, 255, 254],
            tolerance: 3),
        Patch(
            "a profile for inks",
            jpeg([255, 0, 0, 0], JPEGSegment.profile(ICCProfileMaker.strangeInks)),
            [251, 0, 8], tolerance: 3),
        Patch(
            "a broken profile",
            jpeg(
                [200, 100, 50], JPEGSegment.profile(ICCProfileMaker.profile(space: "RGB "))),
            [200, 100, 50], tolerance: 2),
    ]

    // MARK: The reference

    private static let identity: [Double] = [1, 0, 0, 0, 1, 0, 0, 0, 1]
    private static let p3ToSRGB = [
        1.224940, -0.224940, 0, -0.042057, 1.042057, 0, -0.019638, -0.078636, 1.098274,
    ]
    private static let adobeToSRGB = [
        1.398356, -0.398356, 0, 0, 1, 0, 0, -0.042929, 1.042929,
    ]

    private static func srgbLight(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func reference(
        _ colour: [Int], _ matrix: [Double], _ light: (Double) -> Double
    ) -> [Int] {
        let from = colour.map { light(Double($0) / 255) }
        return (0..<3).map { row in
            let sum = (0..<3).reduce(0.0) { $0 + matrix[3 * row + $1] * from[$1] }
            let kept = min(1, max(0, sum))
            let value = kept <= 0.0031308 ? 12.92 * kept : 1.055 * pow(kept, 1 / 2.4) - 0.055
            return Int((value * 255).rounded())
        }
    }

    // MARK: Results

    /// A file, read by the reader of its kind: the colour of its first pixel in 8 bits, and the reader.
    private func read(_ file: [UInt8]) throws -> (colour: [Int], reader: any PictureReader) {
        let reader = try PictureDecoder.reader(
            of: PictureDecoder.Input(.content(file), name: "result"))
        let bytes = try reader.allBytes()
        let layout = reader.layout
        let values = (0..<layout.colourChannels).map { channel in
            layout.depth == 8 ? Int(bytes[channel]) : Int(bytes[2 * channel + 1])
        }
        return (layout.isGray ? [values[0], values[0], values[0]] : values, reader)
    }

    static func made(
        _ file: [UInt8], _ options: OutputOptions, _ filters: [Filter] = []
    ) throws -> (file: [UInt8], report: PictureReport) {
        try PictureSteps(filters: filters, options: options).run(file)
    }

    private static func isNear(_ one: [Int], _ other: [Int], _ tolerance: Int) -> Bool {
        zip(one, other).allSatisfy { abs($0 - $1) <= tolerance }
    }

    @Test(arguments: patches) func becomesSRGB(patch: Patch) throws {
        let (file, _) = try Self.made(patch.file, OutputOptions(profile: .srgb))
        let (colour, reader) = try read(file)
        #expect(Self.isNear(colour, patch.colour, patch.tolerance), "\(colour) \(patch.colour)")
        #expect(reader.colour.renderingIntent == 1)
        #expect(reader.colour.profile == nil && reader.colour.codePoints == nil)
    }

    /// As Display P3, and from there as sRGB again.
    @Test(arguments: patches) func becomesP3(patch: Patch) throws {
        let (file, _) = try Self.made(patch.file, OutputOptions(profile: .p3))
        let (_, reader) = try read(file)
        if !reader.layout.isGray {
            #expect(reader.colour.codePoints == [12, 13, 0, 1])
            #expect(reader.colour.profile == .displayP3)
        }
        let (again, _) = try Self.made(file, OutputOptions(profile: .srgb))
        let (colour, _) = try read(again)
        #expect(
            Self.isNear(colour, patch.colour, patch.tolerance + 1), "\(colour) \(patch.colour)")
    }

    /// A program that reads Exif sees the colours of the result.
    @Test(arguments: [MetadataChoice([.exif]), .exifCopy])
    func exifHasTheColoursOfTheResult(metadata: MetadataChoice) throws {
        let file = Self.jpeg([100, 150, 50], [Self.exif(colourSpace: 65535)])
        let (kept, _) = try Self.made(file, OutputOptions(format: .jpeg, metadata: .exifCopy))
        let before = try #require(try read(kept).reader.exif)
        #expect(ExifColourSpace.isAdobe(tiff: before))
        let options = OutputOptions(format: .jpeg, profile: .srgb, metadata: metadata)
        let (converted, _) = try Self.made(file, options)
        let after = try read(converted).reader.exif
        #expect(!(after.map(ExifColourSpace.isAdobe) ?? false))
    }

    /// Nothing is converted, and the profile goes with it.
    @Test func keepsByItself() throws {
        let file = Self.png([200, 100, 50], [Self.icc(Self.p3)])
        let (kept, report) = try Self.made(file, OutputOptions())
        let (colour, reader) = try read(kept)
        #expect(colour == [200, 100, 50])
        #expect(reader.colour.profile?.bytes == Self.p3)
        #expect(report.metadata["iCCP"] == "kept")
        let (_, converted) = try Self.made(file, OutputOptions(profile: .srgb))
        #expect(converted.metadata["iCCP"] == "converted")
    }

    /// Each format of results says what is necessary, and no more.
    @Test(arguments: OutputFormat.allCases) func everyFormatHasTheColours(format: OutputFormat)
        throws
    {
        let source = Self.png([200, 100, 50], [Self.icc(Self.p3)])
        let expected = Self.reference([200, 100, 50], Self.p3ToSRGB, Self.srgbLight)
        for profile in [OutputProfile.srgb, .p3] {
            let options = OutputOptions(
                format: format, quality: 95, chroma: .full, profile: profile)
            let (file, _) = try Self.made(source, options)
            let (_, reader) = try read(file)
            if profile == .srgb {
                #expect(reader.colour.profile == nil)
            } else {
                // That of a JPEG XL is made by libjxl, which reads the file; the file has only a number.
                let size = reader.colour.profile?.bytes.count ?? 0
                #expect(size <= 600 || format == .jpegXL)
            }
            let (again, _) = try Self.made(file, OutputOptions(profile: .srgb))
            let (colour, _) = try read(again)
            #expect(Self.isNear(colour, expected, 4), "\(format) \(profile) \(colour) \(expected)")
        }
    }

    /// A filter sees the values of the result's space.
    @Test func filtersComeAfterwards() throws {
        let file = Self.png([200, 100, 50], [Self.icc(Self.p3)])
        let (inverted, _) = try Self.made(
            file, OutputOptions(profile: .srgb), [.invert(amount: 1)])
        let expected = Self.reference([200, 100, 50], Self.p3ToSRGB, Self.srgbLight).map {
            255 - $0
        }
        #expect(Self.isNear(try read(inverted).colour, expected, 1))
    }

    @Test func saysWhatCannotBeUsed() throws {
        let patch = try #require(Self.patches.first { $0.testDescription == "a broken profile" })
        let (_, report) = try Self.made(patch.file, OutputOptions(profile: .srgb))
        #expect(
            report.warnings == ["the colour profile cannot be used: its values are taken as sRGB"])
        let inks = Self.jpeg(
            [0, 0, 0, 0], JPEGSegment.profile(ICCProfileMaker.profile(space: "CMYK")))
        let (_, ofCMYK) = try Self.made(inks, OutputOptions())
        #expect(
            ofCMYK.warnings == [
                "the colour profile cannot be used: the inks are taken as those of offset printing"
            ])
    }

    /// What the solid inks of coated paper look like in sRGB, as programs for printing show them.
    @Test(arguments: [
        ([0, 0, 0, 0], [255, 255, 255]), ([255, 0, 0, 0], [0, 158, 224]),
        ([0, 255, 0, 0], [230, 0, 126]), ([0, 0, 255, 0], [255, 237, 0]),
        ([0, 255, 255, 0], [227, 6, 19]), ([255, 0, 255, 0], [0, 150, 64]),
        ([255, 255, 0, 0], [49, 39, 131]), ([0, 0, 0, 255], [29, 29, 27]),
        ([255, 255, 255, 255], [0, 0, 0]),
    ]) func inksLookAsOnPaper(inks: [UInt8], expected: [Int]) throws {
        let (file, _) = try Self.made(Self.jpeg(inks, []), OutputOptions())
        let (colour, reader) = try read(file)
        #expect(Self.isNear(colour, expected, 25), "\(colour)")
        #expect(reader.colour == PictureColour())
    }

    /// A logo has the same colour on pictures of all spaces.
    @Test(arguments: ["sRGB", "P3", "Adobe RGB"]) func whatIsLaidOverHasItsColour(space: String)
        throws
    {
        let chunks: [PNGChunk] =
            switch space {
            case "P3": [Self.icc(Self.p3)]
            case "Adobe RGB": [Self.number("gAMA", 45455), Self.adobePrimaries]
            default: []
            }
        let made = try PictureSteps.laying(Self.png([192, 32, 32], []))
            .run(Self.png([10, 200, 30], chunks)).file
        let (kept, _) = try read(made)
        #expect(space == "sRGB" ? kept == [192, 32, 32] : kept != [192, 32, 32])
        let (again, _) = try Self.made(made, OutputOptions(profile: .srgb))
        #expect(Self.isNear(try read(again).colour, [192, 32, 32], 2))
    }

    /// lcms2 is among the libraries of a picture only if it took part, however often it has run for others.
    @Test func lcms2IsNamedWhereItTookPart() throws {
        let strange = Self.png([9, 9, 9], [Self.icc(ICCProfileMaker.strangeRGB)])
        let inks = Self.jpeg([9, 9, 9, 9], JPEGSegment.profile(ICCProfileMaker.strangeInks))
        let cases: [(file: [UInt8], profile: OutputProfile, hasPart: Bool)] = [
            (strange, .srgb, true), (strange, .p3, true), (strange, .keep, false),
            (Self.png([9, 9, 9], [Self.icc(Self.p3)]), .srgb, false),
            (inks, .keep, true), (inks, .srgb, true),
            (Self.jpeg([9, 9, 9, 9], []), .srgb, false),
        ]
        for (number, item) in cases.enumerated() {
            let (_, report) = try Self.made(item.file, OutputOptions(profile: item.profile))
            #expect((report.libraries?["icc"] != nil) == item.hasPart, "case \(number)")
        }
        for (logo, hasPart) in [(strange, true), (Self.png([1, 2, 3], []), false)] {
            let report = try PictureSteps.laying(logo).run(Self.png([10, 200, 30], [])).report
            #expect((report.libraries?["icc"] != nil) == hasPart)
        }
    }
}
