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
final class Committer: Sendable {
    let queue = DispatchQueue(label: "darkroom.committer", qos: .userInitiated)
    private let pending = Mutex(Pending())
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
    var pendingCount: Int { pending.withLock { $0.items.count + $0.records.count } }

    // MARK: What is to be written

    func commit(_ item: Item) { add { $0.items.append(item) } }

    /// Writes a record that does not concern an image to the journal.
    ///
    /// - Parameter completion: called when it is written, or when the batch's folder does not exist any more.
    func record(
        _ record: JournalRecord, of folders: BatchFolders,
        completion: @escaping @Sendable () -> Void
    ) {
        let record = Record(folders: folders, record: record, completion: completion)
        add { $0.records.append(record) }
    }

    /// Writes the last status of a batch and removes its folder. If the disk refuses this, it is retried until it
    /// succeeds, or until the next start.
    func commit(_ end: End) { add { $0.ends.append(end) } }

    /// Calls a function when all previous entries of this batch are on the disk.
    func afterwards(of batch: FileName, _ body: @escaping @Sendable () -> Void) {
        queue.async { [self] in backlog.afterwards(of: batch, body) }
    }

    /// Waits until all previous entries have been processed or kept.
    func drain() { queue.sync {} }

    /// Gives up what is kept, and keeps nothing from now on, because the daemon stops. Batches that have not ended by
    /// `time` end after the next start: many may be about to end at once, and a stop does not wait for all.
    func close(finishingUntil time: UInt64) {
        end.withLock { $0 = time }
        queue.sync { backlog.leave() }
    }

    /// Whether a batch may end now.
    var mayFinish: Bool { end.withLock { $0 }.map { time.now <= $0 } ?? true }

    private func add(_ change: (inout Pending) -> Void) {
        let isFirst = pending.withLock { pending in
            defer { change(&pending) }
            return pending.isEmpty
        }
        if isFirst { queue.async { [self] in commitPending() } }
    }

    // MARK: Passes

    /// Processes all entries so far.
    private func commitPending() {
        if durably { burst.wait() }
        var parts = pending.withLock { exchange(&$0, with: Pending()) }.parts
        let batches = Set(parts.map(\.batch)).count
        while !parts.isEmpty {
            var pass = Pass()
            var left: [Part] = []
            for part in parts {
                if mustWait(part) {
                    keep(part)
                } else if !pass.take(part, mayFinish: mayFinish) {
                    left.append(part)
                }
            }
            carryOut(&pass)
            for part in pass.rest { keep(part) }
            parts = left
        }
        burst.ended(batches: batches)
    }

    /// A part waits behind earlier ones of its batch, because the journal's lines are read in their order. An end also
    /// waits while the spool accepts no writes.
    private func mustWait(_ part: Part) -> Bool {
        if case .end = part, !storage.mayWork { return true }
        return backlog.holds(part.batch)
    }

    /// Keeps a part that the disk has refused, or that must wait.
    private func keep(_ part: Part) { backlog.keep(write(part)) }

    private func write(_ part: Part) -> RefusedWrites.Write {
        RefusedWrites.Write(batch: part.batch, leave: part.leave) { [self] in
            var pass = Pass()
            _ = pass.take(part, mayFinish: mayFinish)
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
