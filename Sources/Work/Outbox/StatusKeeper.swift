import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Dispatch
import Synchronization
import SystemPackage

/// Provides the statuses for the status keeper.
protocol StatusSource: ProgressSource {
    /// The batch's present status; nil after it has finished.
    func snapshot(of key: BatchKey) -> StatusSnapshot?
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
    private struct Entry {
        var isDirty = false
        /// The file is not written again before this time, in nanoseconds.
        var notBefore: UInt64 = 0
    }

    private struct State {
        /// The minimum time between two updates of a file, in nanoseconds.
        var interval: UInt64 = 0
        var entries: [BatchKey: Entry] = [:]
        /// The time of the next tick, in nanoseconds; nil if no file waits to be written.
        var nextTick: UInt64?
        /// The number of the present tick. Earlier ones do nothing.
        var tick = 0
        /// Whether the daemon stops, and only `leave` writes files.
        var isClosed = false
        /// Batches in work whose status the disk has refused. It is written again after the next change of the batch,
        /// too.
        var refused: [BatchKey: any StatusSource] = [:]
        /// Held batches whose status the disk has not accepted yet.
        var parking: [Batch] = []

        /// Requests a tick at `time`, unless an earlier one is planned.
        mutating func requestTick(at time: UInt64) -> Tick? {
            if let nextTick, nextTick <= time { return nil }
            nextTick = time
            tick += 1
            return Tick(number: tick, time: time)
        }
    }

    private struct Tick: Sendable {
        let number: Int
        let time: UInt64
    }

    private struct Batch: Sendable {
        let key: BatchKey
        let source: any StatusSource
    }

    let queue = DispatchQueue(label: "darkroom.status", qos: .userInitiated)
    let progress: ProgressKeeper
    private let state = Mutex(State())
    private let storage: StorageGuard
    private let log: EventLog
    private let time: TimeSource

    /// - Parameter interval: in seconds.
    init(
        interval: Double, storage: StorageGuard, log: EventLog, time: TimeSource = .system
    ) {
        self.storage = storage
        self.log = log
        self.time = time
        progress = ProgressKeeper(time: time)
        setInterval(interval)
    }

    /// - Parameter seconds: the time between two updates of one file, from now on.
    func setInterval(_ seconds: Double) {
        state.withLock { $0.interval = UInt64(clamping: seconds * 1e9) }
    }

    /// The batch's status differs from its file.
    func changed(_ key: BatchKey, _ source: any StatusSource) {
        let now = time.now
        progress.changed(key, source, now: now)
        let tick = state.withLock { state -> Tick? in
            // The receipt exists, so the first update can wait too. A short batch has ended by then.
            let new = Entry(notBefore: now + state.interval)
            state.entries[key, default: new].isDirty = true
            return state.entries[key].flatMap { state.requestTick(at: $0.notBefore) }
        }
        if let tick { schedule(tick, source) }
    }

    /// Writes the statuses of these batches once more, and those of other batches that have changed, even if they were
    /// written recently, and waits for this. If the time is not sufficient, files stay as they are: a status with
    /// 100,000 images takes a second. Their progress comes first, because it takes little time. Afterwards no progress
    /// is written any more.
    ///
    /// - Parameter end: after this time, in nanoseconds, no file is begun, and the present one is interrupted.
    func leave(_ keys: [BatchKey], _ source: any StatusSource, before end: UInt64) {
        queue.sync {
            let dirty = state.withLock {
                Set($0.entries.filter(\.value.isDirty).keys).union($0.refused.keys)
            }
            let keys = keys + dirty.subtracting(keys).sorted()
            progress.write(keys, source, before: end)
            progress.close()
            for key in keys where time.now < end {
                write(key, source) { time.now < end }
            }
        }
    }

    private func schedule(_ tick: Tick, _ source: any StatusSource) {
        // At least a millisecond later, so that files that are due at nearly the same time share a tick.
        time.call(at: max(tick.time, time.now + 1_000_000), on: queue) { [self] in
            writeDue(tick, source)
        }
    }

    /// After this time, in nanoseconds, no further status is begun before batches that have ended in the meantime get
    /// theirs.
    private static let turn: UInt64 = 100_000_000

