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
/// | it was cancelled, held or put away | is gone | the next one leads, the highest level first |
/// | it waits for a retry, the disk or the end of a pause | keeps the lead | waits on |
/// | someone of a higher level comes, and it has not begun | loses the lead | waits for the new leader |
///
/// The last one, lest an urgent image wait for a place far behind in the queue. A transfer that has begun is waited
/// for by everyone: another one would hardly be faster. A leader that lost the lead joins the others when its own
/// turn comes, or leads again, if all is over by then.
struct Flights: Sendable {
    typealias Item = StorageWaits.Item

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
        var released: [Item] = []
        var failed: [Item] = []
    }

    private struct Flight: Sendable {
        var leader: Work
        var level: Int
        var hasBegun: Bool
        var waiters: [Item] = []
    }

    private enum Pass: Sendable { case copies, alone }

    private var flights: [CacheKey: Flight] = [:]
    /// Of leaders and of those who wait.
    private var keys: [Work: CacheKey] = [:]
    /// Of those who were released and have not had their turn.
    private var passes: [Work: Pass] = [:]

    /// Those who wait.
    var waitingCount: Int { flights.values.reduce(0) { $0 + $1.waiters.count } }

    var isEmpty: Bool { flights.isEmpty && keys.isEmpty && passes.isEmpty }

    // MARK: Before the queue

    /// Someone wants to go into the queue. Tells whether he may; if not he waits here until he is released.
    ///
    /// - Parameter change: what follows from his leaving another flight, for his key may have changed.
    mutating func enter(_ item: Item, _ key: CacheKey, _ change: inout Change) -> Bool {
        if passes[item.work] != nil { return true }
        if let former = keys[item.work], former != key { leave(item.work, &change) }
        guard var flight = flights[key] else {
            flights[key] = Flight(leader: item.work, level: item.level, hasBegun: false)
            keys[item.work] = key
            return true
        }
        defer { flights[key] = flight }
        if keys.updateValue(key, forKey: item.work) == key, flight.leader != item.work {
            flight.waiters.removeAll { $0.work == item.work }
        }
        if flight.leader == item.work {
            flight.level = item.level
            flight.hasBegun = false
            return true
        }
        if !flight.hasBegun, item.level > flight.level {
            keys[flight.leader] = nil
            flight.leader = item.work
            flight.level = item.level
            return true
        }
        flight.waiters.append(item)
        return false
    }

    // MARK: At its turn

    mutating func begin(_ work: Work, _ key: CacheKey, _ change: inout Change) -> Turn {
        switch passes.removeValue(forKey: work) {
        case .copies: return .copies
        case .alone: return .alone
        case nil: break
        }
        if let former = keys[work], former != key { leave(work, &change) }
        guard let flight = flights[key] else {
            flights[key] = Flight(leader: work, level: 0, hasBegun: true)
            keys[work] = key
            return .leads
        }
        guard flight.leader == work else { return .waits }
        flights[key]?.hasBegun = true
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
        guard let key = keys[work], let flight = flights[key], flight.leader == work else { return }
        if ending == .gone { return leave(work, &change) }
        flights[key] = nil
        keys[work] = nil
        for waiter in flight.waiters { keys[waiter.work] = nil }
        switch ending {
        case .shared, .unshared:
            for waiter in flight.waiters {
                passes[waiter.work] = ending == .shared ? .copies : .alone
            }
            change.released += flight.waiters
        case .failed: change.failed += flight.waiters
        case .gone: break
        }
    }

    /// A download is not wanted any more, whatever it was about to do.
    mutating func remove(_ work: Work, _ change: inout Change) {
        passes[work] = nil
        leave(work, &change)
    }

    private mutating func leave(_ work: Work, _ change: inout Change) {
        guard let key = keys.removeValue(forKey: work), var flight = flights[key] else { return }
        defer { flights[key] = flight.leader == work ? nil : flight }
        guard flight.leader == work else {
            flight.waiters.removeAll { $0.work == work }
            return
        }
        // The first of the highest level.
        guard
            let next = flight.waiters.indices.max(by: {
                (flight.waiters[$0].level, $1) < (flight.waiters[$1].level, $0)
            })
        else { return }
        let item = flight.waiters.remove(at: next)
        flight.leader = item.work
        flight.level = item.level
        flight.hasBegun = false
        change.released.append(item)
    }
}

extension StorageWaits.Item {
    fileprivate var level: Int { Level(priority, quality).index }
}
