import Foundation
import Glibc
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
/// outbox already does so in
/// `Spool.holdingAnswers`, as the check and the rename here are done.
struct Retention {
    /// What may stay; 0 for everything.
    struct Limits: Sendable, Equatable {
        /// Seconds since an entry was finished.
        var age = 0.0
        /// Of the files of all finished entries.
        var bytes = 0

        var isOff: Bool { age == 0 && bytes == 0 }
    }

    /// What a sweep did, and when the next entry comes of age.
    struct Outcome: Equatable {
        var entries = 0
        var bytes = 0
        var nextDue: Date?
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
    let keep: (FileName, String) -> Void

    // MARK: A sweep

    func sweep(now: Date) throws(FileError) -> Outcome {
        var outcome = Outcome()
        guard !limits.isOff else { return outcome }
        var pace = Pace()
        var left: [Entry] = []
        var total = 0
        for name in try spool.outbox.names() where !isStopped() {
            pace.step()
            guard let entry = look(at: name, now, &outcome) else { continue }
            if limits.age > 0, now.timeIntervalSince(entry.finished) >= limits.age {
                remove(entry, &outcome)
            } else {
                if limits.bytes > 0 {
                    left.append(entry)
                    total += entry.bytes
                }
                note(entry.finished, &outcome)
            }
        }
        if limits.bytes > 0, total > limits.bytes, !isStopped() {
            left.sort { $0.finished < $1.finished }
            for entry in left where total > limits.bytes && !isStopped() {
                pace.step()
                let before = outcome.entries
                remove(entry, &outcome)
                if outcome.entries > before { total -= entry.bytes }
            }
        }
        if outcome.entries > Self.toldSingly {
            log.expired(entries: outcome.entries, bytes: outcome.bytes)
        }
        return outcome
    }

    /// A finished entry; nil where it is none, or is too young to be looked at more closely.
    private func look(at name: FileName, _ now: Date, _ outcome: inout Outcome) -> Entry? {
        do throws(FileError) {
            return try examine(name, now, &outcome)
        } catch {
            keep(name, error.message)
            return nil
        }
    }

    private func examine(
        _ name: FileName, _ now: Date, _ outcome: inout Outcome
    ) throws(FileError) -> Entry? {
        guard let folder = try openEntry(name),
            let information = try folder.information(of: BatchFile.status)
        else { return nil }
        // A status is written for the last time when its batch is finished, so that one written lately needs
        // no reading, unless all are to be put in their order.
        let written = Date(timeIntervalSince1970: Double(information.st_mtim.tv_sec))
        if limits.bytes == 0, now.timeIntervalSince(written) < limits.age {
            note(written, &outcome)
            return nil
        }
        guard let outline = try StatusOutline(in: folder) else {
            keep(name, "its status.json is not one that Darkroom wrote")
            return nil
        }
        guard FileName(outline.id) == name else {
            keep(name, "its status.json is that of \(outline.id)")
            return nil
        }
        guard outline.state.isFinal else { return nil }
        guard let time = outline.times.finished, let finished = Clock.date(time) else {
            keep(name, "its status.json does not say when it was finished")
            return nil
        }
        guard let bytes = try size(of: folder, name) else { return nil }
        return Entry(name: name, time: time, finished: finished, bytes: bytes)
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

    /// The bytes of the entry's files; nil where it holds a folder, which Darkroom has not made.
    private func size(of folder: Directory, _ name: FileName) throws(FileError) -> Int? {
        var bytes = 0
        for file in try folder.names() {
            guard let information = try folder.information(of: file) else { continue }
            if information.st_mode & S_IFMT == S_IFDIR {
                keep(name, "it holds a folder, \(file.text)")
                return nil
            }
            bytes += Int(information.st_size)
        }
        return bytes
    }

    private func note(_ finished: Date, _ outcome: inout Outcome) {
        guard limits.age > 0 else { return }
        let due = finished.addingTimeInterval(limits.age)
        outcome.nextDue = outcome.nextDue.map { min($0, due) } ?? due
    }

    // MARK: Removing

    /// What cannot be removed stays, and does not stand in the others' way.
    private func remove(_ entry: Entry, _ outcome: inout Outcome) {
        do throws(FileError) {
            guard try takeOut(entry) else { return }
            count(entry, &outcome)
            if durably {
                try spool.active.sync()
                try spool.outbox.sync()
            }
            try Expired(spool: spool, isStopped: isStopped).clear(Expired.name(of: entry.name))
        } catch {
            keep(entry.name, error.message)
        }
    }

    private func count(_ entry: Entry, _ outcome: inout Outcome) {
        outcome.entries += 1
        outcome.bytes += entry.bytes
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
        return try spool.holdingAnswers { () throws(FileError) in
            guard try !spool.active.exists(entry.name), let folder = try openEntry(entry.name),
                let outline = try StatusOutline(in: folder), outline.state.isFinal,
                outline.times.finished == entry.time
            else { return false }
            try spool.outbox.rename(entry.name, to: spool.active, as: expired)
            return true
        }
    }
}

/// Entries of the outbox on their way out, `active/.expired-ID`. An ID never begins with a dot.
struct Expired {
    private static let prefix = Array(".expired-".utf8)

    let spool: Spool
    let isStopped: @Sendable () -> Bool

    static func name(of entry: FileName) -> FileName { FileName(bytes: prefix + entry.bytes) }

    static func isOne(_ name: FileName) -> Bool { name.bytes.starts(with: prefix) }

    /// Removes those that a former daemon left, and gives their number.
    func clear() throws(FileError) -> Int {
        var count = 0
        for name in try spool.active.names() where Self.isOne(name) && !isStopped() {
            try clear(name)
            count += 1
        }
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
        }
        try spool.active.removeDirectory(name)
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
