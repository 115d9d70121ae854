import Dispatch
import Foundation

/// The rows of one stage.
final class StageTeeSource: TeeSource {
    let layouts: [PixelLayout]
    let rowsPerStep: [Int]
    private let feed: RowFeed
    private var isFinished = false

    init(_ stage: any Stage) {
        feed = RowFeed(stage)
        layouts = [stage.layout]
        rowsPerStep = [stage.layout.rowsPerBand]
    }

    func next(into memory: [UnsafeMutableRawPointer]) throws(PictureError) -> [Range<Int>]? {
        guard feed.taken < feed.layout.height else {
            if !isFinished { try feed.finish() }
            isFinished = true
            return nil
        }
        let band = try feed.rows(atMost: rowsPerStep[0])
        memcpy(memory[0], band.start, band.rows.count * feed.layout.bytesPerRow)
        return [band.rows]
    }
}

/// Lends the rows of one source to several borrowers in step: none is more than a few bands ahead of another. So the
/// picture is read once, and nothing but these bands is held for it, however many rows a borrower needs at a time.
///
/// Each borrower has a thread, because its stages pull rows when they need them. But they share the core of the picture:
/// only one runs, unless idle cores can be borrowed. A borrower runs until it has used all bands that there are and
/// there is no room for more, and then leaves the core to the one that is furthest behind. With several bands at a time,
/// the changes cost little. Of the largest of several pictures there are two bands only, if one borrower alone takes it:
/// it uses each band while the cache of its core still has it, and the others follow in the small pictures.
///
/// | a borrower is | it                                          | left by                                        |
/// |---------------|---------------------------------------------|------------------------------------------------|
/// | waiting       | has no core                                 | `wake` → running                               |
/// | running       | has the picture's core or a borrowed one    | `next` → reading or waiting; `leave` → gone    |
/// | reading       | reads the next band for all                 | the end of the read → running                  |
/// | gone          | has ended or failed; nobody waits for it    |                                                |
///
/// Sendable, because the lock guards all changing data except the source and the memory of the ring. The source is used
/// only by the borrower that has set `isReading`. A part of the ring is written only by that one, before it is counted
/// in `produced`, and after all borrowers have left it.
final class BandTee: @unchecked Sendable {
    /// How many bands the fastest borrower may be ahead of the slowest. There are fewer if they are long.
    static let mostBands = 8
    private static let mostBytes = 4 << 20
    /// The same for each of the smaller pictures beside the largest.
    private static let mostSmallBands = 32
    private static let mostSmallBytes = 1 << 20

    private struct Borrower {
        /// The bands that it has used, and returned.
        var used = 0
        var isLent = false
        var isWaiting = true
        var isGone = false
    }

    let layouts: [PixelLayout]
    private let source: any TeeSource
    private let cores: Cores
    private let lock = NSLock()
    /// For each lane the number of its bands, and these, by their number modulo the lane's length.
    private let lengths: [Int]
    private let memory: [[FilterBuffer<UInt8>]]
    private var rows: [[Range<Int>]]
    private var produced = 0
    private var isReading = false
    private var isAtEnd = false
    private var failure: PictureError?
    private let lanes: [Int]
    private let turns: [DispatchSemaphore]
    private var borrowers: [Borrower]
    /// Whether no borrower has the picture's own core.
    private var isOwnCoreFree = true
    private var borrowedCores = 0

    /// - Parameter lanes: for each borrower, which of the source's pictures it takes.
    init(_ source: any TeeSource, lanes: [Int], cores: Cores) throws(PictureError) {
        self.source = source
        self.cores = cores
        layouts = source.layouts
        self.lanes = lanes
        turns = lanes.map { _ in DispatchSemaphore(value: 0) }
        borrowers = lanes.map { _ in Borrower() }
        lengths = Self.lengths(source, lanes: lanes)
        rows = lengths.map { [Range<Int>](repeating: 0..<0, count: $0) }
        var memory: [[FilterBuffer<UInt8>]] = []
        for (length, bytes) in zip(lengths, Self.bands(source)) {
            var bands: [FilterBuffer<UInt8>] = []
            for _ in 0..<length { bands.append(try FilterBuffer(count: bytes)) }
            memory.append(bands)
        }
        self.memory = memory
    }

    /// The bytes of a band of each picture.
    private static func bands(_ source: any TeeSource) -> [Int] {
        zip(source.layouts, source.rowsPerStep).map { $0.bytesPerRow * $1 }
    }

    private static func length(ofBands bytes: Int) -> Int {
        max(2, min(mostBands, mostBytes / max(1, bytes)))
    }

    private static func lengths(_ source: any TeeSource, lanes: [Int]) -> [Int] {
        let bands = bands(source)
        let largest = bands.max() ?? 0
        return bands.enumerated().map { lane, bytes in
            if bands.count == 1 || lanes.count(where: { $0 == lane }) > 1 {
                return length(ofBands: bytes)
            }
            return bytes == largest
                ? 2 : max(2, min(mostSmallBands, mostSmallBytes / max(1, bytes)))
        }
    }

    /// What the thread of a borrower needs itself.
    private static let threadBytes = 128 << 10

    /// The memory of the bands, and for each borrower that of a thread and of a copy of a band.
    static func bytes(_ source: any TeeSource, lanes: [Int]) -> Int {
        let bands = bands(source)
        let all = zip(bands, lengths(source, lanes: lanes)).reduce(0) { $0 + $1.0 * $1.1 }
        return all + ((bands.max() ?? 0) + threadBytes) * lanes.count
    }

