import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomSpool
import Dispatch
import Synchronization

/// Brings to the disk what must survive a crash: the results of images and the commands of a batch, then its last
/// status. What comes at the same time shares the waits for the disk, of whatever kind and batch it is.
///
/// | step of results                         | step of an end                            | after a crash              |
/// |-----------------------------------------|-------------------------------------------|----------------------------|
/// |                                         | last status written into `active/ID`      | the batch ends again       |
/// | outputs and handed-over pixels synced   | it and the names of the outputs synced    | images are repeated; the   |
/// |                                         |                                           | batch ends again           |
/// | journal appended                        | a submitted folder is in the answer if    | the restart finds the      |
/// |                                         | its pictures are kept (`Originals`);      | pictures there; either     |
/// |                                         | status renamed into `outbox/ID`           | state                      |
/// | journal synced                          | outbox folder synced                      | the restart finishes the   |
/// |                                         |                                           | renames, removes `active/` |
/// | `active/ID/output-N` → `outbox/ID/NAME` | `active/ID` removed                       | nothing to do              |
///
/// The steps are carried out for a `Pass`: parts of different batches. What arrives while a pass is written to the disk
/// forms the next one. So many small images share the wait, and a single one does not wait for others.
///
/// A part that the disk refuses is kept, and is retried when the `StorageGuard` says so: no image is shown as finished
/// before it is in the journal, and no batch ends without its answer. The parts of a batch are written in their order.
package final class Committer: Sendable {
    /// So many batches share syncs at most, because each has a folder open meanwhile.
    private static let batchesAtOnce = 32
    /// So many images of batches that end share syncs at most, because the statuses of these batches are in memory.
    private static let imagesAtOnce = 4096

    let queue = DispatchQueue(label: "darkroom.committer", qos: .userInitiated)
    private let pending = Mutex<[Entry]>([])
    /// What the disk has refused.
    let backlog: RefusedWrites
    let durably: Bool
    let storage: StorageGuard
    let progress: ProgressKeeper
    let log: EventLog
    let time: TimeSource
    private let burst = BurstPause()
    /// While the daemon stops: the time after which no batch ends any more, in nanoseconds; else nil.
    private let end = Mutex<UInt64?>(nil)

    init(
        durably: Bool, storage: StorageGuard, progress: ProgressKeeper, log: EventLog,
        time: TimeSource = .system
    ) {
        self.durably = durably
        self.storage = storage
        self.progress = progress
        self.log = log
        self.time = time
        backlog = RefusedWrites(queue: queue, storage: storage)
    }

    /// The number of images and records that have not been processed yet.
    var pendingCount: Int {
        pending.withLock { $0.count { if case .end = $0 { false } else { true } } }
    }

    // MARK: What is to be written

    package func commit(_ item: Item) { add(.item(item)) }

    /// Writes a record that does not concern an image to the journal.
    ///
    /// - Parameter completion: called when it is written, or when the batch's folder does not exist any more.
    package func record(
        _ record: JournalRecord, of folders: BatchFolders,
        completion: @escaping @Sendable () -> Void
    ) {
        add(.record(Record(folders: folders, record: record, completion: completion)))
    }

    /// Writes the last status of a batch and removes its folder. If the disk refuses this, it is retried until it
    /// succeeds, or until the next start.
    func commit(_ end: End) { add(.end(end)) }

    /// Calls a function when all previous entries of this batch are on the disk.
    package func afterwards(of batch: FileName, _ body: @escaping @Sendable () -> Void) {
        queue.async { [self] in backlog.afterwards(of: batch, body) }
    }

    /// Waits until all previous entries have been processed or kept.
    package func drain() { queue.sync {} }

    /// Gives up what is kept, and keeps nothing from now on, because the daemon stops. Batches that have not ended by
    /// `time` end after the next start: many may be about to end at once, and a stop does not wait for all.
    package func close(finishingUntil time: UInt64) {
        end.withLock { $0 = time }
        queue.sync { backlog.leave() }
    }

    /// Whether a batch may end now.
    var mayFinish: Bool { end.withLock { $0 }.map { time.now <= $0 } ?? true }

    private func add(_ entry: Entry) {
        let isFirst = pending.withLock { pending in
            pending.append(entry)
            return pending.count == 1
        }
        if isFirst { queue.async { [self] in commitPending() } }
    }

    // MARK: Passes

    /// Processes all entries so far.
    private func commitPending() {
        if durably { burst.wait() }
        let entries = pending.withLock { pending in
            defer { pending = [] }
            return pending
        }
        var parts = Self.parts(of: entries)
        let batches = Set(parts.map(\.batch)).count
        while !parts.isEmpty {
            var pass = Pass()
            var left: [Part] = []
            for part in parts {
                if mustWait(part) {
                    keep(part)
                } else if !pass.take(part, most: Self.batchesAtOnce, Self.imagesAtOnce, mayFinish) {
                    left.append(part)
                }
            }
            carryOut(&pass)
            for part in pass.rest { keep(part) }
            parts = left
        }
        burst.ended(batches: batches)
    }

    /// The entries, with the images and records of each batch together, before its end.
    private static func parts(of entries: [Entry]) -> [Part] {
        // By the bytes of the ID: two IDs that are equal in Unicode are two folders.
        var indices: [FileName: Int] = [:]
        var results: [Results] = []
        var ends: [Part] = []
        for entry in entries {
            if case .end(let end) = entry {
                ends.append(.end(end))
                continue
            }
            let folders = entry.folders
            let index = indices[FileName(folders.id), default: results.count]
            if index == results.count {
                indices[FileName(folders.id)] = index
                results.append(Results(folders: folders))
            }
            switch entry {
            case .item(let item): results[index].items.append(item)
            case .record(let record): results[index].records.append(record)
            case .end: break
            }
        }
        return results.map(Part.results) + ends
    }

    /// A part waits behind earlier ones of its batch, because the journal's lines are read in their order. An end also
    /// waits while the spool accepts no writes.
    private func mustWait(_ part: Part) -> Bool {
        if case .end = part, !storage.mayWork { return true }
        return backlog.holds(part.batch)
    }

    /// Keeps a part that the disk has refused, or that must wait.
    private func keep(_ part: Part) {
        backlog.keep(write(part))
    }

    private func write(_ part: Part) -> RefusedWrites.Write {
        RefusedWrites.Write(batch: part.batch, leave: part.leave) { [self] in
            var pass = Pass()
            guard pass.take(part, most: 1, .max, mayFinish) else { return .undecided }
            carryOut(&pass)
            if let rest = pass.rest.first { return .refusedPartly(write(rest)) }
            return pass.isUndecided ? .undecided : .succeeded
        }
    }

    /// Carries out the steps of the table.
    private func carryOut(_ pass: inout Pass) {
        guard let spool = pass.spool else { return }
        let byPath = spool.ownsOutbox()
        stageEnds(&pass)
        if durably { syncFiles(&pass, spool) }
        if !pass.results.isEmpty { FaultPoint.publishOutputsSynced.pass() }
        let isTogether = durably && pass.results.count + pass.ends.count > 1
        writeJournals(&pass, durably: durably && !isTogether)
        placeEnds(&pass, byPath: byPath)
        if durably {
            let isSynced = isTogether && spool.syncTogether()
            if isTogether, !isSynced { syncJournals(&pass) }
            if !isSynced { syncEnds(&pass) }
        }
        publishOutputs(&pass, byPath: byPath)
        clearEnds(&pass)
    }

    /// Waits until the outputs and the last statuses are on the disk.
    private func syncFiles(_ pass: inout Pass, _ spool: Spool) {
        if pass.filesToSync > 1, spool.syncTogether() { return }
        syncOutputs(&pass)
        syncStagedStatuses(&pass)
    }
}
