import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Dispatch
import Synchronization
import SystemPackage

/// Provides the statuses for the status keeper, and the sums for the progress keeper.
protocol StatusSource: AnyObject, Sendable {
    /// The batch's present status; nil after it has finished.
    func snapshot(of key: BatchKey) -> StatusSnapshot?
    /// The batch's present sums; nil after it has finished, and while only its folder has them.
    func progress(of key: BatchKey) -> ProgressSnapshot?
    /// The batch's final status is in the outbox, and its folder in `active` has been removed.
    func finished(_ key: BatchKey)
    /// The status of an idle held batch is in the outbox.
    func parked(_ key: BatchKey)
}

struct StatusSnapshot: Sendable {
    let folders: BatchFolders
    var status: Status
    /// In nanoseconds.
    let startedAt: UInt64?
    /// Whether parts of it were finished before that.
    var isContinued = false

    /// The time since its first image began, or since it was resumed, in microseconds. After a restart only the wall
    /// clock gives it.
    var microseconds: UInt64 {
        let again = status.commands?.reopened
        let start = status.times.started.map { max($0, again ?? "") }
        if isContinued, let all = Clock.microseconds(from: start, to: status.times.finished) {
            return all
        }
        return startedAt.map { (Clock.nanoseconds - $0) / 1000 } ?? 0
    }
}

/// Writes the status files of batches in work at intervals. The `Committer` writes the last ones.
///
/// A file is rewritten at most once in each interval. Writing also takes at most a twentieth of the time: the file of
/// 100,000 images takes a second to write, that of ten images a fraction of a millisecond. A batch that ends waits for
/// at most one such file, and a stop interrupts the writing. The `ProgressKeeper` writes the sums more often.
final class StatusKeeper: Sendable {
    private struct State {
        /// Batches in work whose status the disk has refused. It is written again after the next change of the batch,
        /// too.
        var refused: [BatchKey: any StatusSource] = [:]
        /// Held batches whose status the disk has not accepted yet.
        var parking: [(key: BatchKey, source: any StatusSource)] = []
    }

    let progress: ProgressKeeper
    private let pacer: Pacer<BatchKey>
    private let state = Mutex(State())
    private let storage: StorageGuard
    private let log: EventLog
    private let time: TimeSource

    /// - Parameter interval: in seconds.
    init(interval: Double, storage: StorageGuard, log: EventLog, time: TimeSource = .system) {
        self.storage = storage
        self.log = log
        self.time = time
        progress = ProgressKeeper(time: time)
        // Batches that have ended in the meantime get their last statuses after a tenth of a second.
        pacer = Pacer(
            interval: Self.nanoseconds(interval),
            limits: .init(share: .each(20), delay: 1_000_000, turn: 100_000_000),
            queue: DispatchQueue(label: "darkroom.status", qos: .userInitiated), time: time)
    }

    var queue: DispatchQueue { pacer.queue }

    /// - Parameter seconds: the time between two updates of one file, from now on.
    func setInterval(_ seconds: Double) { pacer.setInterval(Self.nanoseconds(seconds)) }

    private static func nanoseconds(_ seconds: Double) -> UInt64 { UInt64(clamping: seconds * 1e9) }

    /// The batch's status differs from its file.
    func changed(_ key: BatchKey, _ source: any StatusSource) {
        let now = time.now
        progress.changed(key, source, now: now)
        // The receipt exists, so the first update can wait too. A short batch has ended by then.
        pacer.changed(key, now: now, write: write(source))
    }

    /// Writes the statuses of these batches once more, and those of other batches that have changed, even if they were
    /// written recently, and waits for this. If the time is not sufficient, files stay as they are: a status with
    /// 100,000 images takes a second. Their progress comes first, because it takes little time. Afterwards no progress
    /// is written any more.
    ///
    /// - Parameter end: after this time, in nanoseconds, no file is begun, and the present one is interrupted.
    func leave(_ keys: [BatchKey], _ source: any StatusSource, before end: UInt64) {
        queue.sync {
            let dirty = pacer.waiting.union(state.withLock { $0.refused.keys })
            let keys = keys + dirty.subtracting(keys).sorted()
            progress.write(keys, source, before: end)
            progress.close()
            for key in keys where time.now < end {
                pacer.write(key) { [self] key, _ in write(key, source) { time.now < end } }
            }
        }
    }

