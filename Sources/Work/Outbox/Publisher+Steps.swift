import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import SystemPackage

/// The steps of the groups, see the table at `Publisher`.
extension Publisher {
    /// Carries out the steps for groups of different batches, which share the waits for the disk.
    ///
    /// - Returns: the parts of the groups that must be retried; for some groups, this is nothing.
    func publish(_ groups: [Group]) -> [Group] {
        var rests: [Group] = []
        var groups = groups
        syncOutputs(&groups, &rests)
        FaultPoint.publishOutputsSynced.pass()
        writeJournals(&groups, &rests)
        let byPath = groups.first?.folders.spool.ownsOutbox() ?? false
        for var group in groups {
            let folders = group.folders
            rests.append(Group(folders: folders, items: rename(&group.items, folders, byPath)))
            for item in group.items { item.completion(item.status) }
            for record in group.records { record.completion() }
        }
        FaultPoint.publishOutputsMoved.pass()
        return rests
    }

    /// Carries out a step for each group. Groups for which it fails leave the others, and `failed` returns what is
    /// retried of them.
    private func carryOut(
        _ groups: inout [Group], _ rests: inout [Group],
        _ step: (inout Group) throws(FileError) -> Void,
        failed: (inout Group, FileError) -> Group
    ) {
        var left: [Group] = []
        for var group in groups {
            do throws(FileError) {
                try step(&group)
                left.append(group)
            } catch {
                rests.append(failed(&group, error))
            }
        }
        groups = left
    }

    /// The part of a group that must be retried after this error, none of whose images is in the journal.
    private func rest(of group: Group, after error: FileError) -> Group {
        guard error.errno == .noSuchFileOrDirectory else {
            storage.writeRefused(error, batch: group.folders.id)
            return group
        }
        // Another process has removed the folder. There is no place to write to, and nothing to retry.
        for item in group.items { item.completion(item.status.removed(with: group.folders)) }
        for record in group.records { record.completion() }
        return Group(folders: group.folders)
    }

    /// Waits until all outputs are on the disk.
    private func syncOutputs(_ groups: inout [Group], _ rests: inout [Group]) {
        guard durably, let spool = groups.first?.folders.spool else { return }
        let count = groups.reduce(0) { sum, group in
            sum + group.items.filter(\.awaitsSync).reduce(0) { $0 + $1.files.count }
        }
        if count > 1, spool.syncTogether() { return }
        carryOut(&groups, &rests) { group throws(FileError) in
            try sync(&group.items, group.folders)
        } failed: { group, error in
            rest(of: group, after: error)
        }
    }

    /// Appends the records to the journals, and waits until they are on the disk.
    private func writeJournals(_ groups: inout [Group], _ rests: inout [Group]) {
        let isTogether = durably && groups.count > 1
        carryOut(&groups, &rests) { group throws(FileError) in
            try journal(group, durably: durably && !isTogether)
        } failed: { group, error in
            error.step == .sync ? refuse(&group, error) : rest(of: group, after: error)
        }
        guard isTogether, let spool = groups.first?.folders.spool, !spool.syncTogether()
        else { return }
        carryOut(&groups, &rests) { group throws(FileError) in
            if !records(of: group).isEmpty { try ItemJournal.sync(in: group.folders.active()) }
        } failed: { group, error in
            refuse(&group, error)
        }
    }

    private func records(of group: Group) -> [JournalRecord] {
        group.items.filter(\.isUndecided).map(\.record) + group.records.map(\.record)
    }

    private func journal(_ group: Group, durably: Bool) throws(FileError) {
        let records = records(of: group)
        guard !records.isEmpty else { return }
        try ItemJournal.append(records, of: group.folders, durably: durably)
    }

    /// The lines of a group may be in the journal but not on the disk. None of its images is shown as finished, and
    /// later lines replace these.
    ///
    /// - Returns: the part of the group that must be retried.
    private func refuse(_ group: inout Group, _ error: FileError) -> Group {
        let folders = group.folders
        storage.writeRefused(error, batch: folders.id)
        refuse(&group.items, error, folders)
        for item in group.items where item.isUndecided { item.completion(item.status) }
        // Images that were in the journal before, and whose rename was refused, still wait for the rename.
        return Group(
            folders: folders, items: group.items.filter { !$0.isUndecided },
            records: group.records)
    }

    private func refuse(_ items: inout [Item], _ error: FileError, _ folders: BatchFolders) {
        for index in items.indices where items[index].isUndecided {
            items[index].status.fail(error)
        }
        // If this fails too, a restart may find the lines and finish the renames. The outputs are complete, because
        // they were synced before.
        try? ItemJournal.append(items.map(\.record), of: folders, durably: false)
    }

    /// Waits until the outputs are on the disk. Outputs that cannot be written fail. Those for which there was no space
    /// are made again, and leave the group.
    ///
    /// - Throws: an error if this is not known yet.
    private func sync(_ items: inout [Item], _ folders: BatchFolders) throws(FileError) {
        let active = folders.spool.active
        var unwritten: [Int] = []
        defer { for index in unwritten.reversed() { items.remove(at: index) } }
        for index in items.indices {
            guard items[index].awaitsSync else { continue }
            do throws(FileError) {
                for name in items[index].files.map(folders.pathInActive) {
                    try active.open(name).sync(path: active.path(of: name))
                }
            } catch  where error.step == .sync && error.errno.storageFault == .full {
                // Unlike a journal's lines, an output can be written again from its beginning.
                storage.writeRefused(FileError(.write, error.path, error.errno))
                items[index].unrecorded(.again)
                unwritten.append(index)
            } catch  where error.step == .sync {
                storage.writeRefused(error, batch: items[index].folders.id)
                items[index].status.fail(error)
            } catch  where error.fault != nil {
                throw error
            } catch {
                items[index].status.fail(error)
            }
        }
    }

    /// Renames the outputs into the outbox. If a power failure undoes this, a restart does it again, because the journal
    /// is on the disk. The last status is written after a sync of this folder (`BatchFolders.syncStagedStatus`).
    ///
    /// - Parameter byPath: whether the folder there need not be opened.
    /// - Returns: the items whose rename or failure must be retried.
    private func rename(
        _ items: inout [Item], _ folders: BatchFolders, _ byPath: Bool
    ) -> [Item] {
        var rest: [Item] = []
        var done: [Item] = []
        var corrected: [Item] = []
        let hasOutputs = items.contains { $0.status.output != nil }
        var outputs: Directory?
        var refusal: FileError?
        do throws(FileError) {
            if hasOutputs, !byPath { outputs = try folders.restoredOutputs() }
        } catch {
            refusal = error
        }
        for var item in items {
            item.isUndecided = false
            guard let output = item.status.output else {
                done.append(item)
                continue
            }
            do throws(FileError) {
                if let refusal { throw refusal }
                let failure = try folders.publish(
                    item.index, as: output, to: outputs, byPath: byPath, durably: durably)
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
                try ItemJournal.append(corrected.map(\.record), of: folders, durably: durably)
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
}
