import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import SystemPackage

/// The steps of results, see the table at `Committer`.
extension Committer {
    /// Carries out a step for the results of each batch. Those for which it fails leave the others, and `failed`
    /// returns what is retried of them.
    private func carryOut(
        _ pass: inout Pass, _ step: (inout Results) throws(FileError) -> Void,
        failed: (inout Results, FileError) -> Results
    ) {
        var left: [Results] = []
        for var results in pass.results {
            do throws(FileError) {
                try step(&results)
                if results.isEmpty { pass.isUndecided = true } else { left.append(results) }
            } catch {
                let rest = failed(&results, error)
                if rest.isEmpty {
                    pass.isUndecided = true
                } else {
                    pass.rest.append(.results(rest))
                }
            }
        }
        pass.results = left
    }

    /// The part of some results that must be retried after this error, none of whose images is in the journal.
    private func rest(of results: Results, after error: FileError) -> Results {
        guard error.errno == .noSuchFileOrDirectory else {
            storage.writeRefused(error, batch: results.folders.id)
            return results
        }
        // Another process has removed the folder. There is no place to write to, and nothing to retry.
        for item in results.items { item.completion(item.status.removed(with: results.folders)) }
        for record in results.records { record.completion() }
        return Results(folders: results.folders)
    }

    /// Waits until all outputs are on the disk.
    func syncOutputs(_ pass: inout Pass) {
        carryOut(&pass) { results throws(FileError) in
            try sync(&results.items, results.folders)
        } failed: { results, error in
            rest(of: results, after: error)
        }
    }

    /// Appends the records to the journals.
    ///
    /// - Parameter durably: waits until they are on the disk. Otherwise `syncJournals` does this, or a sync of all.
    func writeJournals(_ pass: inout Pass, durably: Bool) {
        carryOut(&pass) { results throws(FileError) in
            let records = records(of: results)
            guard !records.isEmpty else { return }
            try ItemJournal.append(records, of: results.folders, durably: durably)
        } failed: { results, error in
            error.step == .sync
                ? refuse(&results, error) : rest(of: results, after: error)
        }
    }

    func syncJournals(_ pass: inout Pass) {
        carryOut(&pass) { results throws(FileError) in
            if !records(of: results).isEmpty { try ItemJournal.sync(in: results.folders.active()) }
        } failed: { results, error in
            refuse(&results, error)
        }
    }

    private func records(of results: Results) -> [JournalRecord] {
        results.items.filter(\.isUndecided).map(\.record) + results.records.map(\.record)
    }

    /// Renames the outputs of journaled images into the outbox, and reports the images.
    func publishOutputs(_ pass: inout Pass, byPath: Bool) {
        if pass.results.isEmpty { return }
        for var results in pass.results {
            let folders = results.folders
            let refused = rename(&results.items, folders, byPath)
            if !refused.isEmpty {
                pass.rest.append(.results(Results(folders: folders, items: refused)))
            }
            for item in results.items { item.completion(item.status) }
            for record in results.records { record.completion() }
        }
        FaultPoint.publishOutputsMoved.pass()
    }

    /// The lines may be in the journal but not on the disk. None of the images is shown as finished, and later lines
    /// replace these.
    ///
    /// - Returns: the part of the results that must be retried.
    private func refuse(_ results: inout Results, _ error: FileError) -> Results {
        let folders = results.folders
        storage.writeRefused(error, batch: folders.id)
        refuse(&results.items, error, folders)
        for item in results.items where item.isUndecided { item.completion(item.status) }
        // Images that were in the journal before, and whose rename was refused, still wait for the rename.
        return Results(
            folders: folders, items: results.items.filter { !$0.isUndecided },
            records: results.records)
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
    /// are made again, and leave the results.
    ///
    /// - Throws: an error if this is not known yet.
    private func sync(_ items: inout [Item], _ folders: BatchFolders) throws(FileError) {
        var unwritten: [Int] = []
        defer { for index in unwritten.reversed() { items.remove(at: index) } }
        for index in items.indices {
            guard items[index].awaitsSync else { continue }
            do throws(FileError) {
                try folders.sync(items[index].files)
            } catch  where error.step == .sync && error.errno.storageFailure == .full {
                // Unlike a journal's lines, an output can be written again from its beginning.
                storage.writeRefused(FileError(.write, error.path, error.errno))
                items[index].unrecorded(.again)
                unwritten.append(index)
            } catch  where error.step == .sync {
                storage.writeRefused(error, batch: items[index].folders.id)
                items[index].status.fail(error)
            } catch  where error.storageFailure != nil {
                throw error
            } catch {
                items[index].status.fail(error)
            }
        }
    }

    /// Renames the outputs into the outbox. If a power failure undoes this, a restart does it again, because the journal
    /// is on the disk. The last status is written after a sync of this folder (`StatusFile.sync`).
    ///
    /// - Parameter byPath: whether the folder there need not be opened.
    /// - Returns: the items whose rename or failure must be retried.
    private func rename(_ items: inout [Item], _ folders: BatchFolders, _ byPath: Bool) -> [Item] {
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
            } catch  where error.isOfTheStorage {
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
