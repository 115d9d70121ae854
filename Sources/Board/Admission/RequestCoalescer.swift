import DarkroomFetch

/// Lets one of several downloads of the same content fetch it at a time: the leader. The others wait for it.
///
/// A value without threads, queues or files. It uses the keys of the cache. A waiting download uses no place of a
/// queue, no thread and no file.
///
/// | event | the leader | the waiting downloads |
/// |---|---|---|
/// | its answer is in the cache | has it | copy it, even if it is stale by then: it was fetched after their request |
/// | its answer may not be shared | has it | each fetches separately, all at once |
/// | it failed and is not retried | has the failure | get the same failure |
/// | it waits for a next attempt | stays the leader | continue to wait |
/// | it needs a turn again: after that wait, a pause, a full disk | is not the leader any more | need a turn too |
/// | it was cancelled, held or parked | has left | need a turn |
///
/// Downloads wait only for a transfer that has begun, and always for such a one: a second transfer would hardly be
/// faster. A download that has not begun may have many others before it in its turns. So others with the same key wait
/// for their own turns, and the first one that gets a turn is the leader.
package struct RequestCoalescer: Sendable {

    /// What a download does when its turn has come.
    package enum Turn: Equatable, Sendable {
        /// It looks into the cache and fetches what is missing.
        case leads
        /// It copies the content of the cache.
        case copies
        /// It fetches separately.
        case alone
        /// Another download is the leader. This one must wait.
        case waits
    }

    /// How a leader's download has ended.
    enum Ending: Equatable { case shared, unshared, failed, gone }

    /// The consequences: downloads that continue, and downloads that have failed.
    struct Change: Equatable {
        var released: [WorkRequest] = []
        var failed: [WorkRequest] = []
    }

    private struct Flight: Sendable {
        let leader: Work
        /// By their work, because any of thousands may leave, with increasing numbers.
        var waiters: [Work: (number: Int, item: WorkRequest)] = [:]
    }

    private var flights: [CacheKey: Flight] = [:]
    /// The keys of leaders and waiting downloads.
    private var keys: [Work: CacheKey] = [:]
    /// Downloads that were released and have not had their turn, which copy or go alone.
    private var passes: [Work: Turn] = [:]
    private var lastNumber = 0

    var waitingCount: Int { flights.values.reduce(0) { $0 + $1.waiters.count } }

    var isEmpty: Bool { flights.isEmpty && keys.isEmpty && passes.isEmpty }

    // MARK: Before the queue

    /// A download wants a turn.
    ///
    /// - Parameter change: the consequences if it leaves another flight, because its key may have changed, or its own
    ///   one.
    /// - Returns: whether it may get a turn. If not, it waits here until it is released.
    mutating func enter(_ item: WorkRequest, _ key: CacheKey, _ change: inout Change) -> Bool {
        if passes[item.work] != nil { return true }
        leave(item.work, &change)
        guard flights[key] != nil else { return true }
        keys[item.work] = key
        lastNumber += 1
        flights[key]?.waiters[item.work] = (lastNumber, item)
        return false
    }

    // MARK: At its turn

    mutating func begin(_ work: Work, _ key: CacheKey, _ change: inout Change) -> Turn {
        if let pass = passes.removeValue(forKey: work) { return pass }
        if keys[work] != key { leave(work, &change) }
        if let flight = flights[key] { return flight.leader == work ? .leads : .waits }
        flights[key] = Flight(leader: work)
        keys[work] = key
        return .leads
    }

    func hasWaiters(_ work: Work) -> Bool {
        guard let key = keys[work], let flight = flights[key] else { return false }
        return flight.leader == work && !flight.waiters.isEmpty
    }

    // MARK: Ends

    /// A download has ended. This has consequences only if it is a leader.
    mutating func end(_ work: Work, _ ending: Ending, _ change: inout Change) {
        guard let key = keys[work], flights[key]?.leader == work else { return }
        let waiters = endFlight(key)
        switch ending {
        case .shared, .unshared:
            for waiter in waiters { passes[waiter.work] = ending == .shared ? .copies : .alone }
            change.released += waiters
        case .failed: change.failed += waiters
        case .gone: change.released += waiters
        }
    }

    /// Removes a download in any state, because nobody needs it any more.
    mutating func remove(_ work: Work, _ change: inout Change) {
        passes[work] = nil
        leave(work, &change)
    }

    /// Removes a download from its flight. If it is the leader, the flight ends.
    private mutating func leave(_ work: Work, _ change: inout Change) {
        guard let key = keys[work] else { return }
        if flights[key]?.leader == work {
            change.released += endFlight(key)
        } else {
            keys[work] = nil
            flights[key]?.waiters[work] = nil
        }
    }

    /// Ends a flight.
    ///
    /// - Returns: the downloads that waited, in the order of their arrival.
    private mutating func endFlight(_ key: CacheKey) -> [WorkRequest] {
        guard let flight = flights.removeValue(forKey: key) else { return [] }
        keys[flight.leader] = nil
        for work in flight.waiters.keys { keys[work] = nil }
        return flight.waiters.values.sorted { $0.number < $1.number }.map(\.item)
    }
}
