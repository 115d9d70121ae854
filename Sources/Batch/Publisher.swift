import DarkroomCore
import DarkroomSpool
import DequeModule
import Dispatch
import Synchronization
import SystemPackage

/// Makes the ends of images durable and visible, in groups: outputs to the disk, then the journal, then the
/// renames into the outbox.
///
/// | step                                   | a crash after it                                          |
/// |----------------------------------------|-----------------------------------------------------------|
/// | outputs, pixels handed over synced     | the images are done again                                 |
/// | journal appended and synced            | the restart finishes the renames                          |
/// | `active/ID/output-N` → `outbox/ID/NAME`| the restart finds nothing left to rename                  |
/// | outbox folders synced                  | nothing to do                                             |
///
/// Whatever comes in while a group is on its way to the disk makes the next group, so that many small
/// images share the waiting and a single one does not wait for company.
///
/// A group that the disk refuses is kept as it is and retried when the `StorageGuard` says so: none of its
/// images is shown as done before the journal has it.
package final class Publisher: Sendable {
    /// One image that has ended.
    package struct Item: Sendable {
        package let folders: BatchFolders
        package let index: Int
        package var status: ImageStatus
        /// Whether its pixels lie beside its output, for other images; see `HandOvers`.
        package let handsOver: Bool
        /// Called with the status as it was journaled: that of a failed image if publishing failed.
        package let completion: @Sendable (ImageStatus) -> Void
        /// Called instead where it is not journaled.
        package let unrecorded: @Sendable (Unrecorded) -> Void
        /// Whether the journal does not have it yet.
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

        /// Whether it has an output that is not known to be on the disk.
        fileprivate var awaitsSync: Bool { status.state == .filtered && isUndecided }

        /// What the journal's record vouches for.
        fileprivate var files: [FileName] {
            [BatchFile.output(index)] + (handsOver ? [BatchFile.pixels(index)] : [])
        }

        fileprivate var record: JournalRecord { .ended(index: index, status) }
    }

    /// A line of a batch's journal that is not about an image.
    private struct Record: Sendable {
        let folders: BatchFolders
        let record: JournalRecord
        /// Called with what kept it from being written, if anything.
        let completion: @Sendable (FileError?) -> Void
    }

    /// Why an image's end is not in the journal.
    package enum Unrecorded: Sendable {
        /// Its output's bytes did not get to the disk for want of space; it is to be made again.
        case again
        /// The daemon stops while the disk refuses it; the next start does it again.
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

    /// What waits for the disk.
    private struct Kept: Sendable {
        var groups: Deque<Group> = []
        /// What is to be done when nothing of the batch is kept any more.
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
    /// What has been handed in and is not dealt with yet.
    var pendingCount: Int { pending.withLock { $0.count } }
    private let durably: Bool
    private let groupSync: GroupSync?
    private let storage: StorageGuard
    private let log: EventLog

    /// - Parameter groupSync: waits for several outputs at once; nil to ask for each by itself.
    package init(
        durably: Bool, storage: StorageGuard, log: EventLog, groupSync: GroupSync? = GroupSync()
    ) {
        self.durably = durably
        self.groupSync = groupSync
        self.storage = storage
        self.log = log
    }

    package func publish(_ item: Item) { add(.item(item)) }

    /// Journals what is not about an image.
    package func record(
        _ record: JournalRecord, of folders: BatchFolders,
        completion: @escaping @Sendable (FileError?) -> Void
    ) {
        add(.record(Record(folders: folders, record: record, completion: completion)))
    }

    /// Does something when everything handed in before of this batch is in the journal.
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

    /// Waits until everything handed in before has been dealt with, or is kept.
    package func drain() { queue.sync {} }

    /// Lets go of what is kept, and keeps nothing from now on: the daemon stops.
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

    /// Deals with all that has come in so far.
    private func publishGroup() {
        let entries = pending.withLock { pending in
            defer { pending = [] }
            return pending
        }
        // By the bytes of the ID: two IDs that are equal to Unicode are two folders.
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

    /// What comes after something of the same batch that waits for the disk waits with it: the journal's lines
    /// are read in their order.
    private func keepBehindOthers(_ group: Group) -> Bool {
        let isKept = kept.withLock { kept in
            guard !kept.isLeaving, kept.holds(FileName(group.folders.id)) else { return false }
            kept.groups.append(group)
            return true
        }
        if isKept, storage.mayWork { queue.async { [self] in retryKept() } }
        return isKept
    }

    /// What has come in of one batch.
    private struct Group: Sendable {
        let folders: BatchFolders
        var items: [Item] = []
        var records: [Record] = []

        var isEmpty: Bool { items.isEmpty && records.isEmpty }
    }

    // MARK: What the disk refuses

    /// Publishes a group, and keeps what of it cannot be; false if that is anything.
    private func attempt(_ group: Group) -> Bool {
        let rest = publish(group)
        if rest.isEmpty { return true }
        let isLeaving = kept.withLock { kept in
            if !kept.isLeaving { kept.groups.append(rest) }
            return kept.isLeaving
        }
        if isLeaving { leave(rest) }
        // It may have been given back its space since it refused.
        if storage.mayWork { queue.async { [self] in retryKept() } }
        return false
    }

    /// Publishes what is kept, up to the first group that is refused again.
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

    /// Does the four steps, and gives what of the group is to be retried.
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
            // Someone has removed the folder. There is nothing to write into and nothing to come back to.
            for item in group.items { item.completion(item.status.removed(with: group.folders)) }
            for record in group.records { record.completion(error) }
            return rest
        } catch {
            storage.writeRefused(error, batch: group.folders.id)
            return group
        }
        do {
            try journal(group, in: active)
        } catch  where error.step == FileError.sync {
            // Its lines may be in the file and not on the disk. None of the images is shown as done, and
            // others that take the lines back follow.
            storage.writeRefused(error, batch: group.folders.id)
            refuse(&group.items, error, in: active)
            rest.records = group.records
            // Those that the journal has from before, and whose rename was refused, still wait for that.
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
        for record in group.records { record.completion(nil) }
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
        // Where this fails too, a restart may find the lines and finish the renames: of outputs that are
        // whole, for they were synced before.
        try? ItemJournal.append(items.map(\.record), in: active, durably: false)
    }

    /// All of the group's outputs go on their way to the disk before the first is waited for.
    private func startWriting(_ items: [Item], in active: Directory) {
        let files = items.filter(\.awaitsSync).flatMap(\.files)
        guard durably, files.count > 1 else { return }
        // A file that cannot be opened is told of when it is synced.
        for file in files { try? active.open(file).startWriting() }
    }

    /// Waits until the outputs are on the disk. Those that cannot get there fail; those for which there was no
    /// space are made again, and leave the group. Throws where that cannot be told yet.
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
                // Unlike a journal's lines, an output can be written anew from its beginning.
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

    /// Renames the outputs into the outbox, and gives the items whose rename or whose failure is to be tried
    /// again.
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
                // Until the journal has it, a restart would try these renames again.
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

    /// The journal has decided and is on the disk, so that a restart finishes these renames should a power cut
    /// undo them; and a batch ends only with a sync of this folder that went well.
    private func syncOutbox(_ folders: BatchFolders) {
        do {
            try folders.outbox().sync()
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Someone has taken the folder with all that is in it.
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
