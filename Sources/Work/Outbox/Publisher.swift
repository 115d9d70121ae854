import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import DequeModule
import Dispatch
import Synchronization

/// Makes the results of images durable and visible, in groups: outputs are synced, then the journal is written, then
/// the outputs are renamed into the outbox. The groups of several batches share the syncs.
///
/// | step                                    | after a crash                            |
/// |-----------------------------------------|------------------------------------------|
/// | outputs and handed-over pixels synced   | the images are repeated                  |
/// | journal appended and synced             | the restart finishes the renames         |
/// | `active/ID/output-N` → `outbox/ID/NAME` | the restart finds nothing left to rename |
///
/// Images that arrive while a group is written to the disk form the next group. So many small images share the wait,
/// and a single one does not wait for others.
///
/// A group that the disk refuses is kept and retried when the `StorageGuard` says so: none of its images is shown as
/// finished before it is in the journal.
package final class Publisher: Sendable {
    /// Groups that wait for the disk.
    private struct Kept: Sendable {
        var groups: Deque<Group> = []
        /// Functions that are called when nothing of the batch is kept any more.
        var afterwards: [(batch: FileName, body: @Sendable () -> Void)] = []
        var isLeaving = false

        func holds(_ batch: FileName) -> Bool {
            groups.contains { FileName($0.folders.id) == batch }
        }
    }

    /// So many batches share syncs at most, because each has a folder open meanwhile.
    private static let batchesAtOnce = 32

    let queue = DispatchQueue(label: "darkroom.publisher", qos: .userInitiated)
    private let pending = Mutex<[Entry]>([])
    /// Changed on `queue` only.
    private let kept = Mutex(Kept())
    /// The number of entries that have not been processed yet.
    var pendingCount: Int { pending.withLock { $0.count } }
    let durably: Bool
    let storage: StorageGuard
    private let log: EventLog
    private let burst = BurstPause()

    package init(durably: Bool, storage: StorageGuard, log: EventLog) {
        self.durably = durably
        self.storage = storage
        self.log = log
    }

    package func publish(_ item: Item) { add(.item(item)) }

    /// Writes a record that does not concern an image to the journal. If the disk refuses it, it is kept like an image.
    ///
    /// - Parameter completion: called when it is written, or when the batch's folder does not exist any more.
    package func record(
        _ record: JournalRecord, of folders: BatchFolders,
        completion: @escaping @Sendable () -> Void
    ) {
        add(.record(Record(folders: folders, record: record, completion: completion)))
    }

    /// Calls a function when all previous entries of this batch are in the journal.
    package func afterwards(of batch: FileName, _ body: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            let isKept = kept.withLock { kept in
                let isKept = kept.holds(batch)
                if isKept { kept.afterwards.append((batch, body)) }
                return isKept
            }
            if !isKept { body() }
        }
    }

    /// Waits until all previous entries have been processed or kept.
    package func drain() { queue.sync {} }

    /// Gives up the kept groups, and keeps nothing from now on, because the daemon stops.
    package func leaveKept() {
        queue.sync {
            let groups = kept.withLock { kept in
                kept.isLeaving = true
                defer {
                    kept.groups = []
                    kept.afterwards = []
                }
                return kept.groups
            }
            for group in groups { leave(group) }
        }
    }

    private func leave(_ group: Group) {
        for item in group.items { item.unrecorded(.left) }
    }

    private func add(_ entry: Entry) {
        let isFirst = pending.withLock { pending in
            pending.append(entry)
            return pending.count == 1
        }
        if isFirst { queue.async { [self] in publishGroup() } }
    }

    /// Processes all entries so far.
    private func publishGroup() {
        if durably { burst.wait() }
        let entries = pending.withLock { pending in
            defer { pending = [] }
            return pending
        }
        // By the bytes of the ID: two IDs that are equal in Unicode are two folders.
        var indices: [FileName: Int] = [:]
        var groups: [Group] = []
        for entry in entries {
            let folders = entry.folders
            let index = indices[FileName(folders.id), default: groups.count]
            if index == groups.count {
                indices[FileName(folders.id)] = index
                groups.append(Group(folders: folders))
            }
            switch entry {
            case .item(let item): groups[index].items.append(item)
            case .record(let record): groups[index].records.append(record)
            }
        }
        var left = groups.filter { !keepBehindOthers($0) }[...]
        while !left.isEmpty {
            _ = attempt(Array(left.prefix(Self.batchesAtOnce)))
            left = left.dropFirst(Self.batchesAtOnce)
        }
        burst.ended(batches: groups.count)
    }

    /// If an earlier group of the same batch waits for the disk, this group waits too, because the journal's lines are
    /// read in their order.
    private func keepBehindOthers(_ group: Group) -> Bool {
        let isKept = kept.withLock { kept in
            guard !kept.isLeaving, kept.holds(FileName(group.folders.id)) else { return false }
            kept.groups.append(group)
            return true
        }
        if isKept, storage.mayWork { queue.async { [self] in retryKept() } }
        return isKept
    }

    // MARK: Refusals of the disk

    /// Publishes groups of different batches, and keeps the parts that the disk refuses.
    ///
    /// - Returns: false if it kept anything.
    private func attempt(_ groups: [Group]) -> Bool {
        let rests = publish(groups).filter { !$0.isEmpty }
        if rests.isEmpty { return true }
        let isLeaving = kept.withLock { kept in
            if !kept.isLeaving { kept.groups += rests }
            return kept.isLeaving
        }
        if isLeaving { for rest in rests { leave(rest) } }
        // The disk may have got space since it refused.
        if storage.mayWork { queue.async { [self] in retryKept() } }
        return false
    }

    /// Publishes the kept groups, up to the first that is refused again.
    private func retryKept(atMost limit: Int = .max) {
        var count = 0
        var isWell = true
        while count < limit, isWell, let group = takeKept() {
            count += 1
            isWell = attempt([group])
        }
        if count > 0, isWell { storage.writeSucceeded() }
        let bodies = kept.withLock { kept in
            let due = kept.afterwards.filter { !kept.holds($0.batch) }
            kept.afterwards = kept.afterwards.filter { kept.holds($0.batch) }
            return due.map(\.body)
        }
        for body in bodies { body() }
    }

    private func takeKept() -> Group? {
        kept.withLock { $0.groups.popFirst() }
    }
}

extension Publisher: StorageClient {
    package func tryStorage() -> Bool {
        guard kept.withLock({ !$0.groups.isEmpty }) else { return false }
        queue.async { [self] in retryKept(atMost: 1) }
        return true
    }

    package func storageChanged() {
        guard storage.mayWork, kept.withLock({ !$0.groups.isEmpty }) else { return }
        queue.async { [self] in retryKept() }
    }
}
