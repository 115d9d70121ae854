import Foundation

/// Reads a few bands ahead on a core that is idle, while those before are filtered and written.
///
/// A helper fills slots, copies of the source's bands, until they are all full or the core is wanted by
/// another picture, and is asked for again when there is room. Where there is no helper the owner reads
/// for itself. What is read is the same either way.
///
/// The stage belongs to one thread at a time, like any, and must be closed before its source is used by
/// anyone else.
///
/// Sendable, because what both threads use is guarded by the condition's lock, and the source is used
/// only by who has set `isReading` under that lock.
final class ReadAhead: Stage, @unchecked Sendable {
    let layout: PixelLayout
    private let source: any Stage
    private let cores: Cores
    private let condition = NSCondition()
    private var filled: [Slot] = []
    private var free: [FilterMemory<UInt8>] = []
    private var helper = Helper.none
    /// Whether the source is being read, by whomever.
    private var isReading = false
    private var failure: PictureError?
    private var isAtEnd = false
    private var isOn = false
    /// What the owner has borrowed. Not guarded: only the owner's.
    private var lent: FilterMemory<UInt8>?

    private struct Slot {
        let memory: FilterMemory<UInt8>
        let rows: Range<Int>
    }

    private enum Helper {
        case none
        /// Asked for; it may begin late if all of Dispatch's threads are at work.
        case coming
        case reading
    }

    /// One that is lent and three ahead: the owner takes longer over the band that fills a strip than over
    /// others.
    private static let slots = 4

    /// Pictures below so many bytes are read before a helper would be awake.
    static let leastBytes = 2 << 20

    /// Of wider rows even a few would take more memory than the time is worth.
    static let largestRow = 512 << 10

    /// `source` read ahead, where the picture is large enough for that to pay.
    init?(_ source: any Stage, _ cores: Cores, leastBytes: Int = leastBytes) {
        layout = source.layout
        guard layout.bytes >= leastBytes, layout.bytesPerRow <= Self.largestRow, cores.most > 0
        else { return nil }
        self.source = source
        self.cores = cores
    }

    func nextBand() throws(PictureError) -> Band? {
        condition.lock()
        defer { condition.unlock() }
        if let lent { free.append(lent) }
        lent = nil
        if !isOn, filled.isEmpty, failure == nil { return try source.nextBand() }
        while filled.isEmpty, failure == nil, !isAtEnd {
            if helper == .reading {
                condition.wait()
            } else {
                // A helper that begins just now waits for the end of it.
                readOne()
            }
        }
        if filled.isEmpty {
            if let failure { throw failure }
            return nil
        }
        let slot = filled.removeFirst()
        lent = slot.memory
        askForHelper()
        return Band(start: slot.memory.start, rows: slot.rows)
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
        while helper == .reading { condition.wait() }
    }

    // MARK: With the lock

    /// Asks for a helper if there is none, a core is idle and there is room for more than one band: it
    /// costs something to wake one.
    private func askForHelper() {
        guard helper == .none, !isFull(by: 1), !isAtEnd, failure == nil, isOn,
            cores.tryBorrow()
        else { return }
        helper = .coming
        DispatchQueue.global().async { self.help() }
    }

    private func help() {
        condition.lock()
        defer { condition.unlock() }
        while isReading { condition.wait() }
        // Closed meanwhile, which does not wait for one who has not begun: all of Dispatch's threads may
        // be at work, with pictures that close just now too.
        guard helper == .coming else { return }
        helper = .reading
        while !isFull(by: 0), !isAtEnd, failure == nil, isOn, !cores.isShort {
            readOne()
        }
        helper = .none
        cores.giveBack()
        condition.broadcast()
    }

    /// Whether there would be no room after `more` bands. One slot is the owner's.
    private func isFull(by more: Int) -> Bool { filled.count + more >= Self.slots - 1 }

    /// Reads a band into a slot. The lock is let go of meanwhile: the source is the caller's.
    private func readOne() {
        let memory = free.popLast()
        isReading = true
        condition.unlock()
        let outcome = copyBand(memory)
        condition.lock()
        isReading = false
        condition.broadcast()
        switch outcome {
        case .success(let slot?): filled.append(slot)
        case .success(nil): isAtEnd = true
        case .failure(let error): failure = error
        }
    }

    /// The source's next band, copied into `memory` or, where that is too small, into new memory.
    private func copyBand(_ memory: FilterMemory<UInt8>?) -> Result<Slot?, PictureError> {
        Result { () throws(PictureError) in
            guard let band = try source.nextBand() else { return nil }
            let bytes = band.rows.count * layout.bytesPerRow
            let memory =
                if let memory, memory.count >= bytes {
                    memory
                } else {
                    try FilterMemory<UInt8>(count: bytes)
                }
            memcpy(memory.start, band.start, bytes)
            return Slot(memory: memory, rows: band.rows)
        }
    }
}
