import DarkroomCore
import Foundation
import Glibc
import Synchronization
import SystemPackage

/// Removes finished entries of the outbox: those older than an age, and the oldest where all of them together
/// are larger than a size. Never an unfinished one, nor anything that is not Darkroom's own.
///
/// | step                                      | a crash after it                              |
/// |-------------------------------------------|-----------------------------------------------|
/// | `outbox/ID` renamed to `active/.expired-ID` | the next start removes it                   |
/// | both folders synced                       | the same                                      |
/// | its files removed, one by one             | the same                                      |
/// | the folder removed                        | nothing to do                                 |
///
/// An entry that is being opened again has a folder `active/ID`. Whoever makes one for an entry that is in the
/// outbox already does so with
/// `Spool.finishedBatches` held, as the check and the rename here are done.
package struct Retention {
    /// What may stay; 0 for everything.
    package struct Limits: Sendable, Equatable {
        /// Seconds since an entry was finished.
        package var age = 0.0
        /// Of the files of all finished entries, as they are on the disk.
        package var bytes = 0

        package init(age: Double = 0.0, bytes: Int = 0) {
            self.age = age
            self.bytes = bytes
        }

        var isOff: Bool { age == 0 && bytes == 0 }
    }

    /// What a sweep did, and when the next entry comes of age.
    package struct Outcome: Equatable {
        var entries = 0
        var bytes = 0
        package var nextDue: Date?
    }

    /// A finished entry of ours.
    private struct Entry {
        let name: FileName
        /// As the status has it.
        let time: String
        let finished: Date
        let bytes: Int
    }

    /// Removals told one by one in a sweep; the others are told as a sum.
    private static let toldSingly = 100

    let spool: Spool
    let limits: Limits
    let durably: Bool
    let log: EventLog
    /// Asked between steps; true ends the sweep.
    let isStopped: @Sendable () -> Bool
    /// Says why an entry stays that is old enough. The caller sees to it that this is not said again and again.
    let tell: (FileName, String) -> Void

    package init(
        spool: Spool, limits: Limits, durably: Bool, log: EventLog,
        isStopped: @escaping @Sendable () -> Bool, tell: @escaping (FileName, String) -> Void
    ) {
        self.spool = spool
        self.limits = limits
        self.durably = durably
        self.log = log
        self.isStopped = isStopped
        self.tell = tell
    }

    // MARK: A sweep

    package func sweep(now: Date) throws(FileError) -> Outcome {
        var outcome = Outcome()
        guard !limits.isOff else { return outcome }
        var pace = Pace()
        var left: [(name: FileName, bytes: Int)] = []
        for name in try spool.outbox.names() where !isStopped() {
            pace.step()
            if limits.age > 0, removeIfOld(name, now, &outcome) { continue }
            if limits.bytes > 0, let bytes = size(of: name) { left.append((name, bytes)) }
        }
        // Most of the time all is small enough, and no status need be read to know that.
        if limits.bytes > 0, left.map(\.bytes).saturatingSum() > limits.bytes {
            removeTheOldest(of: left.map(\.name), &outcome)
        }
        if outcome.entries > Self.toldSingly {
            log.expired(entries: outcome.entries, bytes: outcome.bytes)
        }
        return outcome
    }

    /// Removes an entry that has come of age; false if it stays.
    private func removeIfOld(_ name: FileName, _ now: Date, _ outcome: inout Outcome) -> Bool {
        // A status is written for the last time when its batch is finished, so that one written lately needs
        // no reading.
        guard let written = lastWritten(name) else { return false }
        guard now.timeIntervalSince(written) >= limits.age else {
            note(written, &outcome)
            return false
        }
        guard let entry = finishedEntry(name) else { return false }
        guard now.timeIntervalSince(entry.finished) >= limits.age else {
            note(entry.finished, &outcome)
            return false
        }
        return remove(entry, &outcome)
    }

    /// Removes finished entries until the rest of them is small enough.
    private func removeTheOldest(of names: [FileName], _ outcome: inout Outcome) {
        var pace = Pace()
        var entries: [Entry] = []
        for name in names where !isStopped() {
            pace.step()
            if let entry = finishedEntry(name) { entries.append(entry) }
        }
        // Wide enough for the sum of any sizes, which is to be exact where some are taken off again.
        var total = entries.reduce(Int128(0)) { $0 + Int128($1.bytes) }
        entries.sort { $0.finished < $1.finished }
        for entry in entries where total > limits.bytes && !isStopped() {
            pace.step()
            if remove(entry, &outcome) { total -= Int128(entry.bytes) }
        }
    }

    private func note(_ finished: Date, _ outcome: inout Outcome) {
        let due = finished.addingTimeInterval(limits.age)
        outcome.nextDue = outcome.nextDue.map { min($0, due) } ?? due
    }

    // MARK: Looking at an entry

    private func lastWritten(_ name: FileName) -> Date? {
        guard let folder = try? openEntry(name),
            let information = try? folder.information(of: BatchFile.status)
        else { return nil }
        return Date(timeIntervalSince1970: Double(information.st_mtim.tv_sec))
    }

    /// The bytes of all that is in the entry; nil for what is none.
    private func size(of name: FileName) -> Int? {
        guard let folder = try? openEntry(name), let files = try? folder.names() else { return nil }
        return files.map { (try? folder.information(of: $0))?.bytesOnDisk ?? 0 }.saturatingSum()
    }

    /// A finished entry that is ours; nil for any other.
    private func finishedEntry(_ name: FileName) -> Entry? {
        do throws(FileError) {
            guard let folder = try openEntry(name), try folder.exists(BatchFile.status),
                let outline = try StatusOutline(in: folder) ?? keep(name, Self.notOurs)
            else { return nil }
            guard FileName(outline.id) == name else {
                return keep(name, "its status.json belongs to \(outline.id)")
            }
            guard outline.state.isFinal else { return nil }
            guard let time = outline.times.finished, let finished = Clock.date(time) else {
                return keep(name, "its status.json does not show when it was finished")
            }
            var bytes = 0
            for file in try folder.names() {
                guard let information = try folder.information(of: file) else { continue }
                guard information.st_mode & S_IFMT != S_IFDIR else {
                    return keep(name, "it contains a folder, \(file.text)")
                }
                bytes = bytes.saturatingAdd(information.bytesOnDisk)
            }
            return Entry(name: name, time: time, finished: finished, bytes: bytes)
        } catch {
            return keep(name, error.message)
        }
    }

    private static let notOurs = "its status.json was not written by Darkroom"

    /// Says why an entry is none that may go.
    private func keep<Nothing>(_ name: FileName, _ reason: String) -> Nothing? {
        tell(name, reason)
        return nil
    }

    /// nil for what is no folder, or has just gone.
    private func openEntry(_ name: FileName) throws(FileError) -> Directory? {
        do {
            return try Directory(name, in: spool.outbox)
        } catch
            where [
                .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels,
                .permissionDenied,
            ].contains(error.errno)
        {
            return nil
        }
    }

    // MARK: Removing

    /// What cannot be removed stays, and does not stand in the others' way; false if it is still there.
    private func remove(_ entry: Entry, _ outcome: inout Outcome) -> Bool {
        var isTaken = false
        do throws(FileError) {
            isTaken = try takeOut(entry)
            guard isTaken else { return false }
            count(entry, &outcome)
            if durably {
                try spool.active.sync()
                try spool.outbox.sync()
            }
            try Expired(spool: spool, isStopped: isStopped).clear(Expired.name(of: entry.name))
        } catch {
            tell(entry.name, error.message)
        }
        return isTaken
    }

    private func count(_ entry: Entry, _ outcome: inout Outcome) {
        outcome.entries += 1
        outcome.bytes = outcome.bytes.saturatingAdd(entry.bytes)
        log.metrics.expiredEntries.add(1)
        log.metrics.expiredBytes.add(entry.bytes)
        if outcome.entries <= Self.toldSingly {
            log.expired(id: entry.name.text, finished: entry.time, bytes: entry.bytes)
        }
    }

    /// Renames the entry out of the outbox, unless it has become another one or is in work again.
    private func takeOut(_ entry: Entry) throws(FileError) -> Bool {
        let expired = Expired.name(of: entry.name)
        if try spool.active.exists(expired) {
            try Expired(spool: spool, isStopped: isStopped).clear(expired)
            if isStopped() { return false }
        }
        return try spool.finishedBatches.withLock { _ throws(FileError) in
            guard try !spool.active.exists(entry.name), let folder = try openEntry(entry.name),
                let outline = try StatusOutline(in: folder), outline.state.isFinal,
                outline.times.finished == entry.time
            else { return false }
            try spool.outbox.rename(entry.name, to: spool.active, as: expired)
            FaultPoint.expiredMoved.pass()
            return true
        }
    }
}

