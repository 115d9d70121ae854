import DarkroomCore
import Dispatch
import Synchronization

/// What has become of a write that a `Pacer` has asked for.
package enum PacedWrite: Sendable {
    /// Nothing is to be written before the next change.
    case done
    /// It was refused. It is repeated after `StorageGuard.singleFileRetry`, and not earlier because of a change.
    case refused
    /// It was interrupted, because the daemon stops. The key still waits.
    case interrupted
    /// The key is forgotten, unless it has changed meanwhile.
    case over
}

/// Has files written that change often, such as the status of each batch: at intervals, and on one queue.
///
/// | a key       | because of                     | until                                                            |
/// |-------------|--------------------------------|------------------------------------------------------------------|
/// | is unknown  |                                | it changes, or is written                                        |
/// | waits       | a change                       | its time has come, and the `turn` permits; or it is forgotten    |
/// | is written  | its time, or a call of `write` | the write returns; what changes meanwhile is written again       |
/// | rests       | a write                        | it changes, and then waits for the rest of its time; or it is    |
/// |             |                                | forgotten; or its `heartbeat` has come                           |
///
/// The time of a key comes one interval after its first change, or after the beginning of its last write. It comes
/// later after a write that took long (`Share`), and after a refused one. No lock is held during a write.
///
/// Everything that is written at intervals is written so:
///
/// | file            | interval, s        | share       | unchanged | its writer       | a refused write             |
/// |-----------------|--------------------|-------------|-----------|------------------|-----------------------------|
/// | `status.json`   | `status.interval`  | 1/20 each   |           | `StatusKeeper`   | repeated, or kept (guard)   |
/// | `progress.json` | 0.45               | 1/50 of all |           | `ProgressKeeper` | is not repeated             |
/// | `queue.json`    | 1                  | 1/100       | 10 s      | `QueueReporter`  | repeated                    |
/// | `inbox.json`    | 0.5                | 1/20        |           | `Intake`         | repeated                    |
/// | `folders.json`  | 0.2                | 1/20        |           | `HotFolders`     | repeated                    |
/// | the metrics     | `metrics.interval` | 1/20        | always    | `MetricsFile`    | repeated                    |
///
/// Other timers write no file at intervals: they send the status line and the watchdog's signal, plan the next look of
/// the intake, a hot folder or the `Housekeeper`, or retry one step.
package final class Pacer<Key: Hashable & Sendable>: Sendable {
    /// Writes the file of a key, on the queue. Its time is that of its beginning, in nanoseconds.
    package typealias Write = @Sendable (_ key: Key, _ now: UInt64) -> PacedWrite

    /// Writes take at most one of so many parts of the time, unless that would have them rest for longer than
    /// `longestRest`.
    package enum Share: Sendable {
        /// Those of each key: a large file is written seldom, and small ones as before.
        case each(UInt64)
        /// Those of all keys together.
        case all(UInt64)

        /// So few writes cost nothing worth mentioning. They take long only if the machine is busy.
        static var few: Int { 4 }

        /// How long nothing is written after a write that took `duration`, in nanoseconds.
        static func rest(_ duration: UInt64, _ share: UInt64) -> UInt64 {
            min(duration * share, longestRest)
        }

        /// A disk that did not answer for a minute must not have a file be old for twenty more.
        static var longestRest: UInt64 { 30_000_000_000 }
    }

    /// In nanoseconds.
    package struct Limits: Sendable {
        let share: Share
        /// A write waits so long for further changes, also those of other keys, which share its tick.
        let delay: UInt64
        /// After this time, the other keys wait for the next tick, so that the queue is free for other work.
        let turn: UInt64
        /// A write that is late by so much does not delay the next one as well.
        let catchUp: UInt64
        /// So long after a write, a key is written again although it has not changed; nil for never.
        let heartbeat: UInt64?

        package init(
            share: Share, delay: UInt64 = 0, turn: UInt64 = .max, catchUp: UInt64 = 0,
            heartbeat: UInt64? = nil
        ) {
            self.share = share
            self.delay = delay
            self.turn = turn
            self.catchUp = catchUp
            self.heartbeat = heartbeat
        }
    }

    private struct Entry {
        /// When it is to be written, in nanoseconds; nil if it rests.
        var due: UInt64?
        /// No change is written before this time, in nanoseconds.
        var notBefore: UInt64 = 0
    }

    private struct State {
        /// In nanoseconds.
        var interval: UInt64
        var entries: [Key: Entry] = [:]
        /// Nothing is written before this time, in nanoseconds.
        var notBefore: UInt64 = 0
        /// Set while a key is due at some time.
        var next = PlannedTick()
        var isClosed = false

        /// Plans a tick unless an earlier one is planned.
        mutating func plan(at time: UInt64) -> PlannedTick.Tick? {
            let time = max(time, notBefore)
            if isClosed { return nil }
            if let planned = next.time, planned <= time { return nil }
            return next.plan(at: time)
        }

        /// Decides when a key is written again, unless it was forgotten during the write.
        mutating func note(
            _ outcome: PacedWrite, of key: Key, from begin: UInt64, to end: UInt64, _ limits: Limits
        ) {
            guard var entry = entries[key] else { return }
            switch outcome {
            case .over:
                // A change during the write is of what has come since.
                if entry.due == nil { entries[key] = nil }
                return
            case .interrupted: entry.due = entry.notBefore
            case .done, .refused:
                let time = max(
                    min(entry.notBefore, begin), begin.saturatingSubtract(limits.catchUp))
                entry.notBefore = time.saturatingAdd(interval)
                if case .each(let share) = limits.share {
                    entry.notBefore = max(entry.notBefore, end + Share.rest(end - begin, share))
                }
                if outcome == .refused {
                    let retry = UInt64(StorageGuard.singleFileRetry * 1e9)
                    entry.notBefore = max(entry.notBefore, end + retry)
                }
                if outcome == .refused || entry.due != nil {
                    entry.due = entry.notBefore
                } else {
                    entry.due = limits.heartbeat.map { max(entry.notBefore, end + $0) }
                }
            }
            entries[key] = entry
        }
    }

    package let queue: DispatchQueue
    private let state: Mutex<State>
    private let limits: Limits
    private let time: TimeSource

    /// - Parameter interval: in nanoseconds.
    package init(interval: UInt64, limits: Limits, queue: DispatchQueue, time: TimeSource) {
        state = Mutex(State(interval: interval))
        self.limits = limits
        self.queue = queue
        self.time = time
    }

    /// - Parameter nanoseconds: the interval from now on.
    package func setInterval(_ nanoseconds: UInt64) { state.withLock { $0.interval = nanoseconds } }

    // MARK: Changes

    /// A key has changed. It is written when its time has come.
    ///
    /// - Parameter write: writes any key of this pacer. It is not called for this change alone.
    package func changed(_ key: Key, now: UInt64, write: @escaping Write) {
        let tick = state.withLock { state -> PlannedTick.Tick? in
            let time = state.entries[key]?.notBefore ?? now.saturatingAdd(state.interval)
            state.entries[key] = Entry(due: time, notBefore: time)
            return state.plan(at: time)
        }
        if let tick { schedule(tick, write) }
    }

    package func forget(_ key: Key) { state.withLock { $0.entries[key] = nil } }

    /// The keys that are due at some time.
    var waiting: Set<Key> { state.withLock { Set($0.entries.filter { $1.due != nil }.keys) } }

    /// Whether the time of a key has come. A queue that is busy for long can `write` it then.
    package func isDue(_ key: Key) -> Bool {
        let now = time.now
        return state.withLock { $0.entries[key]?.due.map { $0 <= now } ?? false }
    }

    // MARK: Writes at once

    /// Writes a key now, on the queue. This is also possible after `close`.
    package func write(_ key: Key, _ write: @escaping Write) {
        state.withLock { if $0.entries[key] == nil { $0.entries[key] = Entry() } }
        carryOut(key, write)
        let tick = state.withLock { state in state.entries[key]?.due.flatMap { state.plan(at: $0) }
        }
        if let tick { schedule(tick, write) }
    }

    /// Writes nothing at its time any more. Changes are still remembered.
    package func close() { state.withLock { $0.isClosed = true } }

    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Closes, and writes a key for the last time. Does not wait longer than three seconds: a disk may hang.
    package func end(_ key: Key, _ write: @escaping Write) {
        close()
        let ended = DispatchSemaphore(value: 0)
        queue.async { [self] in
            self.write(key, write)
            ended.signal()
        }
        _ = ended.wait(timeout: .now() + .seconds(3))
    }

    // MARK: Ticks

    private func schedule(_ tick: PlannedTick.Tick, _ write: @escaping Write) {
        time.call(at: max(tick.time, time.now + limits.delay), on: queue) { [weak self] in
            self?.writeDue(tick, write)
        }
    }

    /// Writes the keys that are due, and plans the next tick if some are not due yet or there was no time for them.
    private func writeDue(_ tick: PlannedTick.Tick, _ write: @escaping Write) {
        let begin = time.now
        let due = state.withLock { state -> [Key]? in
            guard state.next.hasCome(tick), !state.isClosed else { return nil }
            return state.entries.compactMap { key, entry in
                entry.due.flatMap { $0 <= begin ? (key, $0) : nil }
            }.sorted { $0.1 < $1.1 }.map(\.0)
        }
        guard let due else { return }
        for key in due {
            let now = carryOut(key, write)
            if isClosed || now - begin > limits.turn { break }
        }
        var end: UInt64 = 0
        if case .all(let share) = limits.share, due.count > Share.few {
            let now = time.now
            end = now + Share.rest(now - begin, share)
        }
        let next = state.withLock { [end] state -> PlannedTick.Tick? in
            state.notBefore = max(state.notBefore, end)
            return state.entries.values.compactMap(\.due).min().flatMap { state.plan(at: $0) }
        }
        if let next { schedule(next, write) }
    }

    /// - Returns: the time afterwards, in nanoseconds.
    @discardableResult
    private func carryOut(_ key: Key, _ write: Write) -> UInt64 {
        // What changes from now on must be written again.
        state.withLock { $0.entries[key]?.due = nil }
        let begin = time.now
        let outcome = write(key, begin)
        let end = time.now
        state.withLock { $0.note(outcome, of: key, from: begin, to: end, limits) }
        return end
    }
}
