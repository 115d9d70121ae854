import CDarkroomDeflate
import Foundation

/// A strip's memory, see `darkroom_strip.h`.
///
/// Sendable, because one thread at a time has it: the owner of the encoder fills it, whoever takes
/// it from the queue encodes it, and the owner has it again once the queue says that it is encoded.
final class Strip: @unchecked Sendable {
    let pointer: OpaquePointer
    /// Guarded by the queue's lock: nil from the hand-over on until it is encoded, then how that went.
    fileprivate var outcome: darkroom_strip_result?

    /// Nil where there is no memory.
    init?(_ layout: PixelLayout, rows: Int, _ effort: darkroom_effort) {
        let strip = darkroom_strip_new(
            layout.bytesPerRow, Int32(layout.bytesPerPixel), Int32(layout.depth), rows, effort)
        guard let strip else { return nil }
        pointer = strip
    }

    deinit { darkroom_strip_free(pointer) }
}

/// The strips of one picture that wait to be encoded, and the helpers that do it.
///
/// A core that is borrowed serves the picture's reading ahead as well: who has no strip left to encode reads,
/// and who reads ahead encodes the strips that come meanwhile.
///
/// Sendable, because all that changes is guarded by the condition's lock.
final class StripQueue: @unchecked Sendable {
    private let cores: Cores
    private let ahead: ReadAhead?
    private let condition = NSCondition()
    private var waiting: [Strip] = []
    /// Helpers that have been asked for and have not begun.
    private var coming = 0
    /// Helpers that have begun.
    private var helping = 0
    private var isClosed = false

    init(_ cores: Cores, _ ahead: ReadAhead?) {
        self.cores = cores
        self.ahead = ahead
        ahead?.share { [weak self] in self?.encodeOne() ?? false }
    }

    /// Hands a strip over. Whether there is a helper who may take it; if not, the caller had better
    /// encode it at once, while its rows are in the cache.
    func add(_ strip: Strip) -> Bool {
        let isHelped = condition.withLock {
            strip.outcome = nil
            waiting.append(strip)
            if cores.tryBorrow() {
                coming += 1
                // Dispatch keeps the threads between strips and pictures, and lets go of them when
                // nothing happens. A helper goes on as long as there are strips, so what it costs to
                // wake one is paid seldom.
                Cores.lend { self.help() }
            }
            return coming + helping > 0
        }
        return isHelped || ahead?.hasHelper == true
    }

    /// Waits for a strip, and meanwhile encodes what waits.
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

    func isEncoded(_ strip: Strip) -> Bool {
        condition.withLock { strip.outcome != nil }
    }

    /// Drops the strips that wait, and returns when none is being encoded any more.
    ///
    /// It does not wait for helpers that have not begun: where all of Dispatch's threads were busy
    /// with pictures that end just now, these would wait for each other.
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
        // Before the queue may be closed: from then on no core is lent but those of `ahead`.
        let isTaken = ahead?.takeOver() ?? false
        if !isTaken { cores.giveBack() }
        condition.broadcast()
        condition.unlock()
        if isTaken { ahead?.help() }
    }

    /// Encodes a strip, if one waits that none of the helpers comes for. By a helper of `ahead`.
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

    /// Called with the lock, which is let go of meanwhile.
    private func encodeOldest() {
        let strip = waiting.removeFirst()
        condition.unlock()
        let outcome = darkroom_strip_encode(strip.pointer)
        condition.lock()
        strip.outcome = outcome
        condition.broadcast()
    }
}
