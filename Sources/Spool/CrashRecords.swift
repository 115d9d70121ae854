import CDarkroomShims
import DarkroomCore
import Glibc
import Synchronization
import SystemPackage

/// `spool/attempts`: which pictures are being filtered now, so that the next process knows what the last one
/// was doing when it died, and does not do it for ever.
///
/// | when                          | what is written                                               |
/// |-------------------------------|---------------------------------------------------------------|
/// | before a picture's first byte | its record, `running`                                         |
/// | its thread crashes            | the signal's name over `running`, see `darkroom_crash.h`      |
/// | its filtering has ended       | `free` over the mark                                          |
/// | the next start                | a cause over `running`; a `crashed` line in the batch's journal; then `free` |
///
/// One open file that is never synced: the page cache survives the process. It does not survive the
/// machine, so a record of another boot does not count, which is as well: a power cut is nobody's
/// fault.
package final class CrashRecords: Sendable {
    static let fileName: FileName = "attempts"

    /// A crash that the last process left and that is not yet in its batch's journal.
    package struct Left: Sendable, Equatable {
        package let image: Int
        package let number: Int
        package let cause: CrashCause
    }

    private struct State {
        /// Records that are nobody's, below `count`.
        var free: [Int] = []
        /// One more than the last record given out. Record 0 is the process's own.
        var count = 1
        var left: [Int: CrashRecord] = [:]
    }

    private let path: String
    private let file: Descriptor
    private let boot: String
    private let state: Mutex<State>

    /// Room for so many records is taken at the start, so that a disk that is full later on does not stand
    /// in the way of filtering what has been fetched.
    private static let reserved = 64

    /// Opens the file and finds the cause for each record that a former process has left. Whoever has
    /// the spool's lock is the only one to do so.
    init(
        in root: Directory, boot: String = Machine.bootID,
        outOfMemoryKills: [String: Int] = ControlGroup.current.outOfMemoryKills
    ) throws(FileError) {
        path = root.path(of: Self.fileName)
        file = try root.openScratch(Self.fileName)
        self.boot = boot
        let bytes = try file.readAll(
            upTo: Int(DARKROOM_CRASH_SLOTS) * CrashRecord.length, path: path)
        let records = stride(from: 0, to: bytes.count, by: CrashRecord.length).map {
            bytes[$0..<min($0 + CrashRecord.length, bytes.count)]
        }
        let former = records.first.flatMap { ProcessRecord($0) }
        let wasMemory =
            former?.boot == boot
            && former?.hasSeenOutOfMemoryKill(now: outOfMemoryKills) == true
        let running = records.dropFirst().compactMap { CrashRecord($0) }
            .count { $0.boot == boot && $0.mark == .running }
        var state = State()
        for slot in records.indices.dropFirst().prefix(Int(DARKROOM_CRASH_SLOTS) - 1) {
            guard var record = CrashRecord(records[slot]), record.boot == boot else { continue }
            if record.mark == .running {
                // Decided now, for the next start knows nothing of this one. Which of several needed too much
                // nobody knows: all are suspected, but none is convicted of it.
                let isMeant = running == 1 || record.before == 0
                record.mark = .crashed(wasMemory && isMeant ? .outOfMemory : .killed)
                try Self.note(record.mark.bytes, slot, file, path)
            }
            state.left[slot] = record
            state.count = slot + 1
        }
        state.free = (1..<state.count).filter { state.left[$0] == nil }.reversed()
        for slot in state.free { try Self.note(CrashRecord.free, slot, file, path) }
        try file.truncate(to: state.count * CrashRecord.length, path: path)
        let process = ProcessRecord(boot: boot, outOfMemoryKills: outOfMemoryKills)
        try Self.note(process.bytes, 0, file, path)
        let room = max(state.count, 1 + Self.reserved) * CrashRecord.length
        // Some file systems cannot, and then do without.
        _ = posix_fallocate(file.number, 0, off_t(room))
        self.state = Mutex(state)
    }

    /// Lets crashes of this process be written down from now on.
    package func watchCrashes() { darkroom_crash_watch(file.number) }

    // MARK: Pictures of this process

    /// Runs `body`, which filters a picture, with a record of it. Everything this thread does meanwhile, and
    /// whoever works for it, is this picture's.
    ///
    /// - Parameters:
    ///   - before: The number of the last crash the batch's journal has of this image.
    ///   - body: Is given the record's number, for `step`.
    /// - Throws: where the record could not be written; then `body` has not run.
    package func record<Outcome>(
        batch: String, image: Int, before: Int, while body: (_ slot: Int) -> Outcome
    ) throws(FileError) -> Outcome {
        let slot = state.withLock { state in
            if let slot = state.free.popLast() { return slot }
            state.count += 1
            return state.count - 1
        }
        let record = CrashRecord(
            boot: boot, batch: batch, image: image, before: before, begun: time(nil))
        do {
            try Self.write(record.bytes, slot, file, path)
        } catch {
            state.withLock { $0.free.append(slot) }
            throw error
        }
        darkroom_crash_step(Int32(slot))
        let outer = darkroom_crash_enter(Int32(slot))
        defer {
            _ = darkroom_crash_enter(outer)
            darkroom_crash_leave(Int32(slot))
            release(slot)
        }
        return body(slot)
    }

    /// The daemon itself turns. A picture is the watchdog's suspect only if it was still while that was so: where the
    /// whole process stood still, stopped by someone say, no picture is to blame.
    ///
    /// - Parameter seconds: how long it takes until this is called again.
    package static func daemonTurns(every seconds: Double) {
        darkroom_crash_turn(UInt64(clamping: seconds * 1e9))
    }

    /// The picture moves.
    package static func step(_ slot: Int) { darkroom_crash_step(Int32(slot)) }

    /// Forgets what still runs when the process ends in good order: it was not the picture's fault.
    package func close() {
        let slots = state.withLock { state in (1..<state.count).filter { state.left[$0] == nil } }
        for slot in slots { clear(slot) }
    }

    private func release(_ slot: Int) {
        clear(slot)
        state.withLock { $0.free.append(slot) }
    }

    /// A record that could not be cleared would count as one `killed` should the process die, which convicts
    /// nobody, or be journaled again under the same number, which changes nothing.
    private func clear(_ slot: Int) {
        try? Self.write(CrashRecord.free, slot, file, path)
    }

    // MARK: What a former process left

    /// The crashes of a batch that its journal does not have yet.
    func left(of batch: String) -> [Left] {
        let id = FileName(batch)
        return state.withLock { state in
            state.left.sorted { $0.key < $1.key }.compactMap { _, record in
                guard FileName(record.batch) == id, case .crashed(let cause) = record.mark
                else { return nil }
                return Left(image: record.image, number: record.before + 1, cause: cause)
            }
        }
    }

    /// Forgets the crashes of a batch: its journal has them, or it has ended.
    func settle(_ batch: String) {
        let id = FileName(batch)
        settle { FileName($0.batch) == id }
    }

    /// Forgets those of all batches but these: there is nothing of them in `active`.
    package func settle(allBut batches: [String]) {
        let ids = Set(batches.map { FileName($0) })
        settle { !ids.contains(FileName($0.batch)) }
    }

    private func settle(_ isSettled: (CrashRecord) -> Bool) {
        let slots = state.withLock { state in
            let slots = state.left.filter { isSettled($0.value) }.map(\.key)
            for slot in slots { state.left[slot] = nil }
            return slots
        }
        for slot in slots.sorted() { release(slot) }
    }

    // MARK: The file

    /// Writes what only makes a later judgement more exact. A full disk is no reason not to start: the daemon
    /// is what says that it is full, and no picture is begun before its own record is written.
    private static func note(
        _ bytes: [UInt8], _ slot: Int, _ file: borrowing Descriptor, _ path: String
    ) throws(FileError) {
        do {
            try write(bytes, slot, file, path)
        } catch  where error.errno.storageFault == .full {
            // What was marked stays as it was.
        }
    }

    private static func write(
        _ bytes: [UInt8], _ slot: Int, _ file: borrowing Descriptor, _ path: String
    ) throws(FileError) {
        var rest = bytes[...]
        var offset = off_t(slot * CrashRecord.length)
        while !rest.isEmpty {
            do {
                let count = try retryingInterrupts {
                    rest.withUnsafeBytes { pwrite(file.number, $0.baseAddress, $0.count, offset) }
                }
                rest = rest.dropFirst(count)
                offset += off_t(count)
            } catch {
                throw FileError("write", path, error)
            }
        }
    }
}
