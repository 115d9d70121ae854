import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomSpool
import Dispatch
import Synchronization

/// Provides the progress of batches.
protocol ProgressSource: AnyObject, Sendable {
    /// The batch's present sums; nil after it has finished, and while only its folder has them.
    func progress(of key: BatchKey) -> ProgressSnapshot?
}

struct ProgressSnapshot: Sendable {
    let folders: BatchFolders
    let sums: BatchSums
    /// Whether work of the batch may begin.
    let mayWork: Bool
}

/// Writes the progress files of batches in work: about twice a second, if they have changed, and whenever the state
/// changes for long.
///
/// It has its own queue, because the status of a batch of 100,000 images takes a second to write. All files are written
/// on this queue, so an old progress never replaces a newer one. Many batches may be in work at once: then writing
/// takes at most a fiftieth of the time.
///
/// A refused write is not reported and not repeated. The next change is written again.
final class ProgressKeeper: Sendable {
    fileprivate struct Entry {
        var isDirty = false
        /// The file is not written again before this time, in nanoseconds.
        var notBefore: UInt64
        var meter = ProgressMeter()
        /// What the file says; nil if this is not known.
        var last: BatchProgress?
        var outlook = Outlook()
    }

    /// What the list of batches shows of the progress.
    struct Outlook: Sendable {
        var secondsLeft: Double?
        /// The code of what it waits for.
        var waiting: String?
    }

    private struct State {
        var entries: [BatchKey: Entry] = [:]
        /// No file is written before this time, in nanoseconds.
        var notBefore: UInt64 = 0
        /// The time of the next tick, in nanoseconds; nil if no file waits to be written.
        var nextTick: UInt64?
        /// The number of the present tick. Earlier ones do nothing.
        var tick = 0
        /// Whether the daemon has written all files for the last time.
        var isClosed = false

