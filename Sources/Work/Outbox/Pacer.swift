import DarkroomCore
import Dispatch
import Synchronization

/// Calls a function for each of many things that change often, such as the status of each batch: at most once in an
/// interval for each, and on one queue.
///
/// | a key                  | because of           | until                                             |
/// |------------------------|----------------------|---------------------------------------------------|
/// | is not known           |                      | it changes                                        |
/// | waits                  | a change             | its time has come, and the `turn` permits         |
/// | is known and unchanged | its function's call  | it changes, and then waits for the rest of its    |
/// |                        |                      | time; or it is forgotten                          |
final class Pacer<Key: Hashable & Sendable>: Sendable {
    /// In nanoseconds.
    struct Limits: Sendable {
        /// Keys whose times are so near to each other share a tick.
        var delay: UInt64
        /// After this time, the other keys wait for the next tick, so that the queue is free for other work.
        var turn: UInt64
        /// The calls of a tick take at most this part of the time; nil if each key sees to that.
        var share: UInt64?

        /// So few calls cost nothing worth mentioning. They take long only if the machine is busy.
        static var few: Int { 4 }
    }

    private struct Entry {
        var isDirty = false
        /// It is not called before this time, in nanoseconds.
        var notBefore: UInt64
    }

    private struct State {
        /// The time from the first change of a key to its first call, in nanoseconds.
        var interval: UInt64
        var entries: [Key: Entry] = [:]
        /// Nothing is called before this time, in nanoseconds.
        var notBefore: UInt64 = 0
        /// Set while a key waits.
        var next = PlannedTick()
        var isClosed = false

        /// Plans a tick unless an earlier one is planned.
        mutating func plan(at time: UInt64) -> PlannedTick.Tick? {
            let time = max(time, notBefore)
            if let planned = next.time, planned <= time { return nil }
            return next.plan(at: time)
        }
    }

    let queue: DispatchQueue
    private let state: Mutex<State>
    private let limits: Limits
    private let time: TimeSource

    /// - Parameter interval: in nanoseconds.
    init(interval: UInt64, limits: Limits, queue: DispatchQueue, time: TimeSource) {
        state = Mutex(State(interval: interval))
        self.limits = limits
        self.queue = queue
        self.time = time
    }

    /// - Parameter nanoseconds: the interval from now on.
    func setInterval(_ nanoseconds: UInt64) { state.withLock { $0.interval = nanoseconds } }

    // MARK: Changes

    /// A key has changed.
    ///
    /// - Parameter call: called on the queue, for each key whose time has come. It must call `begin`.
    func changed(_ key: Key, now: UInt64, call: @escaping @Sendable (Key) -> Void) {
        let tick = state.withLock { state -> PlannedTick.Tick? in
            let notBefore = state.entries[key]?.notBefore ?? now.saturatingAdd(state.interval)
            state.entries[key] = Entry(isDirty: true, notBefore: notBefore)
            return state.isClosed ? nil : state.plan(at: notBefore)
        }
        if let tick { schedule(tick, call) }
    }

    /// What changes from now on must be called again.
    func begin(_ key: Key) { state.withLock { $0.entries[key]?.isDirty = false } }

    /// The call was interrupted, so it is due again.
    func interrupted(_ key: Key) { state.withLock { $0.entries[key]?.isDirty = true } }

    /// Changes the time before which a key is not called again, in nanoseconds. Does nothing for a forgotten key.
    func postpone(_ key: Key, _ change: (_ notBefore: UInt64, _ interval: UInt64) -> UInt64) {
        state.withLock { state in
            guard let notBefore = state.entries[key]?.notBefore else { return }
            state.entries[key]?.notBefore = change(notBefore, state.interval)
        }
    }

    func forget(_ key: Key) { state.withLock { $0.entries[key] = nil } }

    /// The keys that wait.
    var waiting: Set<Key> { state.withLock { Set($0.entries.filter(\.value.isDirty).keys) } }

    /// Calls nothing any more. Changes are still remembered.
    func close() { state.withLock { $0.isClosed = true } }

    var isClosed: Bool { state.withLock(\.isClosed) }

    // MARK: Ticks

    private func schedule(_ tick: PlannedTick.Tick, _ call: @escaping @Sendable (Key) -> Void) {
        time.call(at: max(tick.time, time.now + limits.delay), on: queue) { [self] in
            callDue(tick, call)
        }
    }

    /// Calls the keys that are due, and plans the next tick if some are not due yet or there was no time for them.
    private func callDue(_ tick: PlannedTick.Tick, _ call: @escaping @Sendable (Key) -> Void) {
        let begin = time.now
        let due = state.withLock { state -> [Key] in
            guard state.next.hasCome(tick), !state.isClosed else { return [] }
            return state.entries.filter { $0.value.isDirty && $0.value.notBefore <= begin }
                .sorted { $0.value.notBefore < $1.value.notBefore }.map(\.key)
        }
        for key in due {
            call(key)
            if isClosed || time.now - begin > limits.turn { break }
        }
        var end: UInt64 = 0
        if let share = limits.share, due.count > Limits.few {
            let now = time.now
            end = now + (now - begin) * share
        }
        let next = state.withLock { [end] state -> PlannedTick.Tick? in
            state.notBefore = max(state.notBefore, end)
            guard state.next.time == nil, !state.isClosed else { return nil }
            let time = state.entries.values.filter(\.isDirty).map(\.notBefore).min()
            return time.flatMap { state.plan(at: $0) }
        }
        if let next { schedule(next, call) }
    }
}
