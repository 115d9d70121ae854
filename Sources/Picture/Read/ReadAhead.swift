import Foundation

/// Reads a few bands ahead on a core that is idle, while those before are filtered and written.
///
/// A helper fills slots until they are all full or the core is wanted by another picture, and is asked for
/// again when there is room. Where there is no helper the owner reads for itself. What is read is the same
/// either way. A helper that also has other work (`share`) does that when all slots are full or the owner
/// reads: so two threads are busy all the time, whichever of reading and writing takes longer.
///
/// Of a source that reads in two steps the helper takes the first and the owner the second: decompressing
/// takes longest, and longer than all else together where little is written. Slots are copies of the bands
/// of any other.
///
/// The stage belongs to one thread at a time, like any, and must be closed before its source is used by
/// anyone else.
///
/// Sendable, because what both threads use is guarded by the condition's lock; the source's first step, or
/// all of it where it has but one, is used only by who has set `isReading` under that lock, and its second
/// step only by the owner.
final class ReadAhead: Stage, @unchecked Sendable {
    let layout: PixelLayout
    private let source: any Stage
    /// The source where it reads in two steps.
    private let twoStep: (any TwoStepStage)?
    private let cores: Cores
    private let condition = NSCondition()
    private var filled: [Slot] = []
    private var free: [FilterMemory<UInt8>] = []
    private var helper = Helper.none
    /// What else a helper may do; false where there is nothing to be done.
    private var otherWork: OtherWork?
    /// Whether the source is being read, by whomever.
    private var isReading = false
    /// Whether a helper waits to read. The next band is left to it: the owner alone would always be faster
    /// than who has to be woken, and read everything.
    private var isWaiting = false
    private var failure: PictureError?
    private var isAtEnd = false
    private var isOn = false
    /// What the owner has borrowed. Not guarded: only the owner's.
    private var lent: FilterMemory<UInt8>?

    private struct Slot {
        let memory: FilterMemory<UInt8>
        let content: Content
    }

    private enum Content {
        /// A band of these rows.
        case band(Range<Int>)
        /// What the source's second step makes one of.
        case fetched(DecompressedBand)
    }

    private enum Helper {
        case none
        /// Asked for; it may begin late if all of Dispatch's threads are at work.
        case coming
        /// It reads, or does the other work.
        case working
    }

    /// Called by a helper, without the lock.
    typealias OtherWork = @Sendable () -> Bool

    /// One that is lent and five ahead: as many as the owner works on while the helper encodes a strip.
    private static let slots = 6

    /// Pictures below so many bytes are read before a helper would be awake.
    static let leastBytes = 1 << 20

    /// Of wider rows even a few would take more memory than the time is worth.
    static let largestRow = 512 << 10

    /// `source` read ahead, where the picture is large enough for that to pay.
    init?(_ source: any Stage, _ cores: Cores, leastBytes: Int = leastBytes) {
        layout = source.layout
        guard layout.bytes >= leastBytes, layout.bytesPerRow <= Self.largestRow, cores.most > 0
        else { return nil }
        self.source = source
        let twoStep = source as? any TwoStepStage
        self.twoStep = twoStep?.mostFetchedBytes ?? 0 > 0 ? twoStep : nil
        self.cores = cores
    }

    func nextBand() throws(PictureError) -> Band? {
        guard let slot = try nextSlot() else { return try source.nextBand() }
        switch slot.content {
        case .band(let rows):
            lent = slot.memory
            return Band(start: slot.memory.start, rows: rows)
        case .fetched(let fetched):
            return try band(of: fetched, in: slot.memory)
        }
    }

    /// What has been read ahead, or is to be read by who calls. Nil where the source is to be asked: at its
    /// end, and when nothing is read ahead.
    private func nextSlot() throws(PictureError) -> Slot? {
        condition.lock()
        defer { condition.unlock() }
        if let lent { free.append(lent) }
        lent = nil
        if !isOn, filled.isEmpty, failure == nil { return nil }
        while filled.isEmpty, failure == nil, !isAtEnd {
            if isReading || isWaiting {
                condition.wait()
            } else {
                // A helper that begins just now, or has done its other work, waits for the end of it.
                readOne()
            }
        }
        if filled.isEmpty {
            if let failure { throw failure }
            return nil
        }
        let slot = filled.removeFirst()
        askForHelper()
        return slot
    }

