import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import DequeModule
import Dispatch
import Synchronization
import SystemPackage

/// Provides the statuses for the status keeper.
protocol StatusSource: AnyObject, Sendable {
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
        let again = status.commands?.last { $0.command.form.effect == .reopens }?.time
        let start = status.times.started.map { max($0, again ?? "") }
        if isContinued, let all = Clock.microseconds(from: start, to: status.times.finished) {
            return all
        }
        return startedAt.map { (Clock.nanoseconds - $0) / 1000 } ?? 0
    }
}

/// Writes the status files: at intervals while a batch is in work, and a last time when it ends.
///
/// A file is rewritten at most once in each interval. Writing also takes at most a twentieth of the time: the file of
/// 100,000 images takes a second to write, that of ten images a fraction of a millisecond. A batch that ends waits for
/// at most one such file, and a stop interrupts the writing.
package final class StatusKeeper: Sendable {
    private struct Entry {
        var isDirty = false
        /// The file is not written again before this time, in nanoseconds.
        var notBefore: UInt64 = 0
        /// The reported reason why the last status could not be written.
        var refusal: FileError?
    }

    private struct State {
        /// The minimum time between two updates of a file, in nanoseconds.
        var interval: UInt64 = 0
        var entries: [BatchKey: Entry] = [:]
        /// The time of the next tick, in nanoseconds; nil if no file waits to be written.
        var nextTick: UInt64?
        /// The number of the present tick. Earlier ones do nothing.
        var tick = 0
        /// Batches that have ended and whose last status the disk has refused.
        var ending: Deque<Ending> = []
        /// While the daemon stops: the time after which no batch is finished any more, in nanoseconds; else nil.
        var end: UInt64?
        /// Held batches whose status the disk has not accepted yet.
        var parking: [Ending] = []

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

    private struct Ending: Sendable {
        let key: BatchKey
        let source: any StatusSource
    }

    let queue = DispatchQueue(label: "darkroom.status", qos: .userInitiated)
    private let state = Mutex(State())
    private let durably: Bool
    private let storage: StorageGuard
    private let log: EventLog
    private let time: TimeSource

    /// - Parameter interval: in seconds.
    package init(
        interval: Double, durably: Bool, storage: StorageGuard, log: EventLog,
        time: TimeSource = .system
    ) {
        self.durably = durably
        self.storage = storage
        self.log = log
        self.time = time
        setInterval(interval)
    }

    /// - Parameter seconds: the time between two updates of one file, from now on.
    func setInterval(_ seconds: Double) {
        state.withLock { $0.interval = UInt64(clamping: seconds * 1e9) }
    }

    /// The batch's status differs from its file.
    func changed(_ key: BatchKey, _ source: any StatusSource) {
        let tick = state.withLock { state -> Tick? in
            // The receipt exists, so the first update can wait too. A short batch has ended by then.
            let new = Entry(notBefore: time.now + state.interval)
            state.entries[key, default: new].isDirty = true
            return state.entries[key].flatMap { state.requestTick(at: $0.notBefore) }
        }
        if let tick { schedule(tick, source) }
    }

    /// Writes the statuses of these batches once more, and those of other batches that have changed, even if they were
    /// written recently, and waits for this. If the time is not sufficient, files stay as they are: a status with
    /// 100,000 images takes a second.
    ///
    /// - Parameter end: after this time, in nanoseconds, no file is begun, and the present one is interrupted.
    func leave(_ keys: [BatchKey], _ source: any StatusSource, before end: UInt64) {
        queue.sync {
            let dirty = state.withLock { Set($0.entries.filter(\.value.isDirty).keys) }
            for key in keys + dirty.subtracting(keys).sorted() where time.now < end {
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
            guard state.nextTick == nil, state.end == nil else { return nil }
            let time = state.entries.values.filter(\.isDirty).map(\.notBefore).min()
            return time.flatMap { state.requestTick(at: $0) }
        }
        if let next { schedule(next, source) }
    }

    /// - Parameter mayGoOn: called before the writing and during it. An interrupted file must still be written.
    private func write(_ key: BatchKey, _ source: any StatusSource, while mayGoOn: () -> Bool) {
        guard mayGoOn() else { return }
        let begin = time.now
        state.withLock { $0.entries[key]?.isDirty = false }
        guard let snapshot = source.snapshot(of: key) else {
            // It finished before this change was reported.
            return state.withLock { $0.entries[key] = nil }
        }
        guard !snapshot.status.state.isFinal else { return }
        var pause: UInt64 = 0
        do throws(FileError) {
            // The content can be reconstructed after a power failure, so the write does not wait for the disk.
            try snapshot.folders.writeStatus(
                snapshot.status, durably: false, mayGoOn: mayGoOn)
            log.progressed(snapshot.status)
        } catch  where error.errno == .canceled {
            return state.withLock { $0.entries[key]?.isDirty = true }
        } catch {
            pause = refused(error, snapshot.folders)
            if pause > 0 { changed(key, source) }
        }
        let end = time.now
        state.withLock { state in
            state.entries[key]?.notBefore = end + max(state.interval, (end - begin) * 20, pause)
        }
    }

    /// Handles the failure to write the status of a batch in work.
    ///
    /// - Returns: the wait before a retry, in nanoseconds; 0 for no retry.
    private func refused(_ error: FileError, _ folders: BatchFolders) -> UInt64 {
        if error.errno == .noSuchFileOrDirectory {
            // The batch's folder was removed. Its images fail because of this, and its last status reports it.
            return 0
        }
        if error.fault != nil {
            // While the storage waits, this error is expected. The status that says why is tried nevertheless.
            if storage.mayWork { storage.writeRefused(error, batch: folders.id) }
        } else {
            log.storageFailed(error, batch: folders.id)
        }
        return 5_000_000_000
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
                    state.withLock { $0.entries[key] = nil }
                    return source.parked(key)
                }
            }
            state.withLock { $0.parking.append(Ending(key: key, source: source)) }
            // It may have changed since the check.
            if storage.mayWork { parkKept() }
        }
    }

    private func parkKept() {
        let kept = state.withLock { state in
            defer { state.parking = [] }
            return state.parking
        }
        for ending in kept { park(ending.key, ending.source) }
    }

    // MARK: The end

    /// Writes the final status and removes the batch's folder. If the disk refuses this, it is retried until it
    /// succeeds, or until the next start: a batch never ends without its answer.
    func finish(_ key: BatchKey, _ source: any StatusSource) {
        queue.async { [self] in
            let ending = Ending(key: key, source: source)
            if storage.mayWork { _ = finish(ending) } else { keep(ending) }
        }
    }

    private func keep(_ ending: Ending) {
        state.withLock { $0.ending.append(ending) }
        // It may have changed since the check.
        if storage.mayWork { queue.async { [self] in finishKept() } }
    }

    /// Finishes the batches that wait for the disk, up to the first that is refused again.
    private func finishKept(atMost limit: Int = .max) {
        var count = 0
        var isWell = true
        while count < limit, isWell, let ending = takeEnding() {
            count += 1
            isWell = finish(ending)
        }
        if count > 0, isWell { storage.writeSucceeded() }
    }

    private func takeEnding() -> Ending? {
        state.withLock { $0.ending.popFirst() }
    }

    /// The daemon stops. `leave` writes the statuses of the batches in work once more. Batches that are not finished by
    /// `time` are finished after the next start: many may be about to end at once, and a stop does not wait for all.
    func close(finishingUntil time: UInt64) {
        state.withLock { $0.end = time }
    }

    private var mayFinish: Bool { state.withLock(\.end).map { time.now <= $0 } ?? true }

    private var isClosed: Bool { state.withLock { $0.end != nil } }

    /// - Returns: whether the disk accepted it.
    private func finish(_ ending: Ending) -> Bool {
        let (key, source) = (ending.key, ending.source)
        guard mayFinish else { return true }
        guard let snapshot = source.snapshot(of: key) else { return true }
        let folders = snapshot.folders
        let format = snapshot.status.manifest.format ?? .json
        do throws(FileError) {
            try folders.writeLastStatus(snapshot.status, durably: durably) { mayFinish }
            try Receipt.finish(folders, format: format, durably: durably)
        } catch  where error.errno == .canceled {
            return true
        } catch  where error.fault != nil || error.errno == .ioError {
            storage.writeRefused(error, batch: folders.id)
            keep(ending)
            return false
        } catch {
            // It concerns only this batch: for example, a folder in the outbox does not permit writing.
            finishLater(ending, because: error, folders)
            return true
        }
        state.withLock { $0.entries[key] = nil }
        if snapshot.status.isRemoved { log.batchRemoved(snapshot.status) }
        log.finished(snapshot.status, microseconds: snapshot.microseconds)
        source.finished(key)
        return true
    }

    /// Reports the reason once.
    private func finishLater(_ ending: Ending, because error: FileError, _ folders: BatchFolders) {
        let isNews = state.withLock { state in
            defer { state.entries[ending.key, default: Entry()].refusal = error }
            return state.entries[ending.key]?.refusal != error
        }
        if isNews { log.storageFailed(error, batch: folders.id) }
        time.call(in: 5, on: queue) { [self] in _ = finish(ending) }
    }
}

extension StatusKeeper: StorageClient {
    package func tryStorage() -> Bool {
        guard state.withLock({ !$0.ending.isEmpty }) else { return false }
        queue.async { [self] in finishKept(atMost: 1) }
        return true
    }

    package func storageChanged() {
        guard storage.mayWork,
            state.withLock({ !$0.ending.isEmpty || !$0.parking.isEmpty })
        else { return }
        queue.async { [self] in
            finishKept()
            parkKept()
        }
    }
}
