import DarkroomCore
import DarkroomSpool
import DequeModule
import Dispatch
import Synchronization
import SystemPackage

/// Makes the results of images durable and visible, in groups: outputs are synced, then the journal is written, then
/// the outputs are renamed into the outbox.
///
/// | step                                    | after a crash                            |
/// |-----------------------------------------|------------------------------------------|
/// | outputs and handed-over pixels synced   | the images are repeated                  |
/// | journal appended and synced             | the restart finishes the renames         |
/// | `active/ID/output-N` → `outbox/ID/NAME` | the restart finds nothing left to rename |
/// | outbox folders synced                   | nothing to do                            |
///
/// Images that arrive while a group is written to the disk form the next group. So many small images share the wait,
/// and a single one does not wait for others.
///
/// A group that the disk refuses is kept and retried when the `StorageGuard` says so: none of its images is shown as
/// finished before it is in the journal.
package final class Publisher: Sendable {
    /// An image that has ended.
    package struct Item: Sendable {
        package let folders: BatchFolders
        package let index: Int
        package var status: ImageStatus
        /// Whether its pixels are in a file next to its output, for other images; see `HandOverTable`.
        package let handsOver: Bool
        /// Called with the status that was written to the journal: that of a failed image if publishing failed.
        package let completion: @Sendable (ImageStatus) -> Void
        /// Called instead if it is not written to the journal.
        package let unrecorded: @Sendable (Unrecorded) -> Void
        /// Whether it is not in the journal yet.
        fileprivate var isUndecided = true

        package init(
            folders: BatchFolders, index: Int, status: ImageStatus, handsOver: Bool = false,
            completion: @escaping @Sendable (ImageStatus) -> Void,
            unrecorded: @escaping @Sendable (Unrecorded) -> Void = { _ in }
        ) {
            self.folders = folders
            self.index = index
            self.status = status
            self.handsOver = handsOver
            self.completion = completion
            self.unrecorded = unrecorded
        }

        /// Whether it has an output that may not be on the disk.
        fileprivate var awaitsSync: Bool { status.state == .filtered && isUndecided }

        /// The files that exist according to the journal's record.
        fileprivate var files: [FileName] {
            [BatchFile.output(index)] + (handsOver ? [BatchFile.pixels(index)] : [])
        }

        fileprivate var record: JournalRecord { .ended(index: index, status) }
    }

    /// A line of a batch's journal that does not concern an image.
    private struct Record: Sendable {
        let folders: BatchFolders
        let record: JournalRecord
        /// Called when it is written, or when the batch's folder does not exist any more.
        let completion: @Sendable () -> Void
    }

    /// The reason why an image's result is not in the journal.
    package enum Unrecorded: Sendable {
        /// There was no space on the disk for its output. It must be made again.
        case again
        /// The daemon stops while the disk refuses it. The next start repeats it.
        case left
    }

    private enum Entry: Sendable {
        case item(Item)
        case record(Record)

        var folders: BatchFolders {
            switch self {
            case .item(let item): item.folders
            case .record(let record): record.folders
            }
        }
    }

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

    let queue = DispatchQueue(label: "darkroom.publisher", qos: .userInitiated)
    private let pending = Mutex<[Entry]>([])
    /// Changed on `queue` only.
    private let kept = Mutex(Kept())
    /// The number of entries that have not been processed yet.
    var pendingCount: Int { pending.withLock { $0.count } }
    private let durably: Bool
    private let groupSync: GroupSync?
    private let storage: StorageGuard
    private let log: EventLog

    /// - Parameter groupSync: syncs several outputs at once; nil to sync each separately.
    package init(
        durably: Bool, storage: StorageGuard, log: EventLog, groupSync: GroupSync? = GroupSync()
    ) {
        self.durably = durably
        self.groupSync = groupSync
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
        for group in groups where !keepBehindOthers(group) { _ = attempt(group) }
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

    /// The entries of one batch.
    private struct Group: Sendable {
        let folders: BatchFolders
        var items: [Item] = []
        var records: [Record] = []

        var isEmpty: Bool { items.isEmpty && records.isEmpty }
    }

    // MARK: Refusals of the disk

    /// Publishes a group, and keeps the part that the disk refuses.
    ///
    /// - Returns: false if it kept anything.
    private func attempt(_ group: Group) -> Bool {
        let rest = publish(group)
        if rest.isEmpty { return true }
        let isLeaving = kept.withLock { kept in
            if !kept.isLeaving { kept.groups.append(rest) }
            return kept.isLeaving
        }
        if isLeaving { leave(rest) }
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
            isWell = attempt(group)
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

    // MARK: The steps

    /// Carries out the four steps.
    ///
    /// - Returns: the part of the group that must be retried.
    private func publish(_ group: Group) -> Group {
        var group = group
        var rest = Group(folders: group.folders)
        let active: Directory
        do {
            active = try group.folders.active()
            startWriting(group.items, in: active)
            try sync(&group.items, in: active)
            FaultPoint.publishOutputsSynced.pass()
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Another process has removed the folder. There is no place to write to, and nothing to retry.
            for item in group.items { item.completion(item.status.removed(with: group.folders)) }
            for record in group.records { record.completion() }
            return rest
        } catch {
            storage.writeRefused(error, batch: group.folders.id)
            return group
        }
        do {
            try journal(group, in: active)
        } catch  where error.step == FileError.sync {
            // Its lines may be in the file but not on the disk. None of the images is shown as finished, and later
            // lines replace these.
            storage.writeRefused(error, batch: group.folders.id)
            refuse(&group.items, error, in: active)
            rest.records = group.records
            // Images that were in the journal before, and whose rename was refused, still wait for the rename.
            rest.items = group.items.filter { !$0.isUndecided }
            for item in group.items where item.isUndecided { item.completion(item.status) }
            return rest
        } catch {
            storage.writeRefused(error, batch: group.folders.id)
            return group
        }
        rest.items = rename(&group.items, group.folders, from: active)
        if durably, group.items.contains(where: { $0.status.state == .filtered }) {
            syncOutbox(group.folders)
        }
        FaultPoint.publishOutboxSynced.pass()
        for item in group.items { item.completion(item.status) }
        for record in group.records { record.completion() }
        return rest
    }

    private func journal(_ group: Group, in active: Directory) throws(FileError) {
        let records =
            group.items.filter(\.isUndecided).map(\.record) + group.records.map(\.record)
        guard !records.isEmpty else { return }
        try ItemJournal.append(records, in: active, durably: durably)
    }

    private func refuse(_ items: inout [Item], _ error: FileError, in active: Directory) {
        for index in items.indices where items[index].isUndecided {
            items[index].status.fail(error)
        }
        // If this fails too, a restart may find the lines and finish the renames. The outputs are complete, because
        // they were synced before.
        try? ItemJournal.append(items.map(\.record), in: active, durably: false)
    }

    /// Starts writing all outputs of the group to the disk before it waits for the first.
    private func startWriting(_ items: [Item], in active: Directory) {
        let files = items.filter(\.awaitsSync).flatMap(\.files)
        guard durably, files.count > 1 else { return }
        // If a file cannot be opened, the sync reports this.
        for file in files { try? active.open(file).startWriting() }
    }

    /// Waits until the outputs are on the disk. Outputs that cannot be written fail. Those for which there was no space
    /// are made again, and leave the group.
    ///
    /// - Throws: an error if this is not known yet.
    private func sync(_ items: inout [Item], in active: Directory) throws(FileError) {
        guard durably else { return }
        let files = items.lazy.filter(\.awaitsSync).reduce(0) { $0 + $1.files.count }
        if files > 1, let groupSync,
            groupSync.sync(items[0].folders.spool.active)
        {
            return
        }
        var unwritten: [Int] = []
        defer { for index in unwritten.reversed() { items.remove(at: index) } }
        for index in items.indices {
            guard items[index].awaitsSync else { continue }
            do throws(FileError) {
                for name in items[index].files {
                    try active.open(name).sync(path: active.path(of: name))
                }
            } catch  where error.step == FileError.sync && error.errno.storageFault == .full {
                // Unlike a journal's lines, an output can be written again from its beginning.
                storage.writeRefused(FileError("write", error.path, error.errno))
                items[index].unrecorded(.again)
                unwritten.append(index)
            } catch  where error.step == FileError.sync {
                storage.writeRefused(error, batch: items[index].folders.id)
                items[index].status.fail(error)
            } catch  where error.fault != nil {
                throw error
            } catch {
                items[index].status.fail(error)
            }
        }
    }

    /// Renames the outputs into the outbox.
    ///
    /// - Returns: the items whose rename or failure must be retried.
    private func rename(
        _ items: inout [Item], _ folders: BatchFolders, from active: Directory
    ) -> [Item] {
        var rest: [Item] = []
        var done: [Item] = []
        var corrected: [Item] = []
        for var item in items {
            item.isUndecided = false
            guard let output = item.status.output else {
                done.append(item)
                continue
            }
            do {
                try active.rename(
                    BatchFile.output(item.index), to: try folders.restoredOutbox(),
                    as: FileName(output.file))
                FaultPoint.publishOutputMoved.pass()
                done.append(item)
            } catch  where error.fault != nil || error.errno == .ioError {
                storage.writeRefused(error, batch: folders.id)
                rest.append(item)
            } catch {
                item.status.fail(error)
                corrected.append(item)
            }
        }
        if !corrected.isEmpty {
            do {
                try ItemJournal.append(corrected.map(\.record), in: active, durably: durably)
                done += corrected
            } catch {
                // Without this line in the journal, a restart would try these renames again.
                storage.writeRefused(error, batch: folders.id)
                for var item in corrected {
                    item.isUndecided = true
                    rest.append(item)
                }
            }
        }
        items = done
        return rest
    }

    /// Syncs the outbox's folder. If a power failure undoes the renames, a restart finishes them, because the journal
    /// is on the disk. A batch ends only after a successful sync of this folder.
    private func syncOutbox(_ folders: BatchFolders) {
        do {
            try folders.outbox().sync()
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Another process has removed the folder with its content.
        } catch {
            storage.writeRefused(error, batch: folders.id)
        }
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