        /// Requests a tick at `time`, unless an earlier one is planned.
        mutating func requestTick(at time: UInt64) -> Tick? {
            let time = max(time, notBefore)
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

    /// The shortest time between two updates of a file, in nanoseconds.
    private static let interval: UInt64 = 450_000_000
    /// The time that an update may make up for, in nanoseconds.
    private static let catchUp: UInt64 = 25_000_000
    /// After this time, in nanoseconds, the other files wait, so that a batch that has ended does not wait for them.
    private static let turn: UInt64 = 50_000_000
    /// Files that are due at nearly the same time share a tick.
    private static let delay: UInt64 = 10_000_000
    /// Writing takes at most this part of the time.
    private static let share: UInt64 = 50
    /// So few files cost nothing worth mentioning. Writing them takes long only if the machine is busy.
    private static let few = 4

    let queue = DispatchQueue(label: "darkroom.progress", qos: .userInitiated)
    private let state = Mutex(State())
    private let time: TimeSource

    init(time: TimeSource) {
        self.time = time
    }

    // MARK: In the middle of the work

    /// The batch's progress differs from its file.
    func changed(_ key: BatchKey, _ source: any ProgressSource, now: UInt64) {
        let tick = state.withLock { state -> Tick? in
            guard !state.isClosed else { return nil }
            let new = Entry(notBefore: now + Self.interval)
            state.entries[key, default: new].isDirty = true
            return state.entries[key].flatMap { state.requestTick(at: $0.notBefore) }
        }
        if let tick { schedule(tick, source) }
    }

    private func schedule(_ tick: Tick, _ source: any ProgressSource) {
        time.call(at: max(tick.time, time.now + Self.delay), on: queue) { [self] in
            writeDue(tick, source)
        }
    }

    private func writeDue(_ tick: Tick, _ source: any ProgressSource) {
        let begin = time.now
        let due = state.withLock { state -> [BatchKey] in
            guard state.tick == tick.number, !state.isClosed else { return [] }
            state.nextTick = nil
            return state.entries.filter { $0.value.isDirty && $0.value.notBefore <= begin }
                .sorted { $0.value.notBefore < $1.value.notBefore }.map(\.key)
        }
        for key in due {
            write(key, source)
            if time.now - begin > Self.turn { break }
        }
        let end = time.now
        let pause = due.count > Self.few ? (end - begin) * Self.share : 0
        let next = state.withLock { state -> Tick? in
            state.notBefore = max(state.notBefore, end + pause)
            guard state.nextTick == nil, !state.isClosed else { return nil }
            let time = state.entries.values.filter(\.isDirty).map(\.notBefore).min()
            return time.flatMap { state.requestTick(at: $0) }
        }
        if let next { schedule(next, source) }
    }

    /// Writes the file unless it says the same.
    private func write(_ key: BatchKey, _ source: any ProgressSource) {
        state.withLock { $0.entries[key]?.isDirty = false }
        guard let snapshot = source.progress(of: key) else {
            // It finished before this change was reported.
            return state.withLock { $0.entries[key] = nil }
        }
        // The last progress is written with the last status.
        guard !snapshot.sums.status.state.isFinal else { return }
        let now = time.now
        let (progress, last) = state.withLock { state -> (BatchProgress, BatchProgress?) in
            var entry = state.entries[key] ?? Entry(notBefore: now)
            defer { state.entries[key] = entry }
            // A little delay does not delay the next time as well.
            entry.notBefore = max(
                min(entry.notBefore, now) + Self.interval, now + Self.interval - Self.catchUp)
            let progress = entry.measure(snapshot, now)
            return (progress, entry.last)
        }
        if let last, progress.saysTheSame(as: last) { return }
        let isWritten = snapshot.folders.writeProgress(progress)
        state.withLock { $0.entries[key]?.last = isWritten ? progress : nil }
    }

    // MARK: Other moments

    /// Writes the files of these batches now, as far as the time permits.
    ///
    /// - Parameter end: in nanoseconds.
    func write(_ keys: [BatchKey], _ source: any ProgressSource, before end: UInt64 = .max) {
        queue.sync {
            for key in keys where end == .max || time.now < end { write(key, source) }
        }
    }

    /// The batch has ended, or is put away. Nothing of it is kept here.
    func forget(_ key: BatchKey) {
        state.withLock { $0.entries[key] = nil }
    }

    /// The last status of the batch is in the outbox.
    func finish(_ key: BatchKey, _ folders: BatchFolders, _ status: Status) {
        queue.sync { _ = folders.writeProgress(BatchProgress(of: status)) }
        forget(key)
    }

    /// The status of a waiting batch has been changed apart from its images.
    func amended(_ folders: BatchFolders, _ status: Status) {
        queue.sync { folders.amendProgress(status) }
    }

    /// No file is written any more.
    func close() {
        state.withLock { $0.isClosed = true }
    }

    /// The last estimates for the batches in work, and what they wait for.
    var outlooks: [BatchKey: Outlook] {
        state.withLock { $0.entries.mapValues(\.outlook) }
    }
}

extension ProgressKeeper.Entry {
    /// Adds the present sums to the measurement, and describes the batch.
    fileprivate mutating func measure(_ snapshot: ProgressSnapshot, _ now: UInt64) -> BatchProgress
    {
        let (status, outputBytes) = (snapshot.sums.status, snapshot.sums.outputBytes)
        let counts = status.counts
        meter.add(
            time: now, images: counts.finished, bytes: outputBytes, sizes: snapshot.sums.sizes,
            mayWork: snapshot.mayWork)
        var progress = BatchProgress(of: status, outputBytes: outputBytes)
        progress.imagesPerSecond = meter.imagesPerSecond?.shortened
        progress.bytesPerSecond = meter.bytesPerSecond?.shortened
        progress.secondsLeft =
            meter.secondsLeft(images: counts.total - counts.finished)?.shortened
        outlook = ProgressKeeper.Outlook(
            secondsLeft: progress.secondsLeft, waiting: status.waiting?.code)
        return progress
    }
}
