import Foundation

/// Reads a few bands ahead on an idle core, while the previous ones are filtered and written.
///
/// A helper fills slots until all are full or another picture needs the core. It is requested again when there is room.
/// Without a helper the owner reads. The content is the same in both cases. A helper that also has other work (`share`)
/// does it when all slots are full or the owner reads. So two threads are always busy, whether reading or writing takes
/// longer.
///
/// If the source reads in two steps, the helper does the first and the owner the second: decompression takes longest,
/// and longer than everything else together if the output is small. Where the owner does both, it asks the source, whose
/// band needs no slot. For other sources, slots are copies of the bands.
///
/// Like any stage, it belongs to one thread at a time. It must be closed before anything else uses its source.
///
/// Sendable, because the condition's lock guards all data that both threads use. The source's first step, or all of it
/// if it has only one step, is used only by the thread that has set `isReading` under that lock. Its second step is
/// used only by the owner.
final class ReadAhead: Stage, @unchecked Sendable {
    let layout: PixelLayout
    private let source: any Stage
    /// The source if it reads in two steps.
    private let twoStep: PNGReader?
    private let cores: Cores
    private let condition = NSCondition()
    private var filled: [Slot] = []
    private var free: [FilterBuffer<UInt8>] = []
    private var helper = Helper.none
    /// Other work for a helper; it returns false if there is none.
    private var otherWork: OtherWork?
    /// Whether a thread is reading the source.
    private var isReading = false
    /// Whether a helper waits to read. The next band is left to it. Otherwise the owner would always be faster than a
    /// helper that must be woken, and would read everything.
    private var isWaiting = false
    private var failure: PictureError?
    private var isAtEnd = false
    private var isOn = false
    /// The memory that is lent to the borrower. Not guarded: only the owner uses it.
    private var lent: FilterBuffer<UInt8>?

    private struct Slot {
        let memory: FilterBuffer<UInt8>
        let content: Content
    }

    private enum Content {
        /// A band of these rows.
        case band(Range<Int>)
        /// The data from which the source's second step makes a band.
        case fetched(DecompressedBand)
    }

    private enum Helper {
        case none
        /// Requested. It may begin late if all of Dispatch's threads are busy.
        case coming
        /// It reads, or does the other work.
        case working
    }

    /// Called by a helper, without the lock.
    typealias OtherWork = @Sendable () -> Bool

    /// One that is lent and five ahead: as many as the owner processes while the helper encodes a strip.
    private static let slots = 6

    /// Pictures with fewer bytes are read before a helper would be awake.
    static let leastBytes = 1 << 20

    /// With longer rows, even a few of them would need too much memory for the saved time.
    static let largestRow = 512 << 10

    /// `source`, read ahead; nil if the picture is too small for this.
    init?(_ source: any Stage, _ cores: Cores, leastBytes: Int = leastBytes) {
        layout = source.layout
        guard layout.bytes >= leastBytes, layout.bytesPerRow <= Self.largestRow, cores.most > 0
        else { return nil }
        self.source = source
        let twoStep = source as? PNGReader
        self.twoStep = twoStep?.mostFetchedBytes ?? 0 > 0 ? twoStep : nil
        self.cores = cores
    }

    func nextBand() throws(PictureError) -> Band? {
        guard let slot = try nextSlot() else { return try readDirectly() }
        switch slot.content {
        case .band(let rows):
            lent = slot.memory
            return Band(start: slot.memory.start, rows: rows)
        case .fetched(let fetched):
            return try band(of: fetched, in: slot.memory)
        }
    }

