import TestPictures
import Testing

@testable import DarkroomPicture

/// The reader's pixels against the arrays the files were made from, without libjpeg.
struct JPEGReaderTests {
    static let sizes = [(1, 1), (8, 8), (9, 17), (17, 9), (40, 33)]

    @Test(arguments: [1, 3], JPEGMaker.Scans.allCases)
    func readsEverySample(channels: Int, scans: JPEGMaker.Scans) throws {
        for (width, height) in Self.sizes {
            for restartInterval in [0, 2] {
                var maker = JPEGMaker.noise(
                    width: width, height: height, channels: channels, seed: UInt64(width))
                maker.scans = scans
                maker.restartInterval = restartInterval
                let (bytes, reader) = try JPEGReader.pixels(of: maker.encoded)
                #expect(
                    reader.layout
                        == PixelLayout(width: width, height: height, channels: channels, depth: 8))
                // Three components are rounded, twice each, and added with weights of up to 1.8.
                let tolerance = channels == 1 ? 1 : 3
                #expect(
                    largestDifference(bytes, maker.samples) <= tolerance, "\(width) × \(height)")
                #expect(
                    reader.isProgressive
                        == (scans == .progressive || (scans == .apart && channels == 3)))
                #expect(reader.warnings == [])
                #expect(reader.segments == [])
                #expect(reader.orientation == .topLeft)
                #expect(reader.colour == PictureColour())
            }
        }
    }

    @Test(arguments: JPEGMaker.Scans.allCases)
    func readsColourOfHalfTheResolution(scans: JPEGMaker.Scans) throws {
        for (width, height) in Self.sizes {
            var maker = JPEGMaker.gradient(width: width, height: height, channels: 3)
            maker.isCoarse = true
            maker.scans = scans
            let (bytes, _) = try JPEGReader.pixels(of: maker.encoded)
            // Colours between those stored are guessed, and there is nothing to guess from at the edge.
            #expect(largestDifference(bytes, maker.samples) <= 4, "\(width) × \(height)")
        }
        // One colour has no neighbours to be mistaken for.
        var maker = JPEGMaker.gradient(width: 21, height: 19, channels: 3)
        maker.samples = (0..<21 * 19).flatMap { _ in [200, 40, 90] as [UInt8] }
        maker.isCoarse = true
        maker.scans = scans
        let (bytes, _) = try JPEGReader.pixels(of: maker.encoded)
        #expect(largestDifference(bytes, maker.samples) <= 2)
    }

    /// Adobe's marker says that components are RGB as they are.
    @Test func readsColourThatIsNotTransformed() throws {
        var maker = JPEGMaker.noise(width: 20, height: 10, channels: 3)
        maker.early = [JPEGSegment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0])]
        let (bytes, reader) = try JPEGReader.pixels(of: maker.encoded)
        // What the maker has coded is YCbCr, which is now taken for RGB.
        let lumas = stride(from: 0, to: maker.samples.count, by: 3).map { place in
            let (r, g, b) = (
                Double(maker.samples[place]), Double(maker.samples[place + 1]),
                Double(maker.samples[place + 2])
            )
            return UInt8((0.299 * r + 0.587 * g + 0.114 * b).rounded())
        }
        let reds = stride(from: 0, to: bytes.count, by: 3).map { bytes[$0] }
        #expect(largestDifference(reds, lumas) <= 2)
        #expect(reader.metadata.meanings == ["Adobe": .pixels])
    }

    @Test(arguments: JPEGMaker.Scans.allCases)
    func stopsWhereItIsToldTo(scans: JPEGMaker.Scans) throws {
        var maker = JPEGMaker.noise(width: 8, height: 900, channels: 3)
        maker.scans = scans
        let source = try UnnamedFile(maker.encoded)
        // The first question comes before anything is decoded, more of them while scans are taken in.
        let questions = scans == .one ? 1 : 3
        var asked = 0
        let reader = try JPEGReader(
            PictureDecoder.Input(
                .file(source.descriptor), name: "x.jpg",
                checkpoint: {
                    asked += 1
                    return asked < questions
                }))
        #expect(throws: PictureError(.cancelled, "x.jpg: cancelled while reading")) {
            try reader.nextBand()
        }
        #expect(asked == questions)
    }

    // MARK: Beside the pixels

    @Test func namesItsSegments() throws {
        var maker = JPEGMaker.noise(width: 8, height: 8, channels: 3)
        maker.early = [
            .jfif(unit: 0, x: 1, y: 1), .exif(orientation: 1),
            JPEGSegment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0<x/>".utf8)),
            JPEGSegment(0xE1, Array("http://ns.adobe.com/xmp/extension/\0".utf8)),
            JPEGSegment(0xE1, []), JPEGSegment(0xE1, Array("Exif".utf8)),
            JPEGSegment(0xE0, Array("JFXX\0".utf8) + [0x13]), JPEGSegment(0xE0, [1]),
            JPEGSegment(0xE2, Array("MPF\0".utf8)), JPEGSegment(0xED, Array("Photoshop".utf8)),
            JPEGSegment(0xFE, Array("a comment".utf8)), JPEGSegment(0xFE, []),
            JPEGSegment(0xEF, [UInt8](repeating: 7, count: 65_533)),
        ]
        let (_, reader) = try JPEGReader.pixels(of: maker.encoded)
        #expect(
            reader.segments == [
                "JFIF", "Exif", "XMP", "APP1", "JFXX", "APP0", "MPF", "APP13", "COM", "APP15",
            ])
        #expect(reader.metadata.meanings["COM"] == .other)
        // A JFIF segment that says nothing is not worth telling.
        #expect(reader.metadata.meanings["JFIF"] == nil)
        #expect(reader.warnings == [])
    }

    static let densities: [(JPEGSegment, PictureColour.Density?)] = [
        (.jfif(unit: 1, x: 72, y: 300), .init(x: 2835, y: 11811, unit: 1)),
        (.jfif(unit: 2, x: 28, y: 118), .init(x: 2800, y: 11800, unit: 1)),
        (.jfif(unit: 2, x: 65535, y: 65535), .init(x: 6_553_500, y: 6_553_500, unit: 1)),
        (.jfif(unit: 0, x: 2, y: 1), .init(x: 2, y: 1, unit: 0)),
        (.jfif(unit: 0, x: 1, y: 1), nil),
        (.jfif(unit: 1, x: 0, y: 72), nil),
        (.jfif(unit: 9, x: 72, y: 72), nil),
    ]

    @Test(arguments: densities)
    func readsDensities(segment: JPEGSegment, density: PictureColour.Density?) throws {
        var maker = JPEGMaker.noise(width: 8, height: 8, channels: 1)
        maker.early = [segment]
        let (_, reader) = try JPEGReader.pixels(of: maker.encoded)
        #expect(reader.colour.density == density)
    }

    @Test(arguments: [
        PictureColour.Density(x: 2835, y: 11811, unit: 1), .init(x: 2800, y: 11800, unit: 1),
        .init(x: 2, y: 1, unit: 0), .init(x: 6_553_500, y: 100, unit: 1),
    ])
    func densitiesComeBack(density: PictureColour.Density) throws {
        let jfif = try #require(density.jfif)
        #expect(PictureColour.Density(jfif) == density)
    }

    @Test(arguments: [
        PictureColour.Density(x: 4_000_000_000, y: 4_000_000_000, unit: 1),
        .init(x: 1, y: 1, unit: 1), .init(x: 0, y: 1, unit: 0), .init(x: 70_000, y: 1, unit: 0),
    ])
    func someDensitiesHaveNoPlaceInAJPEG(density: PictureColour.Density) {
        #expect(density.jfif == nil)
    }

    @Test(arguments: [1, 7, 65_519])
    func putsProfilesTogether(size: Int) throws {
        let profile = ICCProfileMaker.profile(space: "RGB ")
        var maker = JPEGMaker.noise(width: 8, height: 8, channels: 3)
        maker.early = JPEGSegment.profile(profile, size: size).reversed()
        let (_, reader) = try JPEGReader.pixels(of: maker.encoded)
        #expect(reader.colour.profile?.bytes == profile)
        #expect(reader.warnings == [])
        #expect(reader.segments == ["ICC"])
    }

    /// By Adobe's marker, samples are light instead of ink.
    @Test(arguments: [false, true], JPEGMaker.Scans.allCases)
    func inksBecomeColours(isOfAdobe: Bool, scans: JPEGMaker.Scans) throws {
        var maker = JPEGMaker.noise(width: 19, height: 11, channels: 4)
        maker.scans = scans
        if isOfAdobe {
            maker.early = [JPEGSegment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0])]
        }
        maker.early += JPEGSegment.profile(ICCProfileMaker.profile(space: "CMYK"))
        let (bytes, reader) = try JPEGReader.pixels(of: maker.encoded)
        let layout = PixelLayout(width: 19, height: 11, channels: 3, depth: 8)
        var expected = maker.samples.map { isOfAdobe ? 255 - $0 : $0 }
        try expected.withUnsafeMutableBytes {
            CMYKConverter(to: layout, table: CMYKModel.sRGB)
                .convert(try #require($0.baseAddress), rows: 11)
        }
        #expect(reader.layout == layout)
        #expect(largestDifference(bytes, Array(expected.prefix(layout.bytes))) <= 4)
        #expect(
            reader.warnings == [
                "the colour profile cannot be used: the inks are taken as those of offset printing"
            ])
    }

    /// Pieces missing, given twice differently, of contradicting totals or of number 0; too large; not a profile.
    @Test(arguments: 0..<7)
    func brokenProfilesAreLeftOut(damage: Int) throws {
        let profile = ICCProfileMaker.profile(space: "RGB ")
        var pieces = JPEGSegment.profile(profile, size: 50)
        var limits = PictureLimits()
        switch damage {
        case 0: pieces.removeLast()
        case 1:
            pieces.removeLast()
            pieces.append(pieces[0])
        case 2: pieces[1].data[13] += 1
        case 3: pieces[0].data[12] = 0
        case 4: limits.ancillaryBytes = profile.count - 1
        case 5: pieces[0].data[14 + 36] = 0
        default: pieces = JPEGSegment.profile(ICCProfileMaker.profile(space: "CMYK"))
        }
        var maker = JPEGMaker.noise(width: 8, height: 8, channels: 3)
        maker.early = pieces
        let (bytes, reader) = try JPEGReader.pixels(of: maker.encoded, limits: limits)
        #expect(largestDifference(bytes, maker.samples) <= 2)
        #expect(reader.colour.profile == nil)
        #expect(reader.warnings.count == 1)
        #expect(reader.metadata.meanings == ["ICC": .colour(.profile)])
    }
}
