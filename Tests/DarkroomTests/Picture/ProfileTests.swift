import TestPictures
import Testing

@testable import DarkroomPicture

/// Colour profiles that deviate from ICC.1: what libpng lets pass when reading is written, what it refuses is left
/// out with a warning, and a good picture never fails for it. The same from PNG and from JPEG.
struct ProfileTests {
    struct Deviation: CustomTestStringConvertible, Sendable {
        let name: String
        let isKept: Bool
        /// libpng's words; nil where there is nothing to remark.
        let remark: String?
        let remarkInPNG: String?
        let change: @Sendable (inout [UInt8]) -> Void

        var testDescription: String { name }

        init(
            _ name: String, isKept: Bool, _ remark: String?, inPNG: String? = nil,
            _ change: @escaping @Sendable (inout [UInt8]) -> Void
        ) {
            self.name = name
            self.isKept = isKept
            self.remark = remark
            remarkInPNG = inPNG ?? remark
            self.change = change
        }

        var profile: [UInt8] {
            var bytes = ICCProfileMaker.profile(space: "RGB ", padding: 300)
            change(&bytes)
            return bytes
        }
    }

    private static func put(_ word: String, at offset: Int) -> @Sendable (inout [UInt8]) -> Void {
        { $0.replaceSubrange(offset..<offset + 4, with: Array(word.utf8)) }
    }

    static let deviations = [
        Deviation("none", isKept: true, nil) { _ in },
        Deviation("illuminant off by one bit", isKept: true, "PCS illuminant is not D50") {
            $0[79] ^= 1
        },
        Deviation("intent 5", isKept: true, "intent outside defined range") { $0[67] = 5 },
        Deviation(
            "class nmcl", isKept: true, "unexpected NamedColor ICC profile class",
            put("nmcl", at: 12)),
        Deviation(
            "unknown class", isKept: true, "unrecognized ICC profile class", put("what", at: 12)),
        Deviation(
            "class abst", isKept: false, "invalid embedded Abstract ICC profile",
            put("abst", at: 12)),
        Deviation(
            "class link", isKept: false, "unexpected DeviceLink ICC profile class",
            put("link", at: 12)),
        Deviation("PCS Luv", isKept: false, "unexpected ICC PCS encoding", put("Luv ", at: 20)),
        Deviation(
            "space Lab", isKept: false, "invalid ICC profile color space", put("Lab ", at: 16)),
        Deviation(
            "for gray", isKept: false, "Gray color space not permitted on RGB PNG",
            put("GRAY", at: 16)),
        Deviation("no signature", isKept: false, "invalid signature", put("ACSP", at: 36)),
        Deviation("intent 65535", isKept: false, "invalid rendering intent") {
            $0[66] = 0xFF
            $0[67] = 0xFF
        },
        Deviation("a tag beyond the end", isKept: false, "ICC profile tag outside profile") {
            $0[137] = 1
        },
        Deviation("more tags than bytes", isKept: false, "tag count too large") { $0[130] = 1 },
        // Of a PNG the length is that of what is decompressed.
        Deviation(
            "another length", isKept: false, "length does not match profile",
            inPNG: "iCCP: unexpected zlib return code"
        ) { $0[3] ^= 4 },
    ]

    enum Way: CaseIterable, Sendable { case pngToPNG, jpegToPNG, pngToJPEG, jpegToJPEG }

    @Test(arguments: deviations, Way.allCases)
    func isKeptOrLeftOutWithAWarning(deviation: Deviation, way: Way) throws {
        let file: [UInt8]
        let isFromPNG = way == .pngToPNG || way == .pngToJPEG
        if isFromPNG {
            var maker = PNGMaker.noise(width: 8, height: 8, colourType: .rgb, depth: 8)
            maker.early = [ICCProfileMaker.chunk(name: "p", profile: deviation.profile)]
            file = maker.encoded
        } else {
            var maker = JPEGMaker.noise(width: 8, height: 8, channels: 3)
            maker.early = JPEGSegment.profile(deviation.profile)
            file = maker.encoded
        }
        let isToPNG = way == .pngToPNG || way == .jpegToPNG
        let options = OutputOptions(format: isToPNG ? .png : .jpeg)
        let (output, report) = try PictureSteps(options: options).run(file)
        let name = isFromPNG ? "iCCP" : "ICC"
        // From JPEG to JPEG libpng has no say.
        let isFree = way == .jpegToJPEG && !["for gray", "no signature"].contains(deviation.name)
        let isKept = deviation.isKept || isFree
        #expect(report.metadata == [name: isKept ? "kept" : "dropped"])
        #expect(
            report.warnings.count == (deviation.remark == nil || isFree ? 0 : 1),
            "\(report.warnings)")
        if deviation.name == "for gray", !isFromPNG {
            #expect(report.warnings == ["the colour profile is dropped: it is for gray pictures"])
        } else if !isFree, let remark = isFromPNG ? deviation.remarkInPNG : deviation.remark {
            #expect(report.warnings.first?.contains(remark) == true, "\(report.warnings)")
        }
        let written =
            isToPNG
            ? try PNGReader.pixels(of: output).reader.colour.profile
            : try JPEGReader.pixels(of: output).reader.colour.profile
        #expect(written?.bytes == (isKept ? deviation.profile : nil))
    }

    /// Names of profiles, which libpng writes in Latin-1 without what cannot be printed.
    @Test(arguments: [
        ("sRGB", "sRGB"), (" ", "ICC profile"), ("\u{7}", "ICC profile"), (" a ", "a"),
    ])
    func namesArePrintable(name: String, written: String) throws {
        #expect(try Self.name(writtenOf: Array(name.utf8)) == Array(written.utf8))
    }

    @Test func namesAreLatin1() throws {
        let name = [UInt8](repeating: 0xE9, count: 79)
        #expect(try Self.name(writtenOf: name) == name)
    }

    private static func name(writtenOf name: [UInt8]) throws -> [UInt8]? {
        let profile = ICCProfileMaker.profile(space: "RGB ", padding: 300)
        var maker = PNGMaker.noise(width: 8, height: 8, colourType: .rgb, depth: 8)
        let chunk = ICCProfileMaker.chunk(name: "", profile: profile)
        maker.early = [PNGChunk("iCCP", name + chunk.data)]
        let (output, report) = try PictureSteps().run(maker.encoded)
        #expect(report.metadata == ["iCCP": "kept"])
        return try PNGReader.pixels(of: output).reader.colour.profile?.name
    }

    /// A chunk that libpng refuses when it writes costs nothing else.
    @Test func theWriterLeavesOutWhatLibpngRefuses() throws {
        var colour = PictureColour()
        colour.profile = PictureColour.Profile(
            name: Array("p".utf8),
            bytes: try #require(Self.deviations.first { $0.name == "PCS Luv" }).profile)
        colour.density = PictureColour.Density(x: 1, y: 1, unit: 1)
        let maker = PNGMaker.noise(width: 8, height: 8, colourType: .rgb, depth: 8)
        let (file, written) = try OutputOptions().write(
            ArrayStage(maker.reference), colour: colour)
        #expect(written.items == [.density])
        #expect(try PNGDecoder.decode(file) == maker.reference)
    }
}
