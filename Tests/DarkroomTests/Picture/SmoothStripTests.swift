import CDarkroomDeflate
import TestPictures
import Testing

@testable import DarkroomPicture

/// How smooth strips are compressed: as the long runs of the chosen filters' bytes, or by a search.
struct SmoothStripTests {
    static let width = 400
    static let height = 450

    /// What a strip's bytes are.
    enum Method {
        /// The runs of the chosen filters' bytes.
        case runs
        /// Only the long ones.
        case longRuns
        /// Less than both.
        case search
    }

    struct Content: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var channels = 3
        var method: Method
        var sample: @Sendable (_ x: Int, _ y: Int, _ channel: Int) -> UInt16

        var picture: ReferencePicture {
            ReferencePicture(width, height, channels: channels, sample: sample)
        }
    }

    /// A photograph's likeness, enlarged: random samples, and slopes between them.
    static func enlarged(_ x: Int, _ y: Int, _ channel: Int, by factor: Int = 77) -> UInt16 {
        func corner(_ column: Int, _ row: Int) -> Double {
            var random = SplitMix64(seed: UInt64(channel << 40 | row << 20 | column))
            return Double(random.next() >> 11) / 0x1p53
        }
        func ease(_ place: Int) -> Double {
            let t = Double(place % factor) / Double(factor)
            return t * t * (3 - 2 * t)
        }
        let (column, row, right, down) = (x / factor, y / factor, ease(x), ease(y))
        let top = corner(column, row) * (1 - right) + corner(column + 1, row) * right
        let bottom = corner(column, row + 1) * (1 - right) + corner(column + 1, row + 1) * right
        return UInt16(20 + 200 * (top * (1 - down) + bottom * down))
    }

    static func grain(_ x: Int, _ y: Int, _ channel: Int, values: UInt64) -> UInt16 {
        var random = SplitMix64(seed: UInt64(channel << 40 | y << 20 | x))
        return UInt16(random.next() % values)
    }

    static let contents = [
        Content(testDescription: "enlarged", method: .longRuns) { enlarged($0, $1, $2) },
        Content(testDescription: "enlarged, with alpha", channels: 4, method: .longRuns) {
            enlarged($0, $1, $2)
        },
        // The shades themselves repeat.
        Content(testDescription: "enlarged, gray", channels: 1, method: .search) {
            enlarged($0, $1, $2)
        },
        Content(testDescription: "enlarged, with grain", method: .runs) {
            enlarged($0, $1, $2) + grain($0, $1, $2, values: 8)
        },
        Content(testDescription: "enlarged a little", method: .runs) {
            enlarged($0, $1, $2, by: 10)
        },
        Content(testDescription: "slope", method: .search) { UInt16(($0 + 2 * $1 + 40 * $2) / 8) },
        Content(testDescription: "bowl", method: .search) { x, y, channel in
            UInt16(((x - 200) * (x - 200) + (y - 225) * (y - 225)) / (400 + 100 * channel))
        },
        Content(testDescription: "enlarged, beside letters", method: .search) { x, y, channel in
            x < 150
                ? enlarged(x, y, channel)
                : StripFilterTests.Content.drawn.sample(x, y, channel, noise: 0)
        },
    ]

    /// The bytes of each strip's rows with the chosen filters.
    static func lines(of picture: ReferencePicture) -> [[UInt8]] {
        let layout = picture.layout
        let filtered = PNGChooseTests.filtered(
            PNGChooseTests.Rows(
                rowBytes: layout.bytesPerRow, count: layout.height, bytes: picture.bytes),
            pixelBytes: layout.channels)
        let line = layout.bytesPerRow + 1
        let rows = darkroom_strip_rows(
            layout.bytesPerRow, layout.height, DARKROOM_DEFLATE_BALANCED)
        return stride(from: 0, to: layout.height, by: rows).map { row in
            Array(filtered[row * line..<min(row + rows, layout.height) * line])
        }
    }

    /// The deflated bytes of each strip.
    static func strips(of file: [UInt8]) throws -> [[UInt8]] {
        var strips = try #require(PNGChunk.all(in: file)).filter { $0.type == "IDAT" }.map(\.data)
        // zlib's head; an empty block and the checksum.
        strips[0].removeFirst(2)
        strips[strips.count - 1].removeLast(6)
        return strips
    }

    @Test(arguments: contents, [PNGWriter.Compression.fast, .balanced])
    func onlyWhatIsSmoothHasOnlyLongRuns(
        content: Content, compression: PNGWriter.Compression
    ) throws {
        let picture = content.picture
        let strips = try Self.strips(of: StripEncoderTests.write(picture, compression))
        let lines = Self.lines(of: picture)
        #expect(strips.count == lines.count)
        for (strip, bytes) in zip(strips, lines) {
            let runs = DeflateTests.deflate(bytes)
            let longRuns = DeflateTests.deflate(bytes, onlyLongRuns: true)
            switch content.method {
            case .runs: #expect(strip == runs)
            case .longRuns: #expect(strip == longRuns)
            case .search: #expect(strip.count < min(runs.count, longRuns.count) * 9 / 10)
            }
        }
    }

    /// All methods together do not save much more.
    @Test(arguments: contents.filter { $0.method == .longRuns })
    func longRunsAreHardlyLarger(content: Content) throws {
        let picture = content.picture
        let balanced = try StripEncoderTests.write(picture, .balanced).count
        let small = try StripEncoderTests.write(picture, .small).count
        #expect(balanced < small * 4 / 3, "\(balanced), \(small)")
    }

    /// Where the parts are smooth and the rest is not, the rest is searched.
    @Test func partsOfASmoothStripMayMislead() throws {
        let rows = darkroom_strip_rows(Self.width * 3, Self.height, DARKROOM_DEFLATE_BALANCED)
        let content = Content(testDescription: "", method: .search) { x, y, channel in
            // The parts are at the first and the third quarter; what tells the kind is in the middle.
            let isTold = (y % rows * 40 / rows + 1) % 10 < 2
            return isTold
                ? Self.enlarged(x, y, channel) : Self.grain(x % 40, y, channel, values: 256)
        }
        let picture = content.picture
        let strip = try Self.strips(of: StripEncoderTests.write(picture, .balanced))[0]
        let bytes = Self.lines(of: picture)[0]
        #expect(strip.count < DeflateTests.deflate(bytes).count / 2)
    }
}
