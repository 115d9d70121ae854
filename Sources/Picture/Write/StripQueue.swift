import CDarkroomDeflate
import Foundation

/// A strip's memory, see `darkroom_strip.h`.
///
/// Sendable, because one thread at a time uses it: the owner of the encoder fills it, the thread that takes it from the
/// queue encodes it, and the owner uses it again after the queue has reported that it is encoded.
final class Strip: @unchecked Sendable {
    let pointer: OpaquePointer
    /// Guarded by the queue's lock: nil from the hand-over until it is encoded, then the result.
    fileprivate var outcome: darkroom_strip_result?

    /// nil if there is no memory.
    init?(_ layout: PixelLayout, rows: Int, _ effort: darkroom_effort) {
        let strip = darkroom_strip_new(
            layout.bytesPerRow, Int32(layout.bytesPerPixel), Int32(layout.depth), rows, effort)
        guard let strip else { return nil }
        pointer = strip
    }

    deinit { darkroom_strip_free(pointer) }
}

/// The strips of one picture that wait to be encoded, and the helpers that encode them.
///
/// A borrowed core is also used to read the picture ahead: a helper without a strip reads, and a helper that reads also
/// encodes strips.
///
/// Sendable, because the condition's lock guards all variable data.
final class StripQueue: @unchecked Sendable {
    private let cores: Cores
    private let ahead: ReadAhead?
    private let condition = NSCondition()
    private var waiting: [Strip] = []
    /// Helpers that have been requested and have not begun.
    private var coming = 0
    /// Helpers that have begun.
    private var helping = 0
    private var isClosed = false

    init(_ cores: Cores, _ ahead: ReadAhead?) {
        self.cores = cores
        self.ahead = ahead
        ahead?.share { [weak self] in self?.encodeOne() ?? false }
    }

    /// Hands a strip over.
    ///
    /// - Returns: whether there is a helper that may take it. If not, the caller should encode it at once, while its
    ///   rows are in the cache.
    func add(_ strip: Strip) -> Bool {
        let isHelped = condition.withLock {
            strip.outcome = nil
            waiting.append(strip)
            if cores.tryBorrow() {
                coming += 1
                // Dispatch keeps the threads between strips and pictures, and ends them when they are idle. A helper
                // continues as long as there are strips, so the cost of waking one is rare.
                Cores.lend { self.help() }
            }
            return coming + helping > 0
        }
        return isHelped || ahead?.hasHelper == true
    }

    /// Waits for a strip, and encodes waiting ones in the meantime.
    func finish(_ strip: Strip) -> darkroom_strip_result {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let outcome = strip.outcome { return outcome }
            if waiting.isEmpty {
                condition.wait()
            } else {
                encodeOldest()
            }
        }
    }

    func isEncoded(_ strip: Strip) -> Bool { condition.withLock { strip.outcome != nil } }

    /// Drops the waiting strips, and returns when none is being encoded any more.
    ///
    /// It does not wait for helpers that have not begun: if all of Dispatch's threads were busy with pictures that are
    /// ending, these would wait for each other.
    func close() {
        condition.withLock {
            isClosed = true
            waiting.removeAll()
            while coming > 0 {
                coming -= 1
                cores.giveBack()
            }
            while helping > 0 { condition.wait() }
        }
    }

    private func help() {
        condition.lock()
        guard !isClosed else { return condition.unlock() }
        coming -= 1
        helping += 1
        while !waiting.isEmpty, !cores.isShort { encodeOldest() }
        helping -= 1
        // This precedes a possible close of the queue: after that, no core is lent except those of `ahead`.
        let isTaken = ahead?.takeOver() ?? false
        if !isTaken { cores.giveBack() }
        condition.broadcast()
        condition.unlock()
        if isTaken { ahead?.help() }
    }

    /// Encodes a strip if more strips wait than helpers are coming. A helper of `ahead` calls it.
    private func encodeOne() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard waiting.count > coming else { return false }
        helping += 1
        encodeOldest()
        helping -= 1
        condition.broadcast()
        return true
    }

    /// Called while the lock is held. It is released during the encoding.
    private func encodeOldest() {
        let strip = waiting.removeFirst()
        condition.unlock()
        let outcome = darkroom_strip_encode(strip.pointer)
        condition.lock()
        strip.outcome = outcome
        condition.broadcast()
    }
}
