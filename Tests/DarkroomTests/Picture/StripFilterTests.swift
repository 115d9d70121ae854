import Foundation
import TestPictures
import Testing

@testable import DarkroomPicture

/// Which row filters the parts of a strip speak for, by made pictures of two strips each and a short third one.
struct StripFilterTests {
    static let width = 400
    static let height = 450

    /// What a pixel's channel is.
    enum Content: CaseIterable {
        /// A surface without any grain, as blur and enlargement leave it.
        case smooth
        /// The same from few waves, of which those down the columns repeat.
        case waves
        /// The same with grain.
        case grained
        /// One colour's shades: a pixel tells its channels.
        case toned
        /// The same with fewer shades.
        case faint
        /// The colours of a palette: pixels repeat, and their differences do not.
        case indexed
        /// A slope that repeats in every row.
        case gradient
        /// Few shapes on a ground.
        case drawn

        func sample(_ x: Int, _ y: Int, _ channel: Int, noise: UInt64) -> UInt16 {
            switch self {
            case .smooth:
                let wave = sin(Double(x) / 37 + Double(channel)) * cos(Double(y) / 53)
                return UInt16(128 + 60 * wave + 40 * sin(Double(x + y) / 91 + Double(channel)))
            case .waves:
                let across = sin(Double(x) / 20 + Double(channel))
                let aslant = cos((Double(x) / 4 + Double(y)) / 30 + Double(channel))
                return UInt16(128 + 60 * across + 40 * aslant)
            case .grained:
                return Content.smooth.sample(x, y, channel, noise: 0)
                    + UInt16(noise >> (8 * channel) & 15)
            case .toned: return (100 + UInt16(noise & 31)) * UInt16([10, 9, 7][channel]) / 10
            case .faint: return Content.toned.sample(x, y, channel, noise: noise & 1)
            case .indexed:
                let index = UInt16((x + y) / 20) + UInt16(noise & 31)
                return (index * [37, 101, 59][channel] + UInt16(channel) * 40) & 255
            case .gradient: return UInt16((x + y + channel * 20) / 8)
            case .drawn:
                let isShape = (x / 7 * 13 + y / 9 * 29) % 5 == 0
                return isShape ? UInt16((x % 7 * (y % 9) * 11 + channel * 60) & 255) : 245
            }
        }
    }

    static func picture(_ content: (_ x: Int, _ y: Int) -> Content) -> ReferencePicture {
        var random = SplitMix64(seed: 9)
        var noise: UInt64 = 0
        return ReferencePicture(width, height, channels: 3) { x, y, channel in
            if channel == 0 { noise = random.next() }
            return content(x, y).sample(x, y, channel, noise: noise)
        }
    }

    /// The filters of the first and of the second strip's rows.
    static func filters(of rows: [UInt8]) -> [[UInt8]] {
        let line = width * 3 + 1
        let perStrip = 262_144 / line
        return (0..<2).map { strip in
            (strip * perStrip..<(strip + 1) * perStrip).map { rows[$0 * line] }
        }
    }

    static func filteredRows(of file: [UInt8]) throws -> [UInt8] {
        let stream = try #require(PNGChunk.all(in: file)).filter { $0.type == "IDAT" }
        return try Inflater.zlib(stream.flatMap(\.data))
    }

    static func chosenRows(of picture: ReferencePicture) -> [UInt8] {
        let rows = PNGChooseTests.Rows(
            rowBytes: width * 3, count: height, bytes: picture.bytes)
        return PNGChooseTests.filtered(rows, pixelBytes: 3)
    }

    /// A kind of picture, and the filters of its two strips; nil where they are chosen row by row.
    struct Decision: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let content: @Sendable (_ x: Int, _ y: Int) -> Content
        let balanced: [UInt8?]
        let fast: [UInt8?]

        init(
            _ name: String, _ content: @escaping @Sendable (_ x: Int, _ y: Int) -> Content,
            _ balanced: [UInt8?], _ fast: [UInt8?]
        ) {
            (testDescription, self.content) = (name, content)
            (self.balanced, self.fast) = (balanced, fast)
        }
    }

    static let decisions = [
        Decision("smooth", { _, _ in .smooth }, [nil, nil], [nil, nil]),
        Decision("waves", { _, _ in .waves }, [2, 2], [2, 2]),
        Decision("grained", { _, _ in .grained }, [nil, nil], [nil, nil]),
        Decision("toned", { _, _ in .toned }, [0, 0], [nil, nil]),
        Decision("indexed", { _, _ in .indexed }, [0, 0], [nil, nil]),
        Decision("gradient", { _, _ in .gradient }, [nil, nil], [nil, nil]),
        Decision("drawn", { _, _ in .drawn }, [0, nil], [0, nil]),
        Decision(
            "waves above, drawn below", { _, y in y < height / 2 ? .waves : .drawn }, [2, nil],
            [2, nil]),
        Decision(
            "waves above, grained below", { _, y in y < height / 2 ? .waves : .grained }, [2, nil],
            [2, nil]),
        Decision(
            "smooth on the left, drawn on the right",
            { x, _ in x < width / 2 ? .smooth : .drawn }, [nil, nil], [nil, nil]),
    ]

    @Test(arguments: decisions, [PNGWriter.Compression.fast, .balanced])
    func partsSpeakForTheStrip(decision: Decision, compression: PNGWriter.Compression) throws {
        let picture = Self.picture(decision.content)
        let file = try StripEncoderTests.write(picture, compression, cores: [1, 3])
        let expected = compression == .fast ? decision.fast : decision.balanced
        let found = Self.filters(of: try Self.filteredRows(of: file))
        let chosen = Self.filters(of: Self.chosenRows(of: picture))
        for strip in 0..<2 {
            let uniform = expected[strip].map { [UInt8](repeating: $0, count: chosen[strip].count) }
            #expect(found[strip] == uniform ?? chosen[strip], "strip \(strip)")
        }
    }

    /// The parts of a toned strip tell nothing of the rest: it is compressed as if they did not exist.
    @Test func partsOfATonedStripMayMislead() throws {
        func file(_ content: (Int, Int) -> Content, _ compression: PNGWriter.Compression) throws
            -> [UInt8]
        {
            try StripEncoderTests.write(Self.picture(content), compression)
        }
        let rows = 262_144 / (Self.width * 3 + 1)
        let content = { (x: Int, y: Int) in
            let place = Double(y % rows) / Double(rows)
            return abs(abs(place - 0.5) - 0.25) < 0.03 ? Content.faint : .toned
        }
        let balanced = try file(content, .balanced).count
        let fast = try file(content, .fast).count
        let toned = try file({ _, _ in .toned }, .balanced).count
        #expect(balanced < fast * 85 / 100)
        #expect(balanced < toned)
    }

    /// A picture is hardly larger than its halves alone.
    @Test func halvesAreCompressedAsIfAlone() throws {
        func size(_ content: (Int, Int) -> Content) throws -> Int {
            try StripEncoderTests.write(Self.picture(content), .balanced).count
        }
        let smooth = try size { _, _ in .smooth }
        let drawn = try size { _, _ in .drawn }
        let both = try size { _, y in y < Self.height / 2 ? .smooth : .drawn }
        #expect(Double(both) < 1.1 * Double(smooth / 2 + drawn / 2) + 8_000)
        let beside = try size { x, _ in x < Self.width / 2 ? .smooth : .drawn }
        #expect(Double(beside) < 1.1 * Double(smooth + drawn))
    }
}
