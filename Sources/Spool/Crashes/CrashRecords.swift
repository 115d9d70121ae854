import CDarkroomShims
import DarkroomAnswer
import DarkroomCore
import Glibc
import Synchronization
import SystemPackage

/// `spool/attempts`: the pictures that are being filtered now. The next process uses it to find out what the last
/// process was doing when it ended, and to avoid an endless series of crashes.
///
/// | when                           | what is written                                               |
/// |--------------------------------|---------------------------------------------------------------|
/// | before a picture's first byte  | its record, `running`                                         |
/// | its thread crashes             | the signal's name over `running`, see `darkroom_crash.h`      |
/// | its filtering has ended        | `free` over the mark                                          |
/// | the next start                 | a cause over `running`; a `crashed` line in the batch's journal; then `free` |
///
/// The file stays open and is never synced: the page cache survives the end of the process. It does not survive the end
/// of the machine, so a record of another boot is ignored. That is right, because no picture causes a power cut.
package final class CrashRecords: Sendable {
    static let fileName: FileName = "attempts"

    /// A crash of the last process that is not yet in the journal of its batch.
    package struct Crash: Sendable, Equatable {
        package let image: Int
        package let number: Int
        package let cause: CrashCause
    }

    private struct State {
        /// Unused records below `count`.
        var free: [Int] = []
        /// One more than the number of the last used record. Record 0 is that of the process.
        var count = 1
        /// The crashes of the last process that are not yet in journals, by the number of their record.
        var unjournaled: [Int: CrashRecord] = [:]
    }

    private let path: String
    private let file: Descriptor
    private let boot: String
    private let state: Mutex<State>

    /// The space for this number of records is reserved at the start, so that a full disk later does not prevent
    /// filtering of downloaded pictures.
    private static let reserved = 64

    /// Opens the file and determines the cause of each record of a previous process. Only the holder of the spool's
    /// lock may do this.
    init(
        in root: Directory, of victim: CrashVictim = .daemon, boot: String = Machine.bootID,
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
            .count { $0.boot == boot && $0.cause == nil }
        var state = State()
        for slot in records.indices.dropFirst().prefix(Int(DARKROOM_CRASH_SLOTS) - 1) {
            guard var record = CrashRecord(records[slot]), record.boot == boot else { continue }
            if record.cause == nil {
                // Decided now, because the next start does not know about this one. It is unknown which of several
                // pictures needed too much memory: a daemon suspects all, but quarantines none for it.
                let isMeant = running == 1 || victim == .daemon && record.before == 0
                record.cause = wasMemory && isMeant ? .outOfMemory : .killed
                try Self.note(record.mark, slot, file, path)
            }
            state.unjournaled[slot] = record
            state.count = slot + 1
        }
        state.free = (1..<state.count).filter { state.unjournaled[$0] == nil }.reversed()
        for slot in state.free { try Self.note(CrashRecord.free, slot, file, path) }
        try file.truncate(to: state.count * CrashRecord.length, path: path)
        let process = ProcessRecord(boot: boot, outOfMemoryKills: outOfMemoryKills)
        try Self.note(process.bytes, 0, file, path)
        let room = max(state.count, 1 + Self.reserved) * CrashRecord.length
        // Some file systems do not support this; then no space is reserved.
        _ = posix_fallocate(file.number, 0, off_t(room))
        self.state = Mutex(state)
    }

    /// For a spool that cannot be written to, in which no picture is filtered: each record is refused.
    init(withoutFileIn root: Directory) throws(FileError) {
        path = root.path(of: Self.fileName)
        file = try root.open(".")
        boot = Machine.bootID
        state = Mutex(State())
    }

    /// From now on, crashes of this process are recorded.
    package func watchCrashes() { darkroom_crash_watch(file.number) }

    // MARK: Pictures of this process

    /// Runs `body`, which filters a picture, with a record of it. Everything that this thread and its helpers do in the
    /// meantime counts as work on this picture.
    ///
    /// - Parameters:
    ///   - before: the number of the last crash of this image in the batch's journal.
    ///   - body: receives the number of the record, for `step`.
    /// - Throws: if the record could not be written; then `body` has not run.
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

    /// Call this while the daemon itself makes progress. The watchdog suspects a picture only if it stood still while
    /// the daemon did not: if the whole process stood still, for example because someone stopped it, no picture is the
    /// cause.
    ///
    /// - Parameter seconds: the time until the next call.
    package static func daemonTurns(every seconds: Double) {
        darkroom_crash_turn(UInt64(clamping: seconds * 1e9))
    }

    /// Call this when the picture makes progress.
    package static func step(_ slot: Int) { darkroom_crash_step(Int32(slot)) }

    /// Clears the records of running pictures when the process ends normally, because the pictures did not cause this.
    /// From now on, crashes are not recorded: what crashes while the process ends is not the fault of a picture.
    package func close() {
        darkroom_crash_watch(-1)
        let slots = state.withLock { state in
            (1..<state.count).filter { state.unjournaled[$0] == nil }
        }
        for slot in slots { clear(slot) }
    }

    private func release(_ slot: Int) {
        clear(slot)
        state.withLock { $0.free.append(slot) }
    }

    /// If this fails and the process is killed, the record counts as one `killed`, which is not enough for quarantine.
    /// Or it is journaled again with the same number, which has no effect.
    private func clear(_ slot: Int) { try? Self.write(CrashRecord.free, slot, file, path) }

    // MARK: Records of the previous process

    /// The crashes of a batch that are not yet in its journal.
    func crashes(of batch: String) -> [Crash] {
        let id = FileName(batch)
        return state.withLock { state in
            state.unjournaled.sorted { $0.key < $1.key }.compactMap { _, record in
                guard FileName(record.batch) == id, let cause = record.cause else { return nil }
                return Crash(image: record.image, number: record.before + 1, cause: cause)
            }
        }
    }

    /// Clears the crashes of a batch: its journal has them, or the batch has ended.
    func clearCrashes(of batch: String) {
        let id = FileName(batch)
        clearCrashes { FileName($0.batch) == id }
    }

    /// Clears the crashes of all batches except these: they are not in `active` any more.
    package func clearCrashes(exceptOf batches: [String]) {
        let ids = Set(batches.map { FileName($0) })
        clearCrashes { !ids.contains(FileName($0.batch)) }
    }

    private func clearCrashes(where isCleared: (CrashRecord) -> Bool) {
        let slots = state.withLock { state in
            let slots = state.unjournaled.filter { isCleared($0.value) }.map(\.key)
            for slot in slots { state.unjournaled[slot] = nil }
            return slots
        }
        for slot in slots.sorted() { release(slot) }
    }

    // MARK: The file

    /// Writes data that only improves later decisions. A full disk must not prevent the start: the daemon reports the
    /// full disk, and no picture begins before its own record is written.
    private static func note(
        _ bytes: [UInt8], _ slot: Int, _ file: borrowing Descriptor, _ path: String
    ) throws(FileError) {
        do {
            try write(bytes, slot, file, path)
        } catch  where error.errno.storageFailure == .full {
            // The existing mark stays.
        }
    }

    private static func write(
        _ bytes: [UInt8], _ slot: Int, _ file: borrowing Descriptor, _ path: String
    ) throws(FileError) {
        try file.write(bytes, at: slot * CrashRecord.length, path: path)
    }
}