    /// A band that has been read ahead, or that the caller reads now; nil if the caller must ask the source, which
    /// belongs to it then: at its end, if nothing is read ahead, and instead of both steps for a slot, which would copy
    /// the data.
    private func nextSlot() throws(PictureError) -> Slot? {
        condition.lock()
        defer { condition.unlock() }
        if let lent { free.append(lent) }
        lent = nil
        if !isOn, filled.isEmpty, failure == nil {
            isReading = true
            return nil
        }
        while filled.isEmpty, failure == nil, !isAtEnd {
            if isReading || isWaiting {
                condition.wait()
            } else if twoStep != nil {
                isReading = true
                return nil
            } else {
                // A helper that begins now, or has done its other work, waits for the end of this.
                readOne()
            }
        }
        if filled.isEmpty {
            if let failure { throw failure }
            isReading = true
            return nil
        }
        let slot = filled.removeFirst()
        askForHelper()
        return slot
    }

    /// The source's next band, in its own memory. `isReading` has been set for this.
    private func readDirectly() throws(PictureError) -> Band? {
        let outcome = Result { () throws(PictureError) in try source.nextBand() }
        condition.lock()
        defer { condition.unlock() }
        isReading = false
        condition.broadcast()
        switch outcome {
        case .success(nil): isAtEnd = true
        case .success: askForHelper()
        case .failure(let error): failure = error
        }
        return try outcome.get()
    }

    /// The source's second step. If it throws, its error precedes all errors of the first step since.
    private func band(
        of fetched: DecompressedBand, in memory: FilterBuffer<UInt8>
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

    /// Begins to read ahead. Before this call, and after `close`, this stage lends the bands of its source.
    func begin() { condition.withLock { isOn = true } }

    /// Returns when no other thread reads any more. Bands that have been read ahead can still be taken.
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

    /// Whether there is a helper, present or requested, which also does the other work.
    var hasHelper: Bool { condition.withLock { helper != .none } }

    /// Takes over the core of a thread that borrowed it for the other work and found none left. That thread must then
    /// call `help`.
    ///
    /// - Returns: false if there is nothing to read. Then the thread keeps the core.
    func takeOver() -> Bool {
        condition.withLock {
            guard helper == .none, isOn, canRead(ahead: 0) else { return false }
            helper = .working
            return true
        }
    }

    /// Does the available work, and returns the core.
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

    // MARK: While the lock is held

    /// Requests a helper if there is none, a core is idle, and there is room for more than one band, because it costs
    /// time to wake one.
    private func askForHelper() {
        guard helper == .none, isOn, canRead(ahead: 1), cores.tryBorrow() else { return }
        helper = .coming
        Cores.lend {
            // It may have been closed since. `close` does not wait for a helper that has not begun: all of Dispatch's
            // threads may be busy with pictures that are closing too.
            let isWanted = self.condition.withLock {
                let isWanted = self.helper == .coming
                if isWanted { self.helper = .working }
                return isWanted
            }
            if isWanted { self.help() }
        }
    }

    /// Does other work, if there is any. The lock is released during it.
    private func didOtherWork() -> Bool {
        guard let otherWork else { return false }
        condition.unlock()
        defer { condition.lock() }
        return otherWork()
    }

    /// Whether there is a band to read, and room for it after `more` others. One slot belongs to the owner.
    private func canRead(ahead more: Int) -> Bool {
        !isAtEnd && failure == nil && filled.count + more < Self.slots - 1
    }

    /// Reads a band into a slot. The lock is released meanwhile, because the source belongs to the caller then.
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

    /// The source's next band, or the data for it, in `memory`, or in new memory if that is too small.
    private func fill(_ memory: FilterBuffer<UInt8>?) -> Result<Slot?, PictureError> {
        Result { () throws(PictureError) in
            if let twoStep {
                let memory = try FilterBuffer.atLeast(twoStep.mostFetchedBytes, memory)
                return try twoStep.decompress(memory.start).map {
                    Slot(memory: memory, content: .fetched($0))
                }
            }
            guard let band = try source.nextBand() else { return nil }
            let bytes = band.rows.count * layout.bytesPerRow
            let memory = try FilterBuffer.atLeast(bytes, memory)
            memcpy(memory.start, band.start, bytes)
            return Slot(memory: memory, content: .band(band.rows))
        }
    }
}
