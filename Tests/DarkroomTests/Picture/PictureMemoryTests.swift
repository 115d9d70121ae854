import TestPictures
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

/// What the steps of a picture hold, and the limit on the sum.
struct PictureMemoryTests {
    static let layout = PixelLayout(width: 100, height: 30, channels: 3, depth: 16)
    /// Of the picture of that layout.
    static let whole = 18_000

    /// A filter, and what it holds of that picture.
    static let holdings: [(Filter, Int)] = [
        (.flip, whole), (.rotate(.quarter), whole), (.rotate(.half), whole),
        (.rotate(.threeQuarters), whole), (.trim(tolerance: 0), whole), (.flop, 0), (.mono, 0),
        (.gamma(2), 0), (.vignette(Filter.Vignette()), 0), (.flatten(background: .white), 0),
        (.pad(Filter.Pad(.margins(top: 1, right: 2, bottom: 3, left: 4))), 0),
        (.crop(.gravity(.center, width: 1, height: 1)), 0),
        // 2·5 + 1 rows of 600 bytes: 16 bits are cut off at 5σ.
        (.blur(sigma: 1), 6600), (.sharpen(sigma: 1, amount: 1, threshold: 0), 6600),
        // No more rows than there are.
        (.blur(sigma: 10), whole),
        // Three lobes of a tenfold reduction to both sides, three floats for each of ten pixels.
        (.resize(Filter.Resize(width: 10)), 30 * 10 * 3 * 4),
        (.resize(Filter.Resize(width: 10, kernel: .nearest)), 0),
        // The six by four pixels that lie within the picture, as RGBA of 8 bits.
        (.overlay(Filter.Overlay(from: "rgb 8 9x4", gravity: .west, x: -3)), 96),
    ]

    @Test(arguments: holdings)
    func countsWhatAFilterHolds(filter: Filter, bytes: Int) throws {
        let context = OtherPictures.context()
        var stage: (any Stage)? = try FilterStage.make(
            filter, upstream: GridStage(.noise(100, 30, channels: 3, depth: 16)), context: context)
        #expect(context.memory.held == bytes)
        if let made = stage { _ = try PixelGrid(pulling: made) }
        #expect(context.memory.held == bytes)
        stage = nil
        #expect(context.memory.held == 0)
    }

    @Test(arguments: holdings.filter { $0.1 > 0 })
    func refusesWhatIsMoreThanTheLimit(filter: Filter, bytes: Int) throws {
        for (limit, fits) in [(bytes, true), (bytes - 1, false)] {
            let limits = PictureLimits { $0.wholePictureBytes = limit }
            let grid = PixelGrid.noise(100, 30, channels: 3, depth: 16)
            if fits {
                _ = try grid.developed(filter, limits: limits)
                continue
            }
            let error = #expect(throws: PictureError.self) {
                try grid.developed(filter, limits: limits)
            }
            #expect(error?.kind == .tooManyPixels)
            #expect(error?.isTransient == false)
            let name = try #require("\(filter)".split { !$0.isLetter }.first)
            #expect(error?.message.hasPrefix("\(name)") == true, "\(error?.message ?? "")")
            #expect(error?.message.contains(Units.bytes(bytes)) == true)
        }
    }

    /// Two turns hold the picture twice, and the message says so.
    @Test func countsTheSumOverAChain() throws {
        let grid = PixelGrid.noise(100, 30, channels: 3, depth: 16)
        var limits = PictureLimits()
        limits.wholePictureBytes = 2 * Self.whole
        let turns: [Filter] = [.rotate(.quarter), .mono, .flip]
        _ = try grid.developed(by: [.rotate(.quarter), .rotate(.half)], limits: limits)
        // A gray picture is a third of it.
        limits.wholePictureBytes = Self.whole * 4 / 3
        _ = try grid.developed(by: turns, limits: limits)
        limits.wholePictureBytes -= 1
        let error = #expect(throws: PictureError.self) {
            try grid.developed(by: turns, limits: limits)
        }
        #expect(
            error?.message
                == "flip: needs 6000 bytes of memory at once; together with the 18000 bytes (17.6 KiB) of the"
                + " picture's other steps, this is more than the limit of 23999 bytes (23.4 KiB)")
    }

    /// An interlaced source is held too.
    @Test func countsAnInterlacedSource() throws {
        let maker = PNGMaker.noise(
            width: 10, height: 10, colourType: .rgb, depth: 8, interlaced: true)
        func run(_ limit: Int) throws {
            let limits = PictureLimits { $0.wholePictureBytes = limit }
            _ = try PictureSteps(filters: [.flip], limits: limits).run(maker.encoded)
        }
        try run(600)
        let error = #expect(throws: PictureError.self) { try run(599) }
        #expect(error?.message.hasPrefix("in.png: flip: needs 300 bytes") == true)
    }
}