    /// Writes the files that are due, and plans the next tick if some are not due yet or there was no time for them.
    private func writeDue(_ tick: Tick, _ source: any StatusSource) {
        let now = time.now
        let due = state.withLock { state -> [BatchKey] in
            guard state.tick == tick.number else { return [] }
            state.nextTick = nil
            return state.entries.filter { $0.value.isDirty && $0.value.notBefore <= now }
                .sorted { $0.value.notBefore < $1.value.notBefore }.map(\.key)
        }
        // A stop does not wait for these files. It has each written when nothing changes any more.
        for key in due {
            write(key, source) { !isClosed }
            if isClosed || time.now - now > Self.turn { break }
        }
        let next = state.withLock { state -> Tick? in
            guard state.nextTick == nil, !state.isClosed else { return nil }
            let time = state.entries.values.filter(\.isDirty).map(\.notBefore).min()
            return time.flatMap { state.requestTick(at: $0) }
        }
        if let next { schedule(next, source) }
    }

    /// - Parameter mayGoOn: called before the writing and during it. An interrupted file must still be written.
    private func write(_ key: BatchKey, _ source: any StatusSource, while mayGoOn: () -> Bool) {
        guard mayGoOn() else { return }
        let begin = time.now
        state.withLock { state in
            state.entries[key]?.isDirty = false
            state.refused[key] = nil
        }
        guard let snapshot = source.snapshot(of: key) else {
            // It finished before this change was reported.
            return state.withLock { $0.entries[key] = nil }
        }
        // The committer writes it.
        guard !snapshot.status.state.isFinal else {
            return state.withLock { $0.entries[key] = nil }
        }
        var pause: UInt64 = 0
        do throws(FileError) {
            // The content can be reconstructed after a power failure, so the write does not wait for the disk.
            try snapshot.folders.writeStatus(
                snapshot.status, durably: false, mayGoOn: mayGoOn)
            log.progressed(snapshot.status)
        } catch  where error.errno == .canceled {
            return state.withLock { $0.entries[key]?.isDirty = true }
        } catch {
            pause = refused(error, key, source, snapshot.folders)
        }
        let end = time.now
        state.withLock { state in
            state.entries[key]?.notBefore = end + max(state.interval, (end - begin) * 20, pause)
        }
    }

    /// Handles the failure to write the status of a batch in work.
    ///
    /// - Returns: the time before which it is not written again, in nanoseconds.
    private func refused(
        _ error: FileError, _ key: BatchKey, _ source: any StatusSource, _ folders: BatchFolders
    ) -> UInt64 {
        if error.errno == .noSuchFileOrDirectory {
            // The batch's folder was removed. Its images fail because of this, and its last status reports it.
            return 0
        }
        guard error.fault != nil else {
            log.storageFailed(error, batch: folders.id)
            storage.singleWriteRefused(error)
            changed(key, source)
            return UInt64(StorageGuard.singleFileRetry * 1e9)
        }
        // While the storage waits, this error is expected. The status that says why is tried nevertheless.
        if storage.mayWork { storage.writeRefused(error, batch: folders.id) }
        state.withLock { $0.refused[key] = source }
        // It may have changed since the check.
        if storage.mayWork { writeKept() }
        return 0
    }

    private var isClosed: Bool { state.withLock(\.isClosed) }

    /// The daemon stops. From now on, only `leave` writes statuses.
    func close() {
        state.withLock { $0.isClosed = true }
    }

    /// Calls a function that writes the last status of a batch, when no other status of it is being written. Its file is
    /// not written here any more.
    func handOver(_ key: BatchKey, to body: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            state.withLock { state in
                state.entries[key] = nil
                state.refused[key] = nil
            }
            body()
        }
    }

    private func writeKept() {
        let kept = state.withLock { state in
            defer { state.refused = [:] }
            return state.refused
        }
        for (key, source) in kept { changed(key, source) }
    }

    // MARK: Held batches

    /// Writes the status of an idle held batch, and releases its memory. It does not do this while the spool accepts no
    /// writes, because the file would say so during the whole hold.
    func park(_ key: BatchKey, _ source: any StatusSource) {
        queue.async { [self] in
            // The stopping daemon writes it with the others.
            if isClosed { return }
            if storage.mayWork {
                write(key, source) { !isClosed }
                guard !storage.mayWork || isClosed else {
                    progress.write([key], source)
                    progress.forget(key)
                    state.withLock { $0.entries[key] = nil }
                    return source.parked(key)
                }
            }
            state.withLock { $0.parking.append(Batch(key: key, source: source)) }
            // It may have changed since the check.
            if storage.mayWork { parkKept() }
        }
    }

    private func parkKept() {
        let kept = state.withLock { state in
            defer { state.parking = [] }
            return state.parking
        }
        for batch in kept { park(batch.key, batch.source) }
    }
}

extension StatusKeeper: StorageClient {
    /// What is kept here is too small to show anything.
    func tryStorage() -> Bool { false }

    func storageChanged() {
        guard storage.mayWork else { return }
        writeKept()
        parkKept()
    }
}
