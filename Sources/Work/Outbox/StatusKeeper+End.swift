import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Dispatch
import Synchronization
import SystemPackage

/// The last status of a batch. Batches that end at the same time share the waits for the disk.
///
/// | step                                       | after a crash                         |
/// |--------------------------------------------|---------------------------------------|
/// | last status written into `active/ID`       | the batch continues and ends again    |
/// | it and the names of the outputs are synced | the same                              |
/// | a submitted folder is in the answer, if    | the restart finds its pictures there  |
/// | its pictures are kept (`Originals`)        |                                       |
/// | the status is renamed into `outbox/ID`     | either state                          |
/// | outbox folder synced                       | the restart removes `active/ID`       |
/// | `active/ID` removed                        | nothing to do                         |
extension StatusKeeper {
    /// A batch during these steps.
    private struct Ending {
        let batch: Batch
        let snapshot: StatusSnapshot
        var folders: BatchFolders { snapshot.folders }
    }

    /// So many batches end together at most. With `imagesAtOnce` images, a group is complete, because the statuses of
    /// its batches are in memory.
    private static let batchesAtOnce = 32
    private static let imagesAtOnce = 4096

    /// Writes the final status and removes the batch's folder. If the disk refuses this, it is retried until it
    /// succeeds, or until the next start: a batch never ends without its answer.
    func finish(_ key: BatchKey, _ source: any StatusSource) {
        let isFirst = state.withLock { state in
            state.ending.append(Batch(key: key, source: source))
            return state.ending.count == 1
        }
        if isFirst { queue.async { [self] in finishAll() } }
    }

    private func finishAll() {
        if durably { burst.wait() }
        var batches = state.withLock { state in
            defer { state.ending = [] }
            return state.ending[...]
        }
        let count = batches.count
        defer { burst.ended(batches: count) }
        while !batches.isEmpty {
            guard storage.mayWork else {
                return batches.forEach { batch in refusedEnds.keep { [self] in finish(batch) } }
            }
            for (batch, result) in finishSome(&batches) where result == .refused {
                refusedEnds.keep { [self] in finish(batch) }
            }
        }
    }

    private func attempt(_ batch: Batch) {
        refusedEnds.attempt { [self] in finish(batch) }
    }

    private func finish(_ batch: Batch) -> RefusedWrites.Result {
        var batches = [batch][...]
        return finishSome(&batches).first?.result ?? .succeeded
    }

    /// Finishes the first of these batches, and removes them from the list.
    ///
    /// - Returns: those of them that are not finished.
    private func finishSome(
        _ batches: inout ArraySlice<Batch>
    ) -> [(batch: Batch, result: RefusedWrites.Result)] {
        var failures: [(batch: Batch, result: RefusedWrites.Result)] = []
        var endings: [Ending] = []
        var images = 0
        var count = 0
        while let batch = batches.first, count < Self.batchesAtOnce, images < Self.imagesAtOnce {
            batches.removeFirst()
            count += 1
            guard mayFinish, let snapshot = batch.source.snapshot(of: batch.key) else {
                failures.append((batch, .undecided))
                continue
            }
            images += snapshot.status.images.count
            do throws(FileError) {
                try snapshot.folders.stageLastStatus(snapshot.status) { mayFinish }
                endings.append(Ending(batch: batch, snapshot: snapshot))
            } catch {
                failures.append((batch, failed(batch, snapshot.folders, error)))
            }
        }
        func carryOut(_ step: (Ending) throws(FileError) -> Void) {
            endings = endings.filter { ending in
                do throws(FileError) {
                    try step(ending)
                    return true
                } catch {
                    failures.append((ending.batch, failed(ending.batch, ending.folders, error)))
                    return false
                }
            }
        }
        if durably, !syncTogether(endings) {
            carryOut { ending throws(FileError) in try ending.folders.syncStagedStatus() }
        }
        let byPath = endings.first?.folders.spool.ownsOutbox() ?? false
        carryOut { ending throws(FileError) in
            FaultPoint.finalStatusStaged.pass()
            let reason = try ending.folders.keepOriginals(
                mayBeFolder: ending.snapshot.status.manifest.isFolder == true, durably: durably)
            if let reason { log.originalsRefused(reason, batch: ending.folders.id) }
            try ending.folders.placeLastStatus(byPath: byPath)
            progress.finish(ending.batch.key, ending.folders, ending.snapshot.status)
        }
        if durably, !syncTogether(endings) {
            carryOut { ending throws(FileError) in try ending.folders.outbox().sync() }
        }
        carryOut { ending throws(FileError) in
            FaultPoint.finalStatusSynced.pass()
            let manifest = ending.snapshot.status.manifest
            try Receipt.finish(
                ending.folders, format: manifest.format ?? .json,
                mayBeFolder: manifest.isFolder == true, durably: durably)
        }
        endings.forEach(ended)
        return failures
    }

    /// Waits until everything is on the disk, if there are several batches.
    private func syncTogether(_ endings: [Ending]) -> Bool {
        endings.count > 1 && endings[0].folders.spool.syncTogether()
    }

    /// The daemon stops. `leave` writes the statuses of the batches in work once more. Batches that are not finished by
    /// `time` are finished after the next start: many may be about to end at once, and a stop does not wait for all.
    func close(finishingUntil time: UInt64) {
        state.withLock { $0.end = time }
    }

    private var mayFinish: Bool { state.withLock(\.end).map { time.now <= $0 } ?? true }

    private func failed(
        _ batch: Batch, _ folders: BatchFolders, _ error: FileError
    ) -> RefusedWrites.Result {
        if error.errno == .canceled { return .undecided }
        if error.fault != nil || error.errno == .ioError {
            storage.writeRefused(error, batch: folders.id)
            return .refused
        }
        finishLater(batch, because: error, folders)
        return .undecided
    }

    private func ended(_ ending: Ending) {
        let (key, snapshot) = (ending.batch.key, ending.snapshot)
        state.withLock { state in
            state.entries[key] = nil
            state.refused[key] = nil
        }
        progress.forget(key)
        if snapshot.status.isRemoved { log.batchRemoved(snapshot.status) }
        log.finished(snapshot.status, microseconds: snapshot.microseconds)
        ending.batch.source.finished(key)
    }

    /// Reports the reason once, which concerns only this batch.
    private func finishLater(_ batch: Batch, because error: FileError, _ folders: BatchFolders) {
        let isNews = state.withLock { state in
            defer { state.entries[batch.key, default: Entry()].refusal = error }
            return state.entries[batch.key]?.refusal != error
        }
        if isNews { log.storageFailed(error, batch: folders.id) }
        storage.singleWriteRefused(error)
        time.call(in: StorageGuard.singleFileRetry, on: queue) { [self] in attempt(batch) }
    }
}
