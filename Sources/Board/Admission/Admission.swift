import DarkroomCore
import DarkroomFetch

/// The place of each piece of work, from the board's request until its end.
///
/// A requested piece of work enters. Then it has one place until it leaves: its operation has ended, or nobody needs
/// the work any more. The admission checks all reasons for a delay, in this order: another download of the same URL
/// (`RequestCoalescer`), the disk (`StorageBacklog`), the host and the turn (`DownloadFairQueue`, `FilterFairQueue`).
///
/// | place   | what it waits for                | an event moves it                                                 |
/// |---------|----------------------------------|-------------------------------------------------------------------|
/// | –       |                                  | `enter` → flight, storage, turn or queued                         |
/// | flight  | another download of the same URL | the other ends: `again`, so it enters again; or it has failed too |
/// | storage | a disk that refuses writes       | `storageWorks`, `tryStorage`: `again`                             |
/// | turn    | a place of its host and queue    | a place is free → queued, or storage                              |
/// | queued  | its operation's thread           | `begin` → running; or it must enter again                         |
/// | running | its operation's end              | `left` → –                                                        |
/// | any     |                                  | `leave` → –                                                       |
///
/// Each entry has a number, and its operation has the same number. The operation of an earlier entry begins nothing and
/// ends nothing. Each call returns its consequences, which the board carries out:
///
///     follow(admission.enter(wish))               // A download gets a place: `starts` has its operation.
///     let (beginning, outcome) = admission.begin(ticket)
///     follow(admission.left(ticket))              // Its place is free: `starts` may have the next download.
package struct Admission: Sendable {
    enum Place: Sendable, CaseIterable { case flight, storage, turn, queued, running }

    private struct Entry: Sendable {
        let wish: Wish
        let number: Int
        var place: Place?
    }

    private var entries: [Work: Entry] = [:]
    private var lastNumber = 0
    private var coalescer = RequestCoalescer()
    private var storage = StorageBacklog()
    package private(set) var downloads: DownloadFairQueue
    /// Local files have a queue of their own, so that servers cannot delay them.
    private(set) var local: DownloadFairQueue
    package private(set) var filters: FilterFairQueue
    /// Whether the disk accepts writes, as far as is known here.
    package var isStorageWorking = true

    init(downloads: DownloadFairQueue.Limits, filters: FilterSlots) {
        self.downloads = DownloadFairQueue(limits: downloads)
        local = DownloadFairQueue(limits: downloads)
        self.filters = FilterFairQueue(places: filters)
    }

    /// The place of a piece of work; nil if it has not entered, or has left.
    func place(of work: Work) -> Place? { entries[work]?.place }

    /// How many pieces of work have entered and not left.
    var count: Int { entries.count }

    var isEmpty: Bool { entries.isEmpty && coalescer.isEmpty && storage.isEmpty }

    /// For tests: whether each part has exactly the work that has its place.
    var isConsistent: Bool {
        let counts = Dictionary(entries.values.map { ($0.place, 1) }, uniquingKeysWith: +)
        let inTurn = downloads.waitingCount + local.waitingCount + filters.count
        let filtersAtWork = entries.values.count {
            if case .filter = $0.wish.work {
                $0.place == .queued || $0.place == .running
            } else {
                false
            }
        }
        return counts[.flight, default: 0] == coalescer.waitingCount
            && counts[.storage, default: 0] == storage.items.count
            && counts[.turn, default: 0] + filtersAtWork == inTurn
    }

    /// Downloads and local files that wait only for a place of their queue.
    package var waitingForPlaceCount: Int {
        downloads.waitingForPlaceCount + local.waitingForPlaceCount
    }

    // MARK: Entering

    /// Work is requested. Work that has already entered stays in its place.
    mutating func enter(_ wish: Wish) -> Outcome {
        var outcome = Outcome()
        guard entries[wish.work] == nil else { return outcome }
        lastNumber += 1
        entries[wish.work] = Entry(wish: wish, number: lastNumber)
        // Otherwise it waits for another download of the same URL.
        let hasFlown =
            wish.cacheKey.map { key in
                change(&outcome) { $0.enter(wish.request, key, &$1) }
            } ?? true
        if !hasFlown {
            wait(wish, .flight, &outcome)
        } else if !mayWrite(wish.piece) {
            put(wish.work, .storage)
            storage.add(wish.request)
        } else {
            takeTurn(wish, &outcome)
        }
        return outcome
    }

    private mutating func takeTurn(_ wish: Wish, _ outcome: inout Outcome) {
        switch wish.work {
        case .download:
            put(wish.work, .turn)
            let served =
                wish.host == nil
                ? local.add(wish.request, owner: wish.owner, host: nil)
                : downloads.add(wish.request, owner: wish.owner, host: wish.host)
            queue(served, &outcome)
            if place(of: wish.work) == .turn { wait(wish, .turn, &outcome) }
        case .filter:
            put(wish.work, .turn)
            let atOnce = wish.isGranted || !isStorageWorking
            queue(filters.add(wish.request, owner: wish.owner, atOnce: atOnce), &outcome)
        }
    }

    /// A download waits outside the queue. If it was to try the disk, this attempt may be delayed without limit.
    private mutating func wait(_ wish: Wish, _ place: Place, _ outcome: inout Outcome) {
        put(wish.work, place)
        outcome.waiting.append(wish.work)
        if endAttempt(of: wish.piece) { outcome.isUndecided = true }
    }

    // MARK: Moving

    /// Puts downloads that have places into the queue, unless the disk refuses writes.
    private mutating func queue(_ served: [WorkRequest], _ outcome: inout Outcome) {
        var rest = served
        var next = 0
        while next < rest.count {
            let request = rest[next]
            next += 1
            guard let entry = entries[request.work] else {
                rest += leaveTurn(request.work)
                continue
            }
            if mayWrite(entry.wish.piece) {
                start(entry, queue: nil, &outcome)
            } else {
                rest += leaveTurn(request.work)
                put(request.work, .storage)
                storage.add(request)
            }
        }
    }

    private mutating func queue(_ turns: [FilterFairQueue.Turn], _ outcome: inout Outcome) {
        for turn in turns {
            guard let entry = entries[turn.item.work] else { continue }
            start(entry, queue: turn.queue, &outcome)
        }
    }

    private mutating func start(_ entry: Entry, queue: Int?, _ outcome: inout Outcome) {
        put(entry.wish.work, .queued)
        outcome.starts.append(
            Start(
                request: entry.wish.request,
                ticket: Ticket(work: entry.wish.work, number: entry.number),
                source: entry.wish.source, isLocal: entry.wish.host == nil, queue: queue))
    }

    /// Begins filters that have free places. Call this after all consequences of an event.
    mutating func takeTurns() -> Outcome {
        var outcome = Outcome()
        queue(filters.take(), &outcome)
        return outcome
    }

    /// An operation's thread has begun.
    ///
    /// - Parameter key: for a download: its present key in the cache; nil if nothing is cached.
    mutating func begin(_ ticket: Ticket, key: CacheKey? = nil) -> (Beginning, Outcome) {
        var outcome = Outcome()
        guard let entry = entry(of: ticket), entry.place == .queued else {
            return (.unwanted, outcome)
        }
        guard mayWrite(entry.wish.piece), downloads.mayBegin(ticket.work) else {
            return (.back, outcome)
        }
        let turn = key.map { key in change(&outcome) { $0.begin(ticket.work, key, &$1) } } ?? .alone
        if turn == .waits { return (.back, outcome) }
        put(ticket.work, .running)
        return (.goes(turn), outcome)
    }

    /// A running download should copy what another one has fetched, but did not find it.
    package mutating func rejoin(_ ticket: Ticket, _ key: CacheKey) -> (
        RequestCoalescer.Turn, Outcome
    ) {
        var outcome = Outcome()
        let turn = change(&outcome) { $0.begin(ticket.work, key, &$1) }
        return (turn, outcome)
    }

    /// Whether this is the entry that its work has now. If not, the work was taken back since: nobody needs it, or it
    /// has another operation.
    func isCurrent(_ ticket: Ticket) -> Bool { entry(of: ticket) != nil }

    /// Whether other downloads wait for this one.
    package func hasWaiters(_ work: Work) -> Bool { coalescer.hasWaiters(work) }

    // MARK: Leaving

    /// An operation has ended, or must enter again. Its work may enter again at once.
    mutating func left(_ ticket: Ticket) -> Outcome {
        var outcome = Outcome()
        guard entry(of: ticket) != nil else { return outcome }
        entries[ticket.work] = nil
        filters.leave(ticket.work)
        queue(leaveTurn(ticket.work), &outcome)
        return outcome
    }

    /// Passes the result of a download to those that wait for it. It may have left before.
    mutating func ended(_ work: Work, _ ending: RequestCoalescer.Ending) -> Outcome {
        var outcome = Outcome()
        change(&outcome) { $0.end(work, ending, &$1) }
        return outcome
    }

    /// Removes a piece of work from any place, because nobody needs it any more, or because another one does it.
    ///
    /// - Parameter isDone: whether another piece of work does it. If it was to try the disk, that one does.
    /// - Returns: the operation that must be cancelled, if there is one. It begins nothing any more.
    mutating func leave(_ work: Work, isDone: Bool = false) -> (Ticket?, Outcome) {
        var outcome = Outcome()
        let entry = entries.removeValue(forKey: work)
        if entry?.place == .storage { storage.remove(work) }
        filters.remove(work)
        queue(downloads.remove(work) + local.remove(work), &outcome)
        change(&outcome) { $0.remove(work, &$1) }
        guard let entry else { return (nil, outcome) }
        if !isDone, endAttempt(of: entry.wish.piece) { outcome.isUndecided = true }
        let hasOperation = entry.place == .queued || entry.place == .running
        return (hasOperation ? Ticket(work: work, number: entry.number) : nil, outcome)
    }

    // MARK: The disk

    /// Whether a piece of work may write: the disk accepts writes, or this piece tries it.
    private func mayWrite(_ piece: StorageBacklog.Piece) -> Bool {
        isStorageWorking || storage.tried == piece
    }

    /// Adds a batch whose folder must be read when the disk works again.
    package mutating func add(unprepared key: BatchKey, id: String) {
        storage.add(unprepared: key, id: id)
    }

    package mutating func takeUnprepared() -> (key: BatchKey, id: String)? {
        storage.takeUnprepared()
    }

    /// The disk works again.
    ///
    /// - Returns: everything that waited for it.
    package mutating func storageWorks() -> (Outcome, [(key: BatchKey, id: String)]) {
        isStorageWorking = true
        let waited = storage.takeAll()
        for request in waited.items { entries[request.work] = nil }
        return (Outcome(again: waited.items), waited.unprepared)
    }

    /// Lets one piece of work begin, to test whether the disk works; nil if none waits for it.
    package mutating func tryStorage() -> Outcome? {
        guard let request = storage.takeOne(),
            let entry = entries.removeValue(forKey: request.work)
        else { return nil }
        storage.tried = entry.wish.piece
        return Outcome(again: [request])
    }

    /// The attempt with this piece of work has ended, or will not take place.
    ///
    /// - Parameter piece: nil for a piece of a batch that is not known any more.
    /// - Returns: false for any other piece of work.
    package mutating func endAttempt(of piece: StorageBacklog.Piece?) -> Bool {
        guard storage.tried != nil, piece == nil || storage.tried == piece else { return false }
        storage.tried = nil
        return true
    }

    // MARK: Hosts and limits

    mutating func setLimits(
        downloads limits: DownloadFairQueue.Limits, filters places: FilterSlots
    ) -> Outcome {
        var outcome = Outcome()
        filters.places = places
        queue(downloads.setLimits(limits) + local.setLimits(limits), &outcome)
        return outcome
    }

    /// Lets no download of a host begin before a given time, see `DownloadFairQueue`.
    package mutating func pause(
        _ host: ByteString, until: UInt64, now: UInt64, at time: String
    ) -> Bool {
        downloads.pause(host, until: until, now: now, at: time)
    }

    /// Ends a host's pause if it is over; else returns when to call this again.
    package mutating func resume(_ host: ByteString, now: UInt64) -> (Outcome, again: UInt64?) {
        var outcome = Outcome()
        let (items, again) = downloads.resume(host, now: now)
        queue(items, &outcome)
        return (outcome, again)
    }

    // MARK: Internals

    private func entry(of ticket: Ticket) -> Entry? {
        guard let entry = entries[ticket.work], entry.number == ticket.number else { return nil }
        return entry
    }

    /// Frees the place of a download.
    ///
    /// - Returns: the downloads that have it now.
    private mutating func leaveTurn(_ work: Work) -> [WorkRequest] {
        downloads.leave(work) + local.leave(work)
    }

    private mutating func put(_ work: Work, _ place: Place) { entries[work]?.place = place }

    /// Changes which downloads wait for which. Downloads that may continue enter again.
    @discardableResult
    private mutating func change<Value>(
        _ outcome: inout Outcome,
        _ body: (inout RequestCoalescer, inout RequestCoalescer.Change) -> Value
    ) -> Value {
        var change = RequestCoalescer.Change()
        let value = body(&coalescer, &change)
        for request in change.released where entries[request.work]?.place == .flight {
            entries[request.work] = nil
            outcome.again.append(request)
        }
        for request in change.failed where entries[request.work]?.place == .flight {
            entries[request.work] = nil
            outcome.failed.append(request.work)
        }
        return value
    }
}