    /// A stop does not wait for these files. It has each written when nothing changes any more.
    private func write(_ source: any StatusSource) -> Pacer<BatchKey>.Write {
        { [self] key, _ in write(key, source) { !isClosed } }
    }

    /// - Parameter mayGoOn: called before the writing and during it. An interrupted file must still be written.
    private func write(
        _ key: BatchKey, _ source: any StatusSource, while mayGoOn: () -> Bool
    ) -> PacedWrite {
        guard mayGoOn() else { return .interrupted }
        state.withLock { $0.refused[key] = nil }
        // It may have finished before this change was reported. The committer writes the last status.
        guard let snapshot = source.snapshot(of: key), !snapshot.status.state.isFinal else {
            return .over
        }
        do throws(FileError) {
            // The content can be reconstructed after a power failure, so the write does not wait for the disk.
            try snapshot.folders.writeStatus(snapshot.status, durably: false, mayGoOn: mayGoOn)
            log.progressed(snapshot.status)
            return .done
        } catch  where error.errno == .canceled {
            return .interrupted
        } catch {
            return refused(error, key, source, snapshot.folders)
        }
    }

    /// Handles the failure to write the status of a batch in work.
    private func refused(
        _ error: FileError, _ key: BatchKey, _ source: any StatusSource, _ folders: BatchFolders
    ) -> PacedWrite {
        if error.errno == .noSuchFileOrDirectory {
            // The batch's folder was removed. Its images fail because of this, and its last status reports it.
            return .done
        }
        guard error.storageFailure != nil else {
            log.storageFailed(error, batch: folders.id)
            storage.singleWriteRefused(error)
            return .refused
        }
        // While the storage waits, this error is expected. The status that says why is tried nevertheless.
        if storage.mayWork { storage.writeRefused(error, batch: folders.id) }
        state.withLock { $0.refused[key] = source }
        // It may have changed since the check.
        if storage.mayWork { tryKept() }
        return .done
    }

    private var isClosed: Bool { pacer.isClosed }

    /// The daemon stops. From now on, only `leave` writes statuses.
    func close() { pacer.close() }

    /// Calls a function that writes the last status of a batch, when no other status of it is being written. Its file is
    /// not written here any more.
    func handOver(_ key: BatchKey, to body: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            pacer.forget(key)
            state.withLock { $0.refused[key] = nil }
            body()
        }
    }

    /// Tries what is kept again.
    private func tryKept() {
        let kept = state.withLock { exchange(&$0, with: State()) }
        for (key, source) in kept.refused { changed(key, source) }
        for (key, source) in kept.parking { park(key, source) }
    }

    // MARK: Held batches

    /// Writes the status of an idle held batch, and releases its memory. It does not do this while the spool accepts no
    /// writes, because the file would say so during the whole hold.
    func park(_ key: BatchKey, _ source: any StatusSource) {
        queue.async { [self] in
            // The stopping daemon writes it with the others.
            if isClosed { return }
            if storage.mayWork {
                pacer.write(key, write(source))
                guard !storage.mayWork || isClosed else {
                    progress.write([key], source)
                    progress.forget(key)
                    pacer.forget(key)
                    return source.parked(key)
                }
            }
            state.withLock { $0.parking.append((key, source)) }
            // It may have changed since the check.
            if storage.mayWork { tryKept() }
        }
    }
}

extension StatusKeeper: StorageClient {
    /// What is kept here is too small to show anything.
    func tryStorage() -> Bool { false }

    func storageChanged() {
        if storage.mayWork { tryKept() }
    }
}