    /// The source's second step. An error of its comes before all that the first has met since.
    private func band(
        of fetched: DecompressedBand, in memory: FilterMemory<UInt8>
    ) throws(PictureError) -> Band? {
        defer { condition.withLock { free.append(memory) } }
        do throws(PictureError) {
            return try twoStep?.band(of: fetched, in: memory.start)
        } catch {
            condition.withLock {
                failure = error
                filled.removeAll()
            }
            throw error
        }
    }

    /// From now on bands are read ahead. Until then, and after `close`, this stage lends its source's.
    func begin() { condition.withLock { isOn = true } }

    /// Returns when nobody else reads any more. What has been read ahead can still be taken.
    func close() {
        condition.lock()
        defer { condition.unlock() }
        isOn = false
        if helper == .coming {
            helper = .none
            cores.giveBack()
        }
        while helper == .working { condition.wait() }
    }

    // MARK: Sharing a core

    /// Gives helpers other work.
    func share(with otherWork: @escaping OtherWork) {
        condition.withLock { self.otherWork = otherWork }
    }

    /// Whether there is a helper, who will do other work too, now or when it begins.
    var hasHelper: Bool { condition.withLock { helper != .none } }

    /// Takes the core of one who has borrowed it for the other work and found none left, and who is then to
    /// call `help`. False where there is nothing to read: the core is still theirs.
    func takeOver() -> Bool {
        condition.withLock {
            guard helper == .none, isOn, canRead(ahead: 0) else { return false }
            helper = .working
            return true
        }
    }

    /// Does what there is to do, and gives the core back.
    func help() {
        condition.lock()
        defer { condition.unlock() }
        while isOn, !cores.isShort {
            let isFree = isReading || !canRead(ahead: 0)
            if isFree, didOtherWork() { continue }
            if isReading {
                isWaiting = true
                condition.wait()
                isWaiting = false
                continue
            }
            guard canRead(ahead: 0) else { break }
            readOne()
        }
        helper = .none
        cores.giveBack()
        condition.broadcast()
    }

    // MARK: With the lock

    /// Asks for a helper if there is none, a core is idle and there is room for more than one band: it
    /// costs something to wake one.
    private func askForHelper() {
        guard helper == .none, isOn, canRead(ahead: 1), cores.tryBorrow() else { return }
        helper = .coming
        Cores.lend {
            // Closed meanwhile, which does not wait for one who has not begun: all of Dispatch's threads
            // may be at work, with pictures that close just now too.
            let isWanted = self.condition.withLock {
                let isWanted = self.helper == .coming
                if isWanted { self.helper = .working }
                return isWanted
            }
            if isWanted { self.help() }
        }
    }

    /// Does other work, if there is any. The lock is let go of meanwhile.
    private func didOtherWork() -> Bool {
        guard let otherWork else { return false }
        condition.unlock()
        defer { condition.lock() }
        return otherWork()
    }

    /// Whether there is a band to read, and room for it after `more` others. One slot is the owner's.
    private func canRead(ahead more: Int) -> Bool {
        !isAtEnd && failure == nil && filled.count + more < Self.slots - 1
    }

    /// Reads a band into a slot. The lock is let go of meanwhile: the source is the caller's.
    private func readOne() {
        let memory = free.popLast()
        isReading = true
        condition.unlock()
        let outcome = fill(memory)
        condition.lock()
        isReading = false
        condition.broadcast()
        switch outcome {
        case .success(let slot?): filled.append(slot)
        case .success(nil): isAtEnd = true
        case .failure(let error): failure = error
        }
    }

    /// The source's next band, or what it is made of, in `memory` or, where that is too small, new memory.
    private func fill(_ memory: FilterMemory<UInt8>?) -> Result<Slot?, PictureError> {
        Result { () throws(PictureError) in
            if let twoStep {
                let memory = try enough(memory, twoStep.mostFetchedBytes)
                return try twoStep.decompress(memory.start).map {
                    Slot(memory: memory, content: .fetched($0))
                }
            }
            guard let band = try source.nextBand() else { return nil }
            let bytes = band.rows.count * layout.bytesPerRow
            let memory = try enough(memory, bytes)
            memcpy(memory.start, band.start, bytes)
            return Slot(memory: memory, content: .band(band.rows))
        }
    }

    private func enough(
        _ memory: FilterMemory<UInt8>?, _ bytes: Int
    ) throws(PictureError) -> FilterMemory<UInt8> {
        if let memory, memory.count >= bytes { return memory }
        return try FilterMemory(count: bytes)
    }
}
