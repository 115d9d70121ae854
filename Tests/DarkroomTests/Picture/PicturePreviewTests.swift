import Foundation
import SystemPackage
import TestPictures
import Testing

@testable import DarkroomPicture

/// Small copies of results, held against their definition.
struct PicturePreviewTests {
    private static func run(
        _ file: [UInt8], _ filters: [Filter] = [], _ format: OutputFormat = .png,
        _ preview: PicturePreview? = nil
    ) throws -> [UInt8] {
        try PictureSteps(
            filters: filters, options: OutputOptions(format: format, compression: .fast)
        ).run(file, preview: preview).file
    }

    /// The copy of a result.
    private static func copy(
        of file: [UInt8], _ filters: [Filter] = []
    ) throws -> PicturePreview {
        let preview = PicturePreview()
        _ = try run(file, filters, .png, preview)
        return preview
    }

    private static func noise(_ width: Int, _ height: Int) throws -> PNGMaker {
        try #require(kinds.first { $0.colourType == .rgb }).noise(width: width, height: height)
    }

    /// The copy of a result, by its definition.
    private static func reference(
        _ picture: ReferencePicture
    ) -> (layout: PixelLayout, samples: [UInt8]) {
        let from = picture.layout
        let longest = max(from.width, from.height)
        let isLarge = from.width * from.height > 524_288
        let wanted = 160 * (Double(from.width * from.height) / 524_288).squareRoot()
        let most = min(longest, isLarge ? min(512, Int(wanted)) : 96)
        let layout = PixelLayout(
            width: max(1, from.width * most / longest),
            height: max(1, from.height * most / longest),
            channels: from.channels > 2 ? 3 : 1, depth: 8)
        let side = from.width * from.height <= 524_288 ? 1 : longest > 16 * most ? 4 : 2
        func place(_ part: Int, _ parts: Int, _ length: Int) -> Int {
            Int((Double(part) + 0.5) * Double(length) / Double(parts))
        }
        func byte(_ sample: UInt16) -> Int { Int(from.depth == 16 ? sample >> 8 : sample) }
        var samples: [UInt8] = []
        for y in 0..<layout.height {
            for x in 0..<layout.width {
                for channel in 0..<layout.channels {
                    var sum = 0
                    for row in 0..<side {
                        for column in 0..<side {
                            let start =
                                (place(y * side + row, layout.height * side, from.height)
                                    * from.width
                                    + place(x * side + column, layout.width * side, from.width))
                                * from.channels
                            let value = byte(picture.samples[start + channel])
                            let alpha =
                                from.hasAlpha
                                ? byte(picture.samples[start + from.channels - 1]) : 255
                            sum += (value * alpha + 255 * (255 - alpha) + 127) / 255
                        }
                    }
                    samples.append(UInt8((sum + side * side / 2) / (side * side)))
                }
            }
        }
        return (layout, samples)
    }

    static let kinds = PixelKind.all.filter { !$0.interlaced }

    /// Also wide pictures, of whose height not every part has a row, and more samples for a pixel.
    @Test(arguments: kinds, [(731, 719), (26_300, 20), (300, 200)])
    func isTheMeanOfItsSamples(kind: PixelKind, size: (width: Int, height: Int)) throws {
        var maker = kind.noise(width: size.width, height: size.height)
        if kind.colourType == .palette { maker.transparency = [0, 128] }
        let preview = PicturePreview()
        let output = try Self.run(maker.encoded, [], .png, preview)
        let expected = Self.reference(try PNGReader.pixels(of: output).picture)
        #expect(preview.layout == expected.layout)
        #expect(preview.bytes == expected.samples)
    }

