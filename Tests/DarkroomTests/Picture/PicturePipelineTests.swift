import Synchronization
import TestPictures
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

struct PicturePipelineTests {
    @Test(arguments: PixelKind.all)
    func withoutFiltersPixelsStayAsTheyAre(kind: PixelKind) throws {
        let maker = kind.noise(width: 31, height: 23)
        let (file, report) = try PictureSteps().run(maker.encoded)
        #expect(try PNGDecoder.decode(file) == maker.reference)
        let layout = maker.reference.layout
        #expect(report.width == layout.width && report.height == layout.height)
        #expect(report.channels == layout.channels && report.depth == layout.depth)
        #expect(report.bytes == file.count)
        #expect(report.sha256 == SHA256Digest.hex(of: file))
        #expect(report.warnings == [])
        let palette = ["PLTE": kind.interlaced ? "converted" : "kept"]
        #expect(report.metadata == (kind.colourType == .palette ? palette : [:]))
    }

    /// One band of the small result is made of thousands in between.
    @Test(.tags(.concurrency)) func isCancelledInTheMiddleOfAChain() throws {
        let file = PNGMaker.noise(width: 8, height: 8, colourType: .rgb, depth: 8).encoded
        let asked = Atomic(0)
        let filters: [Filter] = [
            .resize(Filter.Resize(width: 2000, height: 2000)), .blur(sigma: 2),
            .resize(Filter.Resize(width: 8, height: 8)),
        ]
        #expect(throws: PictureError(.cancelled, "in.png: cancelled between two bands")) {
            try PictureSteps(
                filters: filters,
                checkpoint: { asked.add(1, ordering: .relaxed).newValue < 50 }
            ).run(file)
        }
        #expect(asked.load(ordering: .relaxed) == 50)
    }

    // MARK: What becomes of other chunks

    static let rgb = ICCProfileMaker.profile(space: "RGB ")
    static let gray = ICCProfileMaker.profile(space: "GRAY")
    static let gAMA = PNGChunk("gAMA", [0, 0, 0x8A, 0xD0])
    static let cHRM = PNGChunk(
        "cHRM",
        [0x7A25, 0x8083, 0xFA00, 0x80E8, 0x7530, 0xEA60, 0x3A98, 0x1770].flatMap {
            [0, 0, UInt8($0 >> 8), UInt8($0 & 0xFF)]
        })
    static let sRGB = PNGChunk("sRGB", [1])
    static let cICP = PNGChunk("cICP", [9, 16, 0, 1])
    static let pHYs = PNGChunk("pHYs", [0, 0, 0x0B, 0x13, 0, 0, 0x0E, 0xC4, 1])

    @Test(arguments: [[gAMA], [cHRM], [sRGB], [cICP], [pHYs], [gAMA, cHRM, pHYs, cICP]])
    func colourChunksAreKeptAsTheyAre(chunks: [PNGChunk]) throws {
        for colourType in [PNGMaker.ColourType.gray, .rgb, .rgba] {
            var maker = PNGMaker.noise(width: 4, height: 4, colourType: colourType, depth: 8)
            maker.early = chunks
            let (file, report) = try PictureSteps().run(maker.encoded)
            let written = try #require(PNGChunk.all(in: file))
                .filter { !["IHDR", "IDAT", "IEND"].contains($0.type) }
            #expect(written.sorted { $0.type < $1.type } == chunks.sorted { $0.type < $1.type })
            #expect(
                report.metadata
                    == Dictionary(uniqueKeysWithValues: chunks.map { ($0.type, "kept") }))
            #expect(report.warnings == [])
        }
    }

    @Test(arguments: [
        (PNGMaker.ColourType.rgb, rgb), (.rgba, rgb), (.gray, gray), (.grayAlpha, gray),
    ])
    func profilesAreKept(colourType: PNGMaker.ColourType, profile: [UInt8]) throws {
        var maker = PNGMaker.noise(width: 4, height: 4, colourType: colourType, depth: 8)
        maker.early = [ICCProfileMaker.chunk(name: "of the test", profile: profile)]
        let (file, report) = try PictureSteps().run(maker.encoded)
        #expect(report.metadata == ["iCCP": "kept"])
        let chunk = try #require(PNGChunk.all(in: file)?.first { $0.type == "iCCP" })
        let name = Array("of the test".utf8) + [0, 0]
        #expect(chunk.data.starts(with: name))
        #expect(try Inflater.zlib(Array(chunk.data.dropFirst(name.count))) == profile)
    }

    @Test func otherChunksAreDroppedAndListed() throws {
        var maker = PNGMaker.noise(width: 4, height: 4, colourType: .rgb, depth: 8)
        maker.palette = [[1, 2, 3]]
        maker.transparency = [0, 1, 0, 2, 0, 3]
        maker.early = [PNGChunk("sBIT", [5, 6, 5])]
        maker.middle = [
            PNGChunk("tEXt", Array("Author\0somebody".utf8)), PNGChunk("eXIf", Array("MM".utf8)),
            PNGChunk("bKGD", [0, 1, 0, 2, 0, 3]),
        ]
        maker.late = [PNGChunk("tIME", [0, 1, 2, 3, 4, 5, 6]), PNGChunk("prVt", [9])]
        let (file, report) = try PictureSteps().run(maker.encoded)
        #expect(
            report.metadata == [
                "PLTE": "dropped", "tRNS": "converted", "sBIT": "dropped", "tEXt": "dropped",
                "eXIf": "dropped", "bKGD": "dropped", "tIME": "dropped", "prVt": "dropped",
            ])
        let types = try #require(PNGChunk.all(in: file)).map(\.type)
        #expect(types == ["IHDR", "IDAT", "IEND"])
    }

    @Test func unusableChunksAreDroppedWithARemark() throws {
        var maker = PNGMaker.noise(width: 4, height: 4, colourType: .rgb, depth: 8)
        maker.early = [ICCProfileMaker.chunk(name: "wrong space", profile: Self.gray)]
        maker.transparency = [1]
        let (_, report) = try PictureSteps().run(maker.encoded)
        #expect(report.metadata == ["iCCP": "dropped", "tRNS": "dropped"])
        #expect(report.channels == 3)
        #expect(report.warnings.count == 2, "\(report.warnings)")
    }

    /// Density says how large a pixel is; it stays where pixels do.
    @Test(arguments: [
        (Filter.Resize(width: 4), true), (Filter.Resize(width: 9, withoutEnlargement: true), true),
        (Filter.Resize(width: 4, height: 9, fit: .contain), true),
        (Filter.Resize(width: 3), false), (Filter.Resize(width: 9), false),
    ])
    func densityStaysWithAResizeThatChangesNothing(resize: Filter.Resize, stays: Bool) throws {
        var maker = PNGMaker.noise(width: 4, height: 4, colourType: .rgb, depth: 8)
        maker.early = [PNGChunk("pHYs", [0, 0, 11, 19, 0, 0, 11, 19, 1])]
        let (file, report) = try PictureSteps(filters: [.resize(resize)]).run(maker.encoded)
        #expect(report.metadata == ["pHYs": stays ? "kept" : "dropped"])
        let types = try #require(PNGChunk.all(in: file)).map(\.type)
        #expect(types.contains("pHYs") == stays)
    }

    @Test func chunksFollowTheFilters() {
        var colour = PictureColour()
        colour.density = .init(x: 10, y: 20, unit: 1)
        colour.profile = .init(name: Array("p".utf8), bytes: Self.rgb)
        let rgb = PixelLayout(width: 2, height: 2, channels: 4, depth: 8)
        let gray = PixelLayout(width: 2, height: 2, channels: 2, depth: 8)
        let turned = PictureColour.Density(x: 20, y: 10, unit: 1)
        #expect(colour.carried(through: [], to: rgb) == colour)
        #expect(colour.carried(through: [.mono], to: gray).profile == nil)
        #expect(colour.carried(through: [.rotate(.quarter)], to: rgb).density == turned)
        #expect(
            colour.carried(through: [.rotate(.quarter), .rotate(.threeQuarters)], to: rgb)
                == colour)
        #expect(colour.carried(through: [.rotate(.half), .flip, .flop], to: rgb) == colour)
        #expect(colour.carried(through: [.resize(.init(width: 1))], to: rgb).density == nil)
        colour.profile = .init(name: Array("p".utf8), bytes: Self.gray)
        #expect(colour.carried(through: [], to: gray).profile == colour.profile)
        #expect(colour.carried(through: [], to: rgb).profile == nil)
    }

    // MARK: Order and ends

    /// Lends the first row only, as a crop may.
    private final class FirstRow: Stage {
        let layout: PixelLayout
        private let upstream: any Stage
        private var isDone = false

        init(_ upstream: any Stage) {
            self.upstream = upstream
            layout = PixelLayout(
                width: upstream.layout.width, height: 1, channels: upstream.layout.channels,
                depth: upstream.layout.depth)
        }

        func nextBand() throws(PictureError) -> Band? {
            if isDone { return nil }
            isDone = true
            return try upstream.nextBand().map { Band(start: $0.start, rows: 0..<1) }
        }
    }

    /// With the stages of the real filters; sepia's values are those of its definition.
    @Test func realFiltersFollowEachOther() throws {
        var maker = PNGMaker(
            width: 2, height: 1, colourType: .rgb, depth: 8, samples: [255, 0, 0, 0, 255, 0])
        maker.early = [ICCProfileMaker.chunk(name: "p", profile: Self.rgb), Self.pHYs]
        func run(_ filters: [Filter]) throws -> (ReferencePicture, PictureReport) {
            let (file, report) = try PictureSteps(filters: filters).run(maker.encoded)
            return (try PNGDecoder.decode(file), report)
        }
        let (sepia, kept) = try run([.sepia(intensity: 1), .flop, .rotate(.quarter)])
        #expect(sepia.layout == PixelLayout(width: 1, height: 2, channels: 3, depth: 8))
        #expect(sepia.samples == [196, 175, 136, 100, 89, 69])
        #expect(kept.metadata == ["iCCP": "kept", "pHYs": "converted"])

        let (gray, dropped) = try run([.grayscale(amount: 1)])
        #expect(gray.layout.channels == 1)
        #expect(gray.samples == [54, 182])
        #expect(dropped.metadata == ["iCCP": "dropped", "pHYs": "kept"])

        expectFailure(.filterOutside, start: "in.png: crop: ") {
            try run([.crop(.rectangle(x: 0, y: 0, width: 3, height: 1))])
        }
    }

    @Test func filtersAreStackedInTheirOrder() throws {
        var made: [Filter] = []
        let maker = PNGMaker.noise(width: 5, height: 5, colourType: .rgb, depth: 8)
        _ = try PictureSteps(
            filters: [.mono, .flip, .sepia(intensity: 1)],
            stage: { filter, upstream, _ in
                made.append(filter)
                return upstream
            }
        ).run(maker.encoded)
        #expect(made == [.mono, .flip, .sepia(intensity: 1)])
    }

    /// A running picture counts as one core at work, whatever becomes of it.
    @Test(.tags(.concurrency)) func aPictureHasACore() throws {
        let cores = Cores(count: 3)
        var idle: [Int] = []
        for damage in [nil, PNGDamage.wrongAdler] {
            let maker = PNGMaker.noise(width: 5, height: 5, colourType: .rgb, depth: 8)
            let report = try? PictureSteps(
                filters: [.flip], cores: cores,
                stage: { _, upstream, _ in
                    idle.append(cores.idle)
                    return upstream
                }
            ).run(damage?.file(from: maker) ?? maker.encoded)
            #expect((report == nil) == (damage != nil))
            #expect(cores.idle == 3)
        }
        #expect(idle == [2, 2])
    }

    @Test(arguments: [PNGDamage.wrongAdler, .missingEnd, .crcOfLastData, .dataChunkAfterOthers])
    func damageThatNoFilterLooksAtIsFound(_ damage: PNGDamage) throws {
        var maker = PNGMaker.noise(width: 300, height: 600, colourType: .rgb, depth: 8)
        maker.method = .stored
        func topRow(of file: [UInt8]) throws -> [UInt8] {
            try PictureSteps(filters: [.flip], stage: { _, upstream, _ in FirstRow(upstream) }).run(
                file
            )
            .file
        }
        let row = try PNGDecoder.decode(topRow(of: maker.encoded))
        #expect(row.samples == Array(maker.samples.prefix(900)))
        let file = damage.file(from: maker)
        expectFailure(damage.code) { try topRow(of: file) }
    }

    /// Fails when it is asked for rows.
    private final class Failing: Stage {
        let layout = PixelLayout(width: 1, height: 1, channels: 1, depth: 8)

        func nextBand() throws(PictureError) -> Band? {
            throw PictureError(.outOfMemory, "blur: no memory", isTransient: true)
        }
    }

    /// Filters do not know the picture's name.
    @Test func errorsOfFiltersGetThePicturesName() throws {
        let file = PNGMaker.noise(width: 5, height: 5, colourType: .rgb, depth: 8).encoded
        #expect(throws: PictureError(.filterOutside, "in.png: crop: outside")) {
            try PictureSteps(
                filters: [.flip],
                stage: { _, _, _ throws(PictureError) in
                    throw PictureError(.filterOutside, "crop: outside")
                }
            ).run(file)
        }
        #expect(throws: PictureError(.outOfMemory, "in.png: blur: no memory", isTransient: true)) {
            try PictureSteps(filters: [.flip], stage: { _, _, _ in Failing() }).run(file)
        }
    }

    @Test func whatIsNotAPictureIsNamed() throws {
        let page = Array("<!DOCTYPE html><title>404</title>".utf8)
        let message = "in.png: this is an HTML page, not a picture"
        #expect(throws: PictureError(.notAPicture, message)) { try PictureSteps().run(page) }
    }
}
