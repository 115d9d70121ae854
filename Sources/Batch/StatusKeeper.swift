import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import DequeModule
import Dispatch
import Synchronization
import SystemPackage

/// Where the status keeper learns what to write.
protocol StatusSource: AnyObject, Sendable {
    /// The batch's status now; nil once it has finished.
    func snapshot(of key: BatchKey) -> StatusSnapshot?
    /// The batch's final status is in the outbox and its folder in `active` is gone.
    func finished(_ key: BatchKey)
    /// The status of a held batch that does nothing is in the outbox.
    func parked(_ key: BatchKey)
}

struct StatusSnapshot: Sendable {
    let folders: BatchFolders
    var status: Status
    /// In nanoseconds.
    let startedAt: UInt64?
    /// Whether some of it was done before that.
    var isContinued = false

    /// Since its first image began, or since it was taken up again, in microseconds. Over a restart only the wall
    /// clock tells.
    var microseconds: UInt64 {
        let again = status.commands?.last { $0.command.form.effect == .reopens }?.time
        let start = status.times.started.map { max($0, again ?? "") }
        if isContinued, let all = Clock.microseconds(from: start, to: status.times.finished) {
            return all
        }
        return startedAt.map { (Clock.nanoseconds - $0) / 1000 } ?? 0
    }
}