    /// Of the filtered rows, whatever the writer makes of them, and the output does not change.
    @Test(arguments: [OutputFormat.png, .jpeg]) func isOfTheFilteredRows(
        format: OutputFormat
    ) throws {
        let file = PixelKind.all[0].noise(width: 900, height: 700).encoded
        let filters: [Filter] = [.invert(amount: 1), .rotate(.quarter)]
        let options = OutputOptions(format: format, compression: .fast)
        let preview = PicturePreview()
        #expect(
            try Self.run(file, filters, format, preview) == Self.run(file, filters, format))
        let exact = try Self.run(file, filters)
        let expected = Self.reference(try PNGReader.pixels(of: exact).picture)
        #expect(preview.layout == expected.layout)
        #expect(preview.bytes == expected.samples)
        // Each variant has its own, and it is the same.
        let previews = [PicturePreview(), PicturePreview()]
        let steps = [
            PictureSteps(filters: filters, options: options),
            PictureSteps(filters: [filters[0], .resize(.init(width: 20))]),
        ]
        let made = try PictureVariants.run(file, steps, commonFilters: 1, previews: previews)
        #expect(try made.map { try $0.outcome.get().height } == [900, 16])
        #expect(previews[0].bytes == expected.samples)
        #expect(previews.map(\.isNeeded) == [true, false])
    }

    @Test(
        arguments: [
            (1024, 512, false, (96, 48)), (1024, 513, true, (160, 80)), (60, 40, false, (60, 40)),
            (1, 524_289, true, (1, 160)), (524_289, 1, true, (160, 1)),
            (2048, 1536, true, (391, 293)), (4000, 3000, true, (512, 384)),
            (6000, 4000, true, (512, 341)),
            (1_000_000, 1_000_000, true, (512, 512)), (Int.max, 2, true, (512, 1)),
        ] as [(Int, Int, Bool, (Int, Int))])
    func growsWithThePicture(width: Int, height: Int, isNeeded: Bool, size: (Int, Int)) {
        guard width < Int.max else {
            // Such a picture does not exist, but a status may say so.
            #expect(PicturePreview.isNeeded(forWidth: width, height: height))
            return
        }
        let found = PicturePreview.size(ofWidth: width, height: height)
        #expect(found.width == size.0 && found.height == size.1)
        #expect(PicturePreview.isNeeded(forWidth: width, height: height) == isNeeded)
    }

    /// The copy of the source is the one that the picture has without filters, upright, whatever the filters pull of it.
    @Test(
        arguments: kinds,
        [[], [.crop(.rectangle(x: 1, y: 2, width: 9, height: 8))], [.rotate(.quarter)]]
            as [[Filter]])
    func theSourceHasACopyToo(kind: PixelKind, filters: [Filter]) throws {
        var maker = kind.noise(width: 331, height: 219)
        if kind.colourType == .palette { maker.transparency = [0, 128] }
        let file = maker.encoded
        let alone = try Self.copy(of: file)
        let (before, after) = (PicturePreview(), PicturePreview())
        let made = try PictureSteps(
            filters: filters + [.invert(amount: 1)],
            options: OutputOptions(compression: .fast), sourcePreview: before
        ).run(file, preview: after).file
        #expect(try made == Self.run(file, filters + [.invert(amount: 1)]))
        #expect(before.layout?.width == 96 && before.layout?.height == 63)
        #expect(before.bytes == alone.bytes)
        let difference = try after.difference(from: before)
        #expect((difference == nil) == !filters.isEmpty)
        guard let difference else { return }
        let channels = difference.layout?.channels ?? 0
        #expect(difference.bytes.count == 96 * 63 * channels)
        let (first, second, found) = (before.bytes, after.bytes, difference.bytes)
        for (index, sample) in found.enumerated() {
            let a = first[index * first.count / found.count]
            let b = second[index * second.count / found.count]
            #expect(sample == (a > b ? a - b : b - a))
        }
    }

    /// Of a gray source and a coloured result.
    @Test func aGraySampleStandsForAllChannels() throws {
        let file = try Self.noise(200, 100).encoded
        let before = try Self.copy(of: file, [.grayscale(amount: 1)])
        let after = try Self.copy(of: file)
        let pairs = [try after.difference(from: before), try before.difference(from: after)]
        #expect(pairs[0]?.bytes == pairs[1]?.bytes)
        #expect(pairs[0]?.layout?.channels == 3)
        let first = before.bytes
        let expected = after.bytes.enumerated().map { index, sample in
            UInt8(abs(Int(sample) - Int(first[index / 3])))
        }
        #expect((pairs[0]?.bytes == expected) == true)
    }

    /// Variants share the copy of their source, however it is read.
    @Test(arguments: [0, 1]) func variantsShareTheCopyOfTheSource(common: Int) throws {
        let file = PixelKind.all[0].noise(width: 400, height: 300).encoded
        let alone = try Self.copy(of: file)
        let before = PicturePreview()
        let filters: [Filter] = [
            .crop(.rectangle(x: 3, y: 1, width: 50, height: 40)), .invert(amount: 1),
        ]
        let steps = [
            PictureSteps(filters: filters, sourcePreview: before),
            PictureSteps(filters: Array(filters.prefix(common))),
        ]
        _ = try PictureVariants.run(file, steps, commonFilters: common)
        #expect(before.bytes == alone.bytes)
    }

    @Test func isWrittenAsAJPEG() throws {
        #expect(try PicturePreview().file() == nil)
        let preview = try Self.copy(of: PixelKind.all[0].noise(width: 900, height: 600).encoded)
        let header = try PictureHeader(try #require(try preview.file()), name: "p")
        #expect(header.kind == .jpeg)
        #expect((header.layout.width, header.layout.height) == (162, 108))
    }

    /// The copies of two pictures of one size in one file, and what is between them.
    @Test(
        arguments: [(300, 200), (96, 63), (64, 1), (5, 7), (1, 1), (1000, 700)] as [(Int, Int)],
        [false, true])
    func twoCopiesShareAFile(size: (width: Int, height: Int), isGray: Bool) throws {
        let kind = try #require(Self.kinds.first { $0.colourType == (isGray ? .gray : .rgb) })
        let file = kind.noise(width: size.width, height: size.height).encoded
        let before = try Self.copy(of: file)
        let difference = try #require(
            try Self.copy(of: file, [.invert(amount: 1)]).difference(from: before))
        let layout = try #require(before.layout)
        func pixels(
            _ copy: PicturePreview, above other: PicturePreview? = nil
        ) throws -> ReferencePicture {
            let encoded = try #require(try copy.encoded(above: other))
            return try PNGReader.pixels(of: PictureSteps().run(encoded.jpeg).file).picture
        }
        let pair = PreviewPair(rows: layout.height)
        let encoded = try #require(try before.encoded(above: difference))
        #expect(
            encoded.facts
                == PreviewFacts(
                    width: layout.width, height: layout.height, isPair: true,
                    orientation: .topLeft, sourceWidth: size.width, sourceHeight: size.height))
        #expect(encoded.facts.rows == pair.height)
        let both = try pixels(before, above: difference)
        #expect(both.layout.width == layout.width)
        #expect(both.layout.height == pair.height && (9...24).contains(pair.gap))
        #expect((layout.height + pair.gap) % 16 == 0)
        // The lower one is as it is alone. Of the upper one, the last blocks have other rows below.
        let row = layout.width * both.layout.channels
        // A decoder interpolates the colours of its first row with those of the row before.
        let lower = both.samples.suffix((layout.height - 1) * row)
        #expect(try lower == pixels(difference).samples.dropFirst(row))
        let alone = try pixels(before).samples
        let whole = layout.height / 16 * 16 * row
        #expect(
            both.samples.prefix(max(0, whole - 16 * row)) == alone.prefix(max(0, whole - 16 * row)))
        let worst = zip(both.samples.prefix(alone.count), alone).map { abs(Int($0) - Int($1)) }
            .max()
        #expect(try #require(worst) <= 64)
    }

    /// A browser shows the copy as it shows the picture.
    @Test func hasTheProfileOfThePicture() throws {
        var maker = try Self.noise(300, 200)
        let profile = ICCProfileMaker.profile(space: "RGB ")
        maker.early = [ICCProfileMaker.chunk(name: "p", profile: profile)]
        let preview = try Self.copy(of: maker.encoded)
        preview.orientation = .rightTop
        let header = try PictureHeader(try #require(try preview.file()), name: "p")
        #expect(header.profileBytes == profile.count)
        #expect(header.orientation == .rightTop)
        #expect((header.layout.width, header.layout.height) == (96, 64))
        // That of a source is turned itself.
        let encoded = try #require(try preview.encoded(orientation: .rightTop))
        let turned = try PictureHeader(encoded.jpeg, name: "p")
        #expect(turned.profileBytes == profile.count)
        #expect(turned.orientation == .topLeft)
        #expect((turned.layout.width, turned.layout.height) == (64, 96))
        #expect(
            encoded.facts
                == PreviewFacts(
                    width: 64, height: 96, isPair: false, orientation: .rightTop, sourceWidth: 200,
                    sourceHeight: 300))
    }

    /// As the filters that turn the whole picture upright.
    @Test(arguments: Orientation.allCases) func isTurnedAsAViewerTurnsIt(
        orientation: Orientation
    ) throws {
        // So small that the copy has every pixel.
        let file = try Self.noise(21, 13).encoded
        func encoded(
            _ filters: [Filter], _ orientation: Orientation
        ) throws -> EncodedPreview {
            let before = try Self.copy(of: file, filters)
            let after = try Self.copy(of: file, filters + [.invert(amount: 1)])
            return try #require(
                try before.encoded(
                    above: after.difference(from: before), orientation: orientation))
        }
        let turned = try encoded([], orientation)
        let filtered = try encoded(orientation.filters, .topLeft)
        #expect(turned.jpeg == filtered.jpeg)
        #expect(turned.facts.isPair)
        #expect(
            (turned.facts.sourceWidth, turned.facts.sourceHeight)
                == (filtered.facts.sourceWidth, filtered.facts.sourceHeight))
    }

    /// JPEG has no gamma. `light = sample ^ (1 / gamma)`, and `sRGB = light ^ (1 / 2.2)`.
    @Test(arguments: [nil, 45_455, 46_000, 100_000, 20_000] as [UInt32?])
    func isConvertedFromTheGammaOfThePicture(gamma: UInt32?) throws {
        // Flat parts, which JPEG keeps.
        let values = (0..<4096).map { (index: Int) -> UInt16 in UInt16(index / 8 % 8 * 32 + 16) }
        var maker = PNGMaker(width: 64, height: 64, colourType: .gray, depth: 8, samples: values)
        if let gamma {
            maker.early = [PNGChunk("gAMA", withUnsafeBytes(of: gamma.bigEndian) { Array($0) })]
        }
        let encoded = try #require(try Self.copy(of: maker.encoded).encoded())
        let png = try PictureSteps().run(encoded.jpeg).file
        let found = try PNGReader.pixels(of: png).picture.samples
        // A gamma of 1 / 2.2, or nearly so, is that of sRGB.
        var exponent = 1.0
        if let gamma, gamma < 45_000 || gamma > 46_900 {
            exponent = 100_000 / (2.2 * Double(gamma))
        }
        for (sample, value) in zip(found, values) {
            let expected = pow(Double(value) / 255, exponent) * 255
            #expect(abs(Double(sample) - expected) <= 2)
        }
    }

    /// Also of a JPEG that is decoded at a smaller size, and turned upright.
    @Test(arguments: [false, true]) func tellsTheSizeOfItsPicture(isTurned: Bool) throws {
        let png = try UnnamedFile(PixelKind.all[0].noise(width: 1600, height: 800).encoded)
        let jpeg = try UnnamedFile()
        let exif = Exif.stating(isTurned ? .rightTop : .topLeft)
        let rows = try PictureSteps(filters: [])
            .open(.file(png.descriptor), name: "p")
        _ = try JPEGWriter.write(
            PictureEncoder.Input(
                rows, to: jpeg.descriptor, name: "j", OutputOptions(format: .jpeg), exif: exif))
        let before = PicturePreview()
        _ = try PictureSteps(filters: [.resize(.init(width: 100))], sourcePreview: before)
            .run(jpeg.contents())
        let facts = try #require(try before.encoded()).facts
        let (width, height) = isTurned ? (800, 1600) : (1600, 800)
        #expect((facts.sourceWidth, facts.sourceHeight) == (width, height))
        #expect(facts.orientation == .topLeft && !facts.isPair && facts.isReduced)
    }
}

extension PicturePreview {
    fileprivate var bytes: [UInt8] {
        samples.map { Array(UnsafeBufferPointer(start: $0.start, count: $0.count)) } ?? []
    }
}
