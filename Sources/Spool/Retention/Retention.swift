import DarkroomAnswer
import DarkroomCore
import Foundation
import Glibc
import SystemPackage

/// Removes finished batches from the outbox: those above an age, and the oldest ones if all together are above a size.
/// It never removes an unfinished batch or files that Darkroom has not created.
///
/// | step                                        | after a crash at this point                 |
/// |---------------------------------------------|---------------------------------------------|
/// | `private/ID.EXT` removed, if there is one   | the answer stays without it until the next  |
/// |                                             | sweep removes that too                      |
/// | `outbox/ID` renamed to `active/.expired-ID` | the next start removes it                   |
/// | both folders synced                         | the same                                    |
/// | its files removed, one by one               | the same                                    |
/// | the folder removed                          | nothing to do                               |
///
/// A batch that is being reopened has a folder `active/ID`. Code that creates this folder for a batch in the outbox
/// holds `Spool.finishedBatches`, as this code does for its check and its rename.
package struct Retention {
    /// The limits; 0 means no limit.
    package struct Limits: Sendable, Equatable {
        /// The seconds since the end of a batch.
        package var age = 0.0
        /// The disk space of the files of all finished batches.
        package var bytes = 0

        package init() {}

        var isOff: Bool { age == 0 && bytes == 0 }
    }

    /// The result of a sweep, and when the next batch reaches the age.
    package struct Outcome: Equatable {
        var entries = 0
        var bytes = 0
        package var nextDue: Date?
    }

    /// The number of removals that are logged individually in a sweep; the others are logged as a sum.
    private static let toldSingly = 100

    let spool: Spool
    let limits: Limits
    let durably: Bool
    let log: EventLog
    /// Checked between steps; true ends the sweep.
    let isStopped: @Sendable () -> Bool
    /// Reports why an old batch is not removed. The caller avoids repeated reports.
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
        // Usually the total is below the limit, and no status must be read to know this.
        if limits.bytes > 0, left.map(\.bytes).saturatingSum() > limits.bytes {
            removeTheOldest(of: left.map(\.name), &outcome)
        }
        if outcome.entries > Self.toldSingly {
            log.expired(entries: outcome.entries, bytes: outcome.bytes)
        }
        return outcome
    }

    /// Removes a batch that is old enough; returns false if it stays.
    private func removeIfOld(_ name: FileName, _ now: Date, _ outcome: inout Outcome) -> Bool {
        // The last write of a status is at the end of its batch, so a status that was written recently need not be
        // read.
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

    /// Removes finished batches until the others are below the limit.
    private func removeTheOldest(of names: [FileName], _ outcome: inout Outcome) {
        var pace = Pace()
        var entries: [FinishedBatch] = []
        for name in names where !isStopped() {
            pace.step()
            if let entry = finishedEntry(name) { entries.append(entry) }
        }
        // Wide enough for the sum of any sizes; the sum must be exact, because sizes are subtracted again.
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

    // MARK: Reading a batch

    private func lastWritten(_ name: FileName) -> Date? {
        guard let folder = try? FinishedBatch.open(name, in: spool.outbox),
            let information = try? folder.information(of: BatchFile.status)
        else { return nil }
        return Date(timeIntervalSince1970: Double(information.st_mtim.tv_sec))
    }

    /// The size of all files of the batch; nil if it is not a batch.
    private func size(of name: FileName) -> Int? {
        guard let folder = try? FinishedBatch.open(name, in: spool.outbox),
            let files = try? folder.names()
        else { return nil }
        return files.map { folder.bytesOnDisk(of: $0) }.saturatingSum()
    }

    /// A finished batch of Darkroom; nil for anything else.
    private func finishedEntry(_ name: FileName) -> FinishedBatch? {
        do throws(FileError) {
            switch try FinishedBatch.read(name, in: spool.outbox) {
            case .finished(let batch): return batch
            case .unfinished, .none: return nil
            case .foreign(let reason): tell(name, reason)
            }
        } catch {
            tell(name, error.message)
        }
        return nil
    }

    // MARK: Removing

    /// Removes a batch. If that fails, it stays and does not affect the others; returns false if it still exists.
    private func remove(_ entry: FinishedBatch, _ outcome: inout Outcome) -> Bool {
        var isTaken = false
        do throws(FileError) {
            guard let expired = try entry.takeOut(of: spool) else { return false }
            isTaken = true
            count(entry, &outcome)
            if durably {
                try spool.active.sync()
                try spool.outbox.sync()
            }
            let leftovers = Expired(spool: spool, isStopped: isStopped)
            try leftovers.clear(expired)
            // A previous batch with this ID may have left it.
            let known = Expired.name(of: entry.name)
            if expired != known { try leftovers.clear(known) }
        } catch {
            tell(entry.name, error.message)
        }
        return isTaken
    }

    private func count(_ entry: FinishedBatch, _ outcome: inout Outcome) {
        outcome.entries += 1
        outcome.bytes = outcome.bytes.saturatingAdd(entry.bytes)
        log.metrics.expiredEntries.add(1)
        log.metrics.expiredBytes.add(entry.bytes)
        if outcome.entries <= Self.toldSingly {
            log.expired(id: entry.name.text, finished: entry.time, bytes: entry.bytes)
        }
    }
}