/// Entries of the outbox on their way out, `active/.expired-ID`. An ID never begins with a dot.
package struct Expired {
    private static let prefix = Array(".expired-".utf8)

    let spool: Spool
    let isStopped: @Sendable () -> Bool

    package init(spool: Spool, isStopped: @escaping @Sendable () -> Bool) {
        self.spool = spool
        self.isStopped = isStopped
    }

    static func name(of entry: FileName) -> FileName { FileName(bytes: prefix + entry.bytes) }

    static func isOne(_ name: FileName) -> Bool { name.bytes.starts(with: prefix) }

    /// Removes those that a former daemon left, and gives their number.
    /// One that cannot be removed does not stand in the others' way; the last failure is thrown at the end.
    package func clear() throws(FileError) -> Int {
        var count = 0
        var failure: FileError?
        for name in try spool.active.names() where Self.isOne(name) && !isStopped() {
            do {
                try clear(name)
                count += 1
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return count
    }

    /// Removes the files in the folder, then the folder. Links are removed, not followed; a folder within is
    /// not Darkroom's and fails with EISDIR.
    func clear(_ name: FileName) throws(FileError) {
        let folder = try Directory(name, in: spool.active)
        var pace = Pace()
        for file in try folder.names() {
            if isStopped() { return }
            pace.step()
            try folder.remove(file)
            FaultPoint.expiredFileRemoved.pass()
        }
        try spool.active.removeDirectory(name)
    }
}

extension stat {
    /// What the file takes on the disk: a file with holes takes less than its length, a small one a whole block.
    var bytesOnDisk: Int {
        max(0, Int(st_blocks)).saturatingMultiply(512)
    }
}

/// Leaves the disk to others for as long as it was used.
struct Pace {
    private var begin = Clock.nanoseconds

    mutating func step() {
        let spent = Clock.nanoseconds - begin
        guard spent > 10_000_000 else { return }
        usleep(UInt32(min(spent / 1000, 50_000)))
        begin = Clock.nanoseconds
    }
}
