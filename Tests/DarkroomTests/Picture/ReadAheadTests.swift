import Synchronization
import TestPictures
import TestSupport
import Testing

@testable import DarkroomPicture

/// Reading ahead changes neither what is read nor how it ends.
@Suite(.tags(.concurrency)) struct ReadAheadTests {
    static let picture: ReferencePicture = {
        var random = SplitMix64(seed: 5)
        return ReferencePicture(97, 211, channels: 3) { _, _, _ in UInt16(random.next() & 255) }
    }()

    /// Lends bands of a few rows, always in the same memory, and fails before one of them.
    final class Source: Stage {
        let layout = ReadAheadTests.picture.layout
        private let failingRow: Int?
        private var next = 0
        private let band: FilterBuffer<UInt8>
        /// Who is in `nextBand`: never two.
        private let readers = Atomic(0)
        let mostReaders = Atomic(0)

        init(failingRow: Int? = nil) throws {
            self.failingRow = failingRow
            band = try FilterBuffer(count: 7 * layout.bytesPerRow)
        }

        func nextBand() throws(PictureError) -> Band? {
            let now = readers.add(1, ordering: .sequentiallyConsistent).newValue
            mostReaders.max(now, ordering: .sequentiallyConsistent)
            defer { readers.subtract(1, ordering: .sequentiallyConsistent) }
            guard next < layout.height else { return nil }
            let rows = next..<min(layout.height, next + 7)
            if let failingRow, rows.contains(failingRow) {
                throw PictureError(.pngData, "row \(failingRow)")
            }
            next = rows.upperBound
            let samples = layout.width * layout.channels
            for (place, index) in (rows.lowerBound * samples..<rows.upperBound * samples)
                .enumerated()
            {
                band.start[place] = UInt8(ReadAheadTests.picture.samples[index])
            }
            return Band(start: band.start, rows: rows)
        }
    }

    /// Cores, of which one is the owner's.
    static func cores(_ count: Int) -> Cores {
        let cores = Cores(count: count)
        cores.enter()
        return cores
    }

    static func isRight(_ band: Band) -> Bool {
        let samples = picture.layout.width * picture.layout.channels
        let bytes = band.start.assumingMemoryBound(to: UInt8.self)
        return (0..<band.rows.count * samples).allSatisfy {
            UInt16(bytes[$0]) == picture.samples[band.rows.lowerBound * samples + $0]
        }
    }

    /// Takes the rows that are left, and checks them.
    ///
    /// - Parameter then: gets the number of rows after each band.
    static func expectRows(
        of ahead: ReadAhead, from first: Int = 0, then: (Int) -> Void = { _ in }
    ) throws {
        var next = first
        while let band = try ahead.nextBand() {
            #expect(band.rows.lowerBound == next)
            let isRight = Self.isRight(band)
            #expect(isRight)
            next = band.rows.upperBound
            then(next)
        }
        #expect(next == picture.layout.height)
    }

    @Test(arguments: [2, 3, 8], [true, false])
    func givesWhatItsSourceGives(count: Int, begins: Bool) throws {
        let cores = Self.cores(count)
        let source = try Source()
        let ahead = try #require(ReadAhead(source, cores, leastBytes: 1))
        if begins { ahead.begin() }
        try Self.expectRows(of: ahead)
        #expect(try ahead.nextBand() == nil)
        ahead.close()
        #expect(source.mostReaders.load(ordering: .relaxed) == 1)
        #expect(cores.idle == count - 1)
    }

    @Test(arguments: [0, 1, 40, 210], [true, false])
    func passesAFailureOnAfterTheBandsBeforeIt(row: Int, begins: Bool) throws {
        let cores = Self.cores(2)
        let ahead = try #require(
            ReadAhead(try Source(failingRow: row), cores, leastBytes: 1))
        if begins { ahead.begin() }
        var next = 0
        #expect(throws: PictureError(.pngData, "row \(row)")) {
            while let band = try ahead.nextBand() { next = band.rows.upperBound }
        }
        #expect(next == row / 7 * 7)
        ahead.close()
        #expect(cores.idle == 1)
    }

    /// Closed in the midst of it nobody reads any more, and the rest is still there.
    @Test(arguments: 1...12)
    func canBeClosedAtAnyTime(bands: Int) throws {
        let cores = Self.cores(2)
        let source = try Source()
        let ahead = try #require(ReadAhead(source, cores, leastBytes: 1))
        ahead.begin()
        var next = 0
        for _ in 0..<bands { next = try #require(try ahead.nextBand()).rows.upperBound }
        ahead.close()
        #expect(cores.idle == 1)
        try Self.expectRows(of: ahead, from: next)
        #expect(cores.idle == 1)
    }

    /// A core that is lent serves both: what is read is in order, whatever other work there is, and the core is
    /// given back.
    @Test(arguments: [2, 3], 0..<20)
    func sharesItsCore(count: Int, pieces: Int) throws {
        let cores = Self.cores(count)
        let source = try Source()
        let ahead = try #require(ReadAhead(source, cores, leastBytes: 1))
        let left = Mutex(pieces)
        ahead.share {
            left.withLock { left in
                defer { left = max(0, left - 1) }
                return left > 0
            }
        }
        ahead.begin()
        try Self.expectRows(of: ahead) { next in
            // As who has encoded the last strip does; somebody may be there already.
            if next % 35 == 0, cores.tryBorrow() {
                if ahead.takeOver() { ahead.help() } else { cores.giveBack() }
            }
        }
        ahead.close()
        #expect(source.mostReaders.load(ordering: .relaxed) == 1)
        #expect(!ahead.hasHelper)
        #expect(cores.idle == count - 1)
    }

    /// A core is kept only where there is something to read.
    @Test func takesNoCoreForNothing() throws {
        let cores = Self.cores(2)
        let ahead = try #require(ReadAhead(try Source(), cores, leastBytes: 1))
        #expect(!ahead.takeOver())
        ahead.begin()
        #expect(cores.tryBorrow())
        #expect(ahead.takeOver())
        #expect(!ahead.takeOver())
        ahead.help()
        #expect(cores.idle == 1)
        // It has read as far as there is room.
        #expect(cores.tryBorrow())
        #expect(!ahead.takeOver())
        cores.giveBack()
        while try ahead.nextBand() != nil {}
        #expect(!ahead.takeOver())
        ahead.close()
        #expect(!ahead.takeOver())
        #expect(cores.idle == 1)
    }

    /// What a stage gives until it ends or fails.
    struct Outcome: Equatable {
        let bytes: [UInt8]
        let error: PictureError?

        init(of stage: any Stage) { (bytes, error) = stage.bytesUntilError() }

        /// A file read by one thread, and read ahead.
        static func pair(of file: [UInt8], count: Int = 3) throws -> (alone: Self, ahead: Self) {
            let alone = try UnnamedFile(file), shared = try UnnamedFile(file)
            let reader = try PNGReader(
                PictureDecoder.Input(.file(shared.descriptor), name: "x.png"))
            let cores = cores(count)
            let ahead = try #require(ReadAhead(reader, cores, leastBytes: 1))
            ahead.begin()
            let second = Outcome(of: ahead)
            ahead.close()
            #expect(cores.idle == count - 1)
            let first = try Outcome(
                of: PNGReader(PictureDecoder.Input(.file(alone.descriptor), name: "x.png")))
            return (first, second)
        }
    }

    /// Wide, so that each row is a band.
    static func wide(_ kind: PixelKind) -> PNGMaker {
        let channels = kind.colourType == .palette ? 3 : kind.colourType.channels
        let bytes = channels * max(1, kind.depth / 8)
        var maker = kind.noise(width: 66_000 / bytes, height: 12)
        maker.method = .stored
        maker.bytesPerIDAT = 40_000
        return maker
    }

    /// Rows that are expanded, that are not, of two bytes, and those of which no steps are made.
    @Test(arguments: [
        PixelKind(colourType: .gray, depth: 1, interlaced: false),
        PixelKind(colourType: .palette, depth: 4, interlaced: false),
        PixelKind(colourType: .rgb, depth: 8, interlaced: false),
        PixelKind(colourType: .rgba, depth: 16, interlaced: false),
        PixelKind(colourType: .gray, depth: 8, interlaced: true),
    ])
    func givesTheSameOfAPNG(kind: PixelKind) throws {
        let maker = Self.wide(kind)
        let (alone, ahead) = try Outcome.pair(of: maker.encoded)
        #expect(alone.error == nil)
        #expect(ahead.error == nil)
        let isSame = alone.bytes == ahead.bytes
        #expect(isSame)
        #expect(ahead.bytes.count == maker.reference.layout.bytes)
    }

    /// Made once, which takes longer than what is tried on it.
    private static let widePalette = wide(
        PixelKind(colourType: .palette, depth: 8, interlaced: false))

    /// The same error with the same words behind the same rows, whoever meets it first.
    @Test(arguments: PNGDamage.failing)
    func failsAsReadingAloneDoes(damage: PNGDamage) throws {
        let file = damage.file(from: Self.widePalette)
        for _ in 0..<2 {
            guard let (alone, ahead) = try? Outcome.pair(of: file) else {
                // The header is damaged already.
                #expect(throws: PictureError.self) { try PNGReader.pixels(of: file) }
                return
            }
            #expect(ahead.error == alone.error)
            #expect(ahead.error?.kind == damage.code)
            let isSame = alone.bytes == ahead.bytes
            #expect(isSame)
        }
    }

    /// A row that only the second step finds bad comes before damage that the first has met meanwhile.
    @Test(arguments: [0, 3, 10])
    func theFirstBadRowIsTheOneReported(row: Int) throws {
        let maker = Self.wide(PixelKind(colourType: .rgb, depth: 8, interlaced: false))
        var rows = maker.filteredRows()
        rows[row * (rows.count / maker.height)] = 9
        let file = PNGChunk.file(maker.chunks(around: maker.stream(of: rows, adlerError: 1)))
        let (alone, ahead) = try Outcome.pair(of: file)
        #expect(ahead == alone)
        #expect(
            ahead.error?.message
                == "x.png: reading row \(row + 1) of 12: IDAT: bad adaptive filter value")
        #expect(ahead.bytes.count == row * maker.reference.layout.bytesPerRow)
    }

    @Test func asksWhetherToGoOn() throws {
        let maker = Self.wide(PixelKind(colourType: .rgb, depth: 8, interlaced: false))
        let file = try UnnamedFile(maker.encoded)
        let asked = Atomic(0)
        let reader = try PNGReader(
            PictureDecoder.Input(
                .file(file.descriptor), name: "x.png",
                checkpoint: { asked.add(1, ordering: .relaxed).newValue <= 5 }))
        let ahead = try #require(ReadAhead(reader, Self.cores(2), leastBytes: 1))
        ahead.begin()
        let outcome = Outcome(of: ahead)
        ahead.close()
        #expect(outcome.error == PictureError(.cancelled, "x.png: cancelled while reading"))
        #expect(outcome.bytes.count == 5 * maker.reference.layout.bytesPerRow)
    }

    @Test func isNotMadeWhereItCouldNotPay() throws {
        #expect(ReadAhead(try Source(), Self.cores(1), leastBytes: 1) == nil)
        #expect(ReadAhead(try Source(), Self.cores(2)) == nil)
    }
}