    /// An upper bound of this for the rows of a stage.
    static func bytes(of layout: PixelLayout, borrowers: Int) -> Int {
        let band = max(128 << 10, layout.bytesPerRow)
        return band * (length(ofBands: band) + borrowers) + threadBytes * borrowers
    }

    /// Whether a borrower shares its lane, so that it must not change the rows.
    func isShared(_ number: Int) -> Bool { lanes.count { $0 == lanes[number] } > 1 }

    // MARK: The borrowers' threads

    /// A borrower's thread begins: it waits for its turn.
    func enter(_ number: Int) {
        lock.withLock { wake() }
        turns[number].wait()
    }

    /// A borrower has ended or failed. It needs no more rows.
    func leave(_ number: Int) {
        lock.withLock {
            borrowers[number].isGone = true
            returnCore()
            wake()
        }
    }

    /// The next rows for a borrower, which stay until its next call; nil after the last ones.
    func next(_ number: Int) throws(PictureError) -> Band? {
        lock.lock()
        defer { lock.unlock() }
        if borrowers[number].isLent {
            borrowers[number].isLent = false
            borrowers[number].used += 1
        }
        while true {
            if borrowers[number].used < produced {
                let lane = lanes[number]
                let place = borrowers[number].used % lengths[lane]
                let range = rows[lane][place]
                if range.isEmpty {
                    borrowers[number].used += 1
                    continue
                }
                borrowers[number].isLent = true
                return Band(start: memory[lane][place].start, rows: range)
            }
            if let failure { throw failure }
            if isAtEnd { return nil }
            if canRead {
                read()
                continue
            }
            borrowers[number].isWaiting = true
            returnCore()
            wake()
            lock.unlock()
            turns[number].wait()
            lock.lock()
        }
    }

    // MARK: While the lock is held

    private var canRead: Bool {
        !isReading && !isAtEnd && failure == nil
            && borrowers.indices.allSatisfy {
                borrowers[$0].isGone || produced - borrowers[$0].used < lengths[lanes[$0]]
            }
    }

    /// Reads the next band. The lock is released meanwhile.
    private func read() {
        let places = lengths.map { produced % $0 }
        isReading = true
        lock.unlock()
        let outcome = Result { () throws(PictureError) in
            try source.next(into: zip(memory, places).map { UnsafeMutableRawPointer($0[$1].start) })
        }
        lock.lock()
        isReading = false
        switch outcome {
        case .success(let rows?):
            for (lane, place) in places.enumerated() { self.rows[lane][place] = rows[lane] }
            produced += 1
        case .success(nil): isAtEnd = true
        case .failure(let error): failure = error
        }
        wake()
    }

    private func returnCore() {
        if borrowedCores > 0 {
            borrowedCores -= 1
            cores.giveBack()
        } else {
            isOwnCoreFree = true
        }
    }

    /// Wakes those that wait, have something to do and can get a core, the one furthest behind first.
    private func wake() {
        while true {
            let isIdle = isOwnCoreFree && borrowedCores == 0
            let next = borrowers.indices.lazy.filter { self.canGoOn($0, soon: isIdle) }
                .min { self.borrowers[$0].used < self.borrowers[$1].used }
            guard let next else { return }
            if isOwnCoreFree {
                isOwnCoreFree = false
            } else if cores.tryBorrow() {
                borrowedCores += 1
            } else {
                return
            }
            borrowers[next].isWaiting = false
            turns[next].signal()
        }
    }

    /// Whether a borrower waits for nothing but a core.
    ///
    /// - Parameter soon: whether one band is enough.
    private func canGoOn(_ number: Int, soon: Bool) -> Bool {
        let borrower = borrowers[number]
        guard borrower.isWaiting, !borrower.isGone else { return false }
        let bands = produced - borrower.used
        if isAtEnd || failure != nil { return true }
        // Otherwise it would have to leave the core at once.
        let enough = lengths[lanes[number]] / 2
        return bands >= (soon ? 1 : enough) || bands == 0 && canRead
    }
}

/// The first stage of a borrower: it lends the bands of the tee.
final class TeeStage: Stage {
    let layout: PixelLayout
    private let tee: BandTee
    private let number: Int
    /// Whether the next stage may change the rows, which others use too.
    private var isCopied: Bool
    private var copy: FilterBuffer<UInt8>?

    /// - Parameter isChanged: whether the next stage may change the rows.
    init(_ tee: BandTee, _ number: Int, _ layout: PixelLayout, isChanged: Bool) {
        self.tee = tee
        self.number = number
        self.layout = layout
        isCopied = isChanged && tee.isShared(number)
    }

    func nextBand() throws(PictureError) -> Band? {
        guard let band = try tee.next(number) else { return nil }
        guard isCopied else { return band }
        let bytes = band.rows.count * layout.bytesPerRow
        let memory = try FilterBuffer.atLeast(bytes, copy)
        copy = memory
        memcpy(memory.start, band.start, bytes)
        return Band(start: UnsafeMutableRawPointer(memory.start), rows: band.rows)
    }

    /// Takes the rest, so that damage there is found too.
    func drain() throws(PictureError) {
        isCopied = false
        while try nextBand() != nil {}
    }
}
