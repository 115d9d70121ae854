import Dispatch
import Synchronization

/// Makes the ends of images durable and visible, in groups: outputs to the disk, then the journal, then the
/// renames into the outbox.
///
/// | step                                   | a crash after it                                          |
/// |----------------------------------------|-----------------------------------------------------------|
/// | outputs synced                         | the images are done again                                 |
/// | journal appended and synced            | the restart finishes the renames                          |
/// | `active/ID/output-N` → `outbox/ID/NAME`| the restart finds nothing left to rename                  |
/// | outbox folders synced                  | nothing to do                                             |
///
/// Whatever comes in while a group is on its way to the disk makes the next group, so that many small
/// images share the waiting and a single one does not wait for company.
package final class Publisher: Sendable {
    /// One image that has ended.
    package struct Item: Sendable {
        package let folders: BatchFolders
        package let index: Int
        package var status: ImageStatus
        /// Called with the status as it was journaled: that of a failed image if publishing failed.
        package let completion: @Sendable (ImageStatus) -> Void
        /// Whether the journal does not have it yet.
        fileprivate var isUndecided = true

        package init(
            folders: BatchFolders, index: Int, status: ImageStatus,
            completion: @escaping @Sendable (ImageStatus) -> Void
        ) {
            self.folders = folders
            self.index = index
            self.status = status
            self.completion = completion
        }

        fileprivate var record: JournalRecord { .ended(index: index, status) }
    }

    private enum Entry: Sendable {
        case item(Item)
        case cancellation(BatchFolders)

        var folders: BatchFolders {
            switch self {
            case .item(let item): item.folders
            case .cancellation(let folders): folders
            }
        }
    }

    private let queue = DispatchQueue(label: "darkroom.publisher", qos: .userInitiated)
    private let pending = Mutex<[Entry]>([])
    let heartbeat = Heartbeat()
    /// What has been handed in and is not dealt with yet.
    var pendingCount: Int { pending.withLock { $0.count } }
    private let durably: Bool
    private let log: EventLog

    package init(durably: Bool, log: EventLog) {
        self.durably = durably
        self.log = log
    }

    package func publish(_ item: Item) { add(.item(item)) }

    package func recordCancellation(_ folders: BatchFolders) { add(.cancellation(folders)) }

    /// Does something when everything handed in before has been dealt with.
    package func afterwards(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    /// Waits until everything handed in before has been dealt with.
    package func drain() { queue.sync {} }

    private func add(_ entry: Entry) {
        let isFirst = pending.withLock { pending in
            pending.append(entry)
            return pending.count == 1
        }
        if isFirst { queue.async { [self] in publishGroup() } }
    }

    /// Deals with all that has come in so far.
    private func publishGroup() {
        heartbeat.began()
        defer { heartbeat.ended() }
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
            case .cancellation: groups[index].isCancelled = true
            }
        }
        for group in groups { publish(group) }
    }

    /// What has come in of one batch.
    private struct Group {
        let folders: BatchFolders
        var items: [Item] = []
        var isCancelled = false
    }

    private func publish(_ group: Group) {
        var items = group.items
        do throws(FileError) {
            let active = try group.folders.active()
            startWriting(items, in: active)
            for index in items.indices { sync(&items[index], in: active) }
            var records = items.map(\.record)
            if group.isCancelled { records.append(.cancelled) }
            do throws(FileError) {
                try ItemJournal.append(records, in: active, durably: durably)
            } catch {
                refuse(&items, error, in: active)
                throw error
            }
            rename(&items, group.folders, from: active)
            if durably, items.contains(where: { $0.status.state == .filtered }) {
                try group.folders.outbox().sync()
            }
        } catch {
            log.storageFailed(error, batch: group.folders.id)
            // Before the journal there was no decision; after it, it stands, and so does what was renamed.
            for index in items.indices where items[index].isUndecided {
                items[index].status.fail(error)
            }
        }
        for item in items { item.completion(item.status) }
    }

    /// Without a journal nothing may be shown as done. If its lines got into the file though not to the
    /// disk, others that take them back follow.
    private func refuse(_ items: inout [Item], _ error: FileError, in active: Directory) {
        for index in items.indices { items[index].status.fail(error) }
        try? ItemJournal.append(items.map(\.record), in: active, durably: false)
    }

    /// All of the group's outputs go on their way to the disk before the first is waited for.
    private func startWriting(_ items: [Item], in active: Directory) {
        guard durably, items.count > 1 else { return }
        for item in items where item.status.state == .filtered {
            // A file that cannot be opened is told of when it is synced.
            try? active.open(BatchFile.output(item.index)).startWriting()
        }
    }

    private func sync(_ item: inout Item, in active: Directory) {
        heartbeat.step()
        guard durably, item.status.state == .filtered else { return }
        let name = BatchFile.output(item.index)
        do {
            try active.open(name).sync(path: active.path(of: name))
        } catch {
            item.status.fail(error)
        }
    }

    private func rename(_ items: inout [Item], _ folders: BatchFolders, from active: Directory) {
        var corrections: [JournalRecord] = []
        for index in items.indices {
            items[index].isUndecided = false
            guard let output = items[index].status.output else { continue }
            do {
                try active.rename(
                    BatchFile.output(items[index].index), to: try folders.restoredOutbox(),
                    as: FileName(output.file))
            } catch {
                items[index].status.fail(error)
                corrections.append(items[index].record)
            }
        }
        guard !corrections.isEmpty else { return }
        do {
            try ItemJournal.append(corrections, in: active, durably: durably)
        } catch {
            // A restart would try these renames again, which is no worse.
            log.storageFailed(error, batch: folders.id)
        }
    }
}

extension ImageStatus {
    /// Makes a filtered image one whose output could not be published.
    mutating func fail(_ error: FileError) {
        guard state == .filtered else { return }
        state = .failed
        output = nil
        self.error = Failure(error)
    }
}
