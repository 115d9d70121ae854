import DarkroomCore
import DarkroomSpool
import SystemPackage

/// The steps of a group, see the table at `Publisher`.
extension Publisher {
    /// Carries out the four steps.
    ///
    /// - Returns: the part of the group that must be retried.
    func publish(_ group: Group) -> Group {
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
                let failure = try folders.publish(
                    item.index, as: output, from: active, durably: durably)
                if let failure {
                    item.status.fail(failure)
                    corrected.append(item)
                    continue
                }
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
            try folders.outputs().sync()
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Another process has removed the folder with its content.
        } catch {
            storage.writeRefused(error, batch: folders.id)
        }
    }
}