/// Writes the status files: now and then while a batch is in work, and for the last time when it ends.
///
/// A file is rewritten at most once an interval, and so seldom that writing takes at most a twentieth of the
/// time: the file of 100,000 images takes a second to write, that of ten a fraction of a millisecond. A batch that ends
/// waits for one such file at most, and a stop breaks it off.
package final class StatusKeeper: Sendable {
    private struct Entry {
        var isDirty = false
        /// Before this moment the file is not written again, in nanoseconds.
        var notBefore: UInt64 = 0
        /// Why the last status could not be written, as it was told.
        var refusal: FileError?
    }

    private struct State {
        /// The least time between two writings of a file, in nanoseconds.
        var interval: UInt64 = 0
        var entries: [BatchKey: Entry] = [:]
        /// When the files are looked at next, in nanoseconds; nil while none waits to be written.
        var nextTick: UInt64?
        /// The number of the tick that counts; an earlier one that is still to come does nothing.
        var tick = 0
        /// Batches that have ended and whose last status the disk has refused.
        var ending: Deque<Ending> = []
        /// When the daemon that stops finishes nothing any more, in nanoseconds; nil while it does not stop.
        var end: UInt64?
        /// Held batches whose status the disk has not taken yet.
        var parking: [Ending] = []

        /// Asks for a tick at `time`, if there is none as early.
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

    /// - Parameter seconds: between two writings of one file, from now on.
    func setInterval(_ seconds: Double) {
        state.withLock { $0.interval = UInt64(clamping: seconds * 1e9) }
    }

    /// The batch's status is not what the file says any more.
    func changed(_ key: BatchKey, _ source: any StatusSource) {
        let tick = state.withLock { state -> Tick? in
            // The receipt is there, so the first rewriting can wait too; a short batch has ended by then.
            let new = Entry(notBefore: time.now + state.interval)
            state.entries[key, default: new].isDirty = true
            return state.entries[key].flatMap { state.requestTick(at: $0.notBefore) }
        }
        if let tick { schedule(tick, source) }
    }

    /// Writes the statuses of these batches once more, and of others what has changed, however recently they were
    /// written, and waits for that. What there is no time for stays as it was written before: a status takes a second
    /// for 100,000 images.
    ///
    /// - Parameter end: when no further one is begun, and one that is being written is broken off, in nanoseconds.
    func leave(_ keys: [BatchKey], _ source: any StatusSource, before end: UInt64) {
        queue.sync {
            let dirty = state.withLock { Set($0.entries.filter(\.value.isDirty).keys) }
            for key in keys + dirty.subtracting(keys).sorted() where time.now < end {
                write(key, source) { time.now < end }
            }
        }
    }

    private func schedule(_ tick: Tick, _ source: any StatusSource) {
        // A millisecond at least, so that files due at nearly the same time share a tick.
        time.call(at: max(tick.time, time.now + 1_000_000), on: queue) { [self] in
            writeDue(tick, source)
        }
    }

    /// Nanoseconds after which no further status is begun with before the batches that have ended meanwhile have theirs.
    private static let turn: UInt64 = 100_000_000

    /// Writes what is due, and comes again if something is not yet, or there was no time for it.
    private func writeDue(_ tick: Tick, _ source: any StatusSource) {
        let now = time.now
        let due = state.withLock { state -> [BatchKey] in
            guard state.tick == tick.number else { return [] }
            state.nextTick = nil
            return state.entries.filter { $0.value.isDirty && $0.value.notBefore <= now }
                .sorted { $0.value.notBefore < $1.value.notBefore }.map(\.key)
        }
        // A stop does not wait for what is due; it has each written when nothing changes any more.
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

    /// - Parameter mayGoOn: asked before it is begun, and as it goes on. What is broken off is still to be written.
    private func write(_ key: BatchKey, _ source: any StatusSource, while mayGoOn: () -> Bool) {
        guard mayGoOn() else { return }
        let begin = time.now
        state.withLock { $0.entries[key]?.isDirty = false }
        guard let snapshot = source.snapshot(of: key) else {
            // It has finished, and was told of a change after that.
            return state.withLock { $0.entries[key] = nil }
        }
        guard !snapshot.status.state.isFinal else { return }
        var pause: UInt64 = 0
        do throws(FileError) {
            // What it says can be found out again after a power cut, so it is not waited for.
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

    /// What a status in the middle of the work could not be written for, and how long to wait before it is
    /// retried, in nanoseconds; 0 for never.
    private func refused(_ error: FileError, _ folders: BatchFolders) -> UInt64 {
        if error.errno == .noSuchFileOrDirectory {
            // The batch's folder was removed; its images find out too, and its last status says it.
            return 0
        }
        if error.fault != nil {
            // While the storage waits, this is no news, and the status of why is tried all the same.
            if storage.mayWork { storage.writeRefused(error, batch: folders.id) }
        } else {
            log.storageFailed(error, batch: folders.id)
        }
        return 5_000_000_000
    }

    // MARK: Held batches

    /// Writes the status of a held batch that does nothing any more, and lets go of it; not while the spool
    /// takes no writes, for the file would say so for as long as the batch is held.
    func park(_ key: BatchKey, _ source: any StatusSource) {
        queue.async { [self] in
            // The daemon that stops writes it with the others.
            if isClosed { return }
            if storage.mayWork {
                write(key, source) { !isClosed }
                guard !storage.mayWork || isClosed else {
                    state.withLock { $0.entries[key] = nil }
                    return source.parked(key)
                }
            }
            state.withLock { $0.parking.append(Ending(key: key, source: source)) }
            // It may have changed since it was asked.
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

    /// Writes the final status and clears the batch's folder. If the disk does not let it, it is retried
    /// until it does, or until the next start: a batch ends with its answer or not at all.
    func finish(_ key: BatchKey, _ source: any StatusSource) {
        queue.async { [self] in
            let ending = Ending(key: key, source: source)
            if storage.mayWork { _ = finish(ending) } else { keep(ending) }
        }
    }

    private func keep(_ ending: Ending) {
        state.withLock { $0.ending.append(ending) }
        // It may have changed since it was asked.
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

    /// The daemon stops. The statuses of what is in work are written once more, by `leave`. What has not been finished
    /// by `time` is, after the next start: many batches may be about to end at once, and a stop does not wait for all.
    func close(finishingUntil time: UInt64) {
        state.withLock { $0.end = time }
    }

    private var mayFinish: Bool { state.withLock(\.end).map { time.now <= $0 } ?? true }

    private var isClosed: Bool { state.withLock { $0.end != nil } }

    /// Returns whether the disk took it.
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
            // It concerns this batch alone, a folder in the outbox that may not be written say.
            finishLater(ending, because: error, folders)
            return true
        }
        state.withLock { $0.entries[key] = nil }
        if snapshot.status.isRemoved { log.batchRemoved(snapshot.status) }
        log.finished(snapshot.status, microseconds: snapshot.microseconds)
        source.finished(key)
        return true
    }

    /// The reason is told once.
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
