import DarkroomFetch

/// Who fetches what several batches ask for at once: one of them, the leader; the others wait for it.
///
/// A value without threads, queues or files, by the keys of the cache. Who waits holds no place of a queue, no
/// thread and no file.
///
/// | event | the leader | who waits |
/// |---|---|---|
/// | its answer is in the cache | has it | copies it, though it be stale by then: it was fetched after they asked |
/// | its answer may not be shared | has it | fetches for himself, all at once |
/// | it failed for good | has the failure | gets the same failure |
/// | it waits for a next attempt | keeps the lead | waits on |
/// | it goes for a turn again: after that wait, a pause, a full disk | has lost the lead | goes for a turn too |
/// | it was cancelled, held or put away | is gone | goes for a turn |
///
/// Only a transfer that has begun is waited for, by everyone: another one would hardly be faster. A download that has
/// not begun may stand far behind in turns that others do not share, so whoever wants the same goes for a turn of its
/// own, and the first whose turn comes leads.
struct RequestCoalescer: Sendable {

    /// What a download does when its turn has come.
    enum Turn: Equatable {
        /// It looks into the cache and fetches what is not there.
        case leads
        /// It takes what is in the cache.
        case copies
        /// It fetches for itself.
        case alone
        /// Someone else leads: it is to wait.
        case waits
    }

    /// How a leader's download has ended.
    enum Ending: Equatable { case shared, unshared, failed, gone }

    /// What follows: these go on, those have failed.
    struct Change: Equatable {
        var released: [WorkRequest] = []
        var failed: [WorkRequest] = []
    }

    private struct Flight: Sendable {
        let leader: Work
        /// By their work, for any of thousands may leave; with numbers that grow from one to the next.
        var waiters: [Work: (number: Int, item: WorkRequest)] = [:]
    }

    private enum Pass: Sendable { case copies, alone }

    private var flights: [CacheKey: Flight] = [:]
    /// Of leaders and of those who wait.
    private var keys: [Work: CacheKey] = [:]
    /// Of those who were released and have not had their turn.
    private var passes: [Work: Pass] = [:]
    private var lastNumber = 0

    /// Those who wait.
    var waitingCount: Int { flights.values.reduce(0) { $0 + $1.waiters.count } }

    var isEmpty: Bool { flights.isEmpty && keys.isEmpty && passes.isEmpty }

    // MARK: Before the queue

    /// Someone wants to go for a turn. Tells whether he may; if not he waits here until he is released.
    ///
    /// - Parameter change: what follows from his leaving another flight, for his key may have changed, or his own.
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
        switch passes.removeValue(forKey: work) {
        case .copies: return .copies
        case .alone: return .alone
        case nil: break
        }
        if keys[work] != key { leave(work, &change) }
        if let flight = flights[key] { return flight.leader == work ? .leads : .waits }
        flights[key] = Flight(leader: work)
        keys[work] = key
        return .leads
    }

    /// Whether this one leads others.
    func hasWaiters(_ work: Work) -> Bool {
        guard let key = keys[work], let flight = flights[key] else { return false }
        return flight.leader == work && !flight.waiters.isEmpty
    }

    // MARK: Ends

    /// A download has ended. Nothing follows from that of one who does not lead.
    mutating func end(_ work: Work, _ ending: Ending, _ change: inout Change) {
        guard let key = keys[work], flights[key]?.leader == work else { return }
        let waiters = endFlight(key)
        switch ending {
        case .shared, .unshared:
            for waiter in waiters {
                passes[waiter.work] = ending == .shared ? .copies : .alone
            }
            change.released += waiters
        case .failed: change.failed += waiters
        case .gone: change.released += waiters
        }
    }

    /// A download is not wanted any more, whatever it was about to do.
    mutating func remove(_ work: Work, _ change: inout Change) {
        passes[work] = nil
        leave(work, &change)
    }

    /// Takes someone out of the flight that he is in; where he leads, it is over.
    private mutating func leave(_ work: Work, _ change: inout Change) {
        guard let key = keys[work] else { return }
        if flights[key]?.leader == work {
            change.released += endFlight(key)
        } else {
            keys[work] = nil
            flights[key]?.waiters[work] = nil
        }
    }

    /// Gives those who waited, in the order in which they came.
    private mutating func endFlight(_ key: CacheKey) -> [WorkRequest] {
        guard let flight = flights.removeValue(forKey: key) else { return [] }
        keys[flight.leader] = nil
        for work in flight.waiters.keys { keys[work] = nil }
        return flight.waiters.values.sorted { $0.number < $1.number }.map(\.item)
    }
}
