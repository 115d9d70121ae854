import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import SystemPackage

/// The steps of ends, see the table at `Committer`.
extension Committer {
    /// Carries out a step for each end. Those for which it fails leave the others.
    private func carryOut(_ pass: inout Pass, _ step: (Ending) throws(FileError) -> Void) {
        var left: [Ending] = []
        for ending in pass.ends {
            do throws(FileError) {
                try step(ending)
                left.append(ending)
            } catch {
                failed(ending, error, &pass)
            }
        }
        pass.ends = left
    }

    /// Writes the last statuses beside the present ones.
    func stageEnds(_ pass: inout Pass) {
        carryOut(&pass) { ending throws(FileError) in
            try ending.status.stageLast(ending.snapshot.status) { mayFinish }
        }
    }

    /// Waits until the last statuses, and the names of the outputs, are on the disk.
    func syncStagedStatuses(_ pass: inout Pass) {
        carryOut(&pass) { ending throws(FileError) in
            try ending.status.sync(ending.snapshot.status)
        }
    }

    /// Renames the last statuses into the outbox.
    func placeEnds(_ pass: inout Pass, byPath: Bool) {
        carryOut(&pass) { ending throws(FileError) in
            FaultPoint.finalStatusStaged.pass()
            let reason = try ending.folders.keepOriginals(
                mayBeFolder: ending.snapshot.status.manifest.isFolder == true, durably: durably)
            if let reason { log.originalsRefused(reason, batch: ending.folders.id) }
            try ending.status.place(byPath: byPath)
            progress.finish(ending.end.key, ending.folders, ending.snapshot.status)
        }
    }

    func syncEnds(_ pass: inout Pass) {
        carryOut(&pass) { ending throws(FileError) in try ending.folders.outbox().sync() }
    }

    /// Removes the folders in `active`, and reports the batches.
    func clearEnds(_ pass: inout Pass) {
        carryOut(&pass) { ending throws(FileError) in
            FaultPoint.finalStatusSynced.pass()
            let manifest = ending.snapshot.status.manifest
            try Receipt.finish(
                ending.folders, format: manifest.format ?? .json,
                mayBeFolder: manifest.isFolder == true, durably: durably)
        }
        pass.ends.forEach(ended)
    }

    private func failed(_ ending: Ending, _ error: FileError, _ pass: inout Pass) {
        if error.errno == .canceled {
            pass.isUndecided = true
        } else if error.isOfTheStorage {
            storage.writeRefused(error, batch: ending.folders.id)
            pass.rest.append(.end(ending.end))
        } else {
            pass.isUndecided = true
            finishLater(ending.end, because: error)
        }
    }

    private func ended(_ ending: Ending) {
        let snapshot = ending.snapshot
        progress.forget(ending.end.key)
        if snapshot.status.isRemoved { log.batchRemoved(snapshot.status) }
        log.finished(snapshot.status, microseconds: snapshot.microseconds)
        ending.end.source.finished(ending.end.key)
    }

    /// Reports the reason once, which concerns only this batch.
    private func finishLater(_ end: End, because error: FileError) {
        if end.reported != error { log.storageFailed(error, batch: end.folders.id) }
        storage.singleWriteRefused(error)
        var end = end
        end.reported = error
        time.call(in: StorageGuard.singleFileRetry, on: queue) { [self, end] in commit(end) }
    }
}
