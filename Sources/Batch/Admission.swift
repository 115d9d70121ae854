import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool

/// Where each piece of work stands between the board's wish and its end.
///
/// A piece that is wanted enters. From then on it has one place, until it leaves: an operation was made for it and has
/// ended, or nobody wants it any more. Whatever keeps it moving is asked here, in one order: another download of the same
/// URL (`RequestCoalescer`), the disk (`StorageBacklog`), its host and its turn (`DownloadFairQueue`, `FilterFairQueue`).
///
/// | place   | what it waits for                | an event moves it                                             |
/// |---------|----------------------------------|---------------------------------------------------------------|
/// | –       |                                  | `enter` → flight, storage, turn or queued                     |
/// | flight  | another download of the same URL | that ends: `again`, so it enters anew, or it has failed as well |
/// | storage | a disk that refuses writes       | `storageWorks`, `tryStorage`: `again`                         |
/// | turn    | a place of its host and queue    | a place is free → queued, or storage                          |
/// | queued  | its operation's thread           | `begin` → running; or it is to go back                        |
/// | running | its operation's end              | `left` → –                                                    |
/// | any     |                                  | `leave` → –                                                   |
///
/// Each entry has a number, which the operation made for it carries. One that was made for a former entry begins nothing
/// and ends nothing.
///
/// A value without threads, queues or files: every call changes it and says what follows. The board holds it, under its
/// lock.
struct Admission: Sendable {
    enum Place: Sendable, CaseIterable { case flight, storage, turn, queued, running }

    /// A piece of work that is wanted, with what decides on its way.
    struct Wish: Sendable, Equatable {
        let request: WorkRequest
        /// Who submitted its manifest.
        let owner: FairOrder.Owner
        /// Of a download, what the manifest says of its source.
        var text: ByteString?
        /// nil for a file of this machine.
        var host: ByteString?
        /// By which downloads are known to be of the same; nil where nothing is kept.
        var cacheKey: CacheKey?
        /// Of a filter, whether it has been granted memory that others wait for.
        var isGranted = false
        /// What an attempt to write with it is about.
        let piece: StorageBacklog.Piece

        var work: Work { request.work }
    }

    /// One entry of a piece of work.
    struct Ticket: Hashable, Sendable {
        let work: Work
        let number: Int
    }

    /// An operation to be made, and put into its queue.
    struct Start: Equatable, Sendable {
        let request: WorkRequest
        let ticket: Ticket
        /// Of a download.
        let text: ByteString?
        /// Of a download, whether it is of a file of this machine.
        let isLocal: Bool
        /// Of a filter, the queue.
        let lane: Int?
    }

    /// What follows from an event.
    struct Outcome: Equatable, Sendable {
        var starts: [Start] = []
        /// Downloads that wait outside the queue from now on.
        var waiting: [Work] = []
        /// These are to enter anew.
        var again: [WorkRequest] = []
        /// These have failed like the download they waited for.
        var failed: [Work] = []
        /// Whether the piece that was to try the disk will not come to it soon.
        var isUndecided = false
    }

    /// What an operation does whose thread has come.
    enum Beginning: Equatable, Sendable {
        /// Nothing: it is not wanted any more.
        case unwanted
        /// Nothing: it has to leave, and may enter anew.
        case back
        /// Its work; of a download, taking part in what the cache does.
        case goes(RequestCoalescer.Turn)
    }

    private struct Entry: Sendable {
        let wish: Wish
        let number: Int
        var place: Place?
    }

    private var entries: [Work: Entry] = [:]
    private var lastNumber = 0
    private var coalescer = RequestCoalescer()
    private var storage = StorageBacklog()
    private(set) var downloads: DownloadFairQueue
    /// The same of files of this machine, which are looked at in a queue of their own: no server may keep them waiting.
    private(set) var local: DownloadFairQueue
    private(set) var filters: FilterFairQueue
    /// Whether the disk takes writes, as far as is known here.
    var isStorageWorking = true

    init(downloads: DownloadFairQueue.Limits, filters: FilterPlaces) {
        self.downloads = DownloadFairQueue(limits: downloads)
        local = DownloadFairQueue(limits: downloads)
        self.filters = FilterFairQueue(places: filters)
    }

    /// Where a piece of work is; nil where it has not entered, or has left.
    func place(of work: Work) -> Place? { entries[work]?.place }

    /// How many pieces of work have entered and not left.
    var count: Int { entries.count }

    var isEmpty: Bool { entries.isEmpty && coalescer.isEmpty && storage.isEmpty }

    /// For tests: whether each part knows exactly the work whose place it is.
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

    /// Downloads, files of this machine included, that wait for a place of their queue, and for nothing else.
    var waitingForPlaceCount: Int { downloads.waitingForPlaceCount + local.waitingForPlaceCount }

    // MARK: In

    /// A piece of work is wanted. What has entered already stays where it is.
    mutating func enter(_ wish: Wish) -> Outcome {
        var outcome = Outcome()
        guard entries[wish.work] == nil else { return outcome }
        lastNumber += 1
        entries[wish.work] = Entry(wish: wish, number: lastNumber)
        let hasFlown = wish.cacheKey.map { join($0, wish, &outcome) } ?? true
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

    /// Whether a download goes on; if not, it waits for another one of the same URL.
    private mutating func join(_ key: CacheKey, _ wish: Wish, _ outcome: inout Outcome) -> Bool {
        change(&outcome) { $0.enter(wish.request, key, &$1) }
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

    /// A download waits outside the queue. If the disk was to be tried with it, that may take longer than anything else.
    private mutating func wait(_ wish: Wish, _ place: Place, _ outcome: inout Outcome) {
        put(wish.work, place)
        outcome.waiting.append(wish.work)
        if endAttempt(of: wish.piece) { outcome.isUndecided = true }
    }

    // MARK: On

    /// Those that have got places go into the queue, unless the disk refuses writes.
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
                start(entry, lane: nil, &outcome)
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
            start(entry, lane: turn.lane, &outcome)
        }
    }

    private mutating func start(_ entry: Entry, lane: Int?, _ outcome: inout Outcome) {
        put(entry.wish.work, .queued)
        outcome.starts.append(
            Start(
                request: entry.wish.request,
                ticket: Ticket(work: entry.wish.work, number: entry.number),
                text: entry.wish.text, isLocal: entry.wish.host == nil, lane: lane))
    }

    /// Filters begin where there are places for them: to be called when all that an event has changed is known.
    mutating func takeTurns() -> Outcome {
        var outcome = Outcome()
        queue(filters.take(), &outcome)
        return outcome
    }

    /// An operation's thread has come.
    ///
    /// - Parameter key: of a download, what it is kept by as things are now; nil where nothing is.
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

    /// A download that runs and was to copy what another has fetched did not find it.
    mutating func rejoin(_ ticket: Ticket, _ key: CacheKey) -> (RequestCoalescer.Turn, Outcome) {
        var outcome = Outcome()
        let turn = change(&outcome) { $0.begin(ticket.work, key, &$1) }
        return (turn, outcome)
    }

    /// Whether others wait for a download.
    func hasWaiters(_ work: Work) -> Bool { coalescer.hasWaiters(work) }

    // MARK: Out

    /// An operation has ended, or goes back. Its work may enter anew at once.
    mutating func left(_ ticket: Ticket) -> Outcome {
        var outcome = Outcome()
        guard entry(of: ticket) != nil else { return outcome }
        entries[ticket.work] = nil
        filters.leave(ticket.work)
        queue(leaveTurn(ticket.work), &outcome)
        return outcome
    }

    /// How a download has ended, for those that wait for it. It may have left before.
    mutating func ended(_ work: Work, _ ending: RequestCoalescer.Ending) -> Outcome {
        var outcome = Outcome()
        change(&outcome) { $0.end(work, ending, &$1) }
        return outcome
    }

    /// A piece of work is not wanted any more, wherever it is. Gives the operation that is to be cancelled, if one was
    /// made: it begins nothing any more.
    mutating func leave(_ work: Work) -> (Ticket?, Outcome) {
        var outcome = Outcome()
        let entry = entries.removeValue(forKey: work)
        if entry?.place == .storage { storage.remove(work) }
        filters.remove(work)
        queue(downloads.remove(work) + local.remove(work), &outcome)
        change(&outcome) { $0.remove(work, &$1) }
        guard let entry else { return (nil, outcome) }
        if endAttempt(of: entry.wish.piece) { outcome.isUndecided = true }
        let hasOperation = entry.place == .queued || entry.place == .running
        return (hasOperation ? Ticket(work: work, number: entry.number) : nil, outcome)
    }

    // MARK: The disk

    /// Whether a piece of work may write, for the disk takes it or is to be tried with it.
    private func mayWrite(_ piece: StorageBacklog.Piece) -> Bool {
        isStorageWorking || storage.tried == piece
    }

    /// Batches whose folders are to be read when the disk works again.
    mutating func add(unprepared key: BatchKey, _ folders: BatchFolders) {
        storage.add(unprepared: key, folders)
    }

    mutating func takeUnprepared() -> (BatchKey, BatchFolders)? { storage.takeUnprepared() }

    /// The disk works again: all that waited for it.
    mutating func storageWorks() -> (Outcome, [(BatchKey, BatchFolders)]) {
        isStorageWorking = true
        let waited = storage.takeAll()
        for request in waited.items { entries[request.work] = nil }
        return (Outcome(again: waited.items), waited.unprepared)
    }

    /// Lets one piece of work go, to see whether the disk works; nil where none waits for it.
    mutating func tryStorage() -> Outcome? {
        guard let request = storage.takeOne(),
            let entry = entries.removeValue(forKey: request.work)
        else { return nil }
        storage.tried = entry.wish.piece
        return Outcome(again: [request])
    }

    /// What was tried has come to its end, or will not. False for any other piece.
    ///
    /// - Parameter piece: nil for one of a batch that nothing is known of any more.
    mutating func endAttempt(of piece: StorageBacklog.Piece?) -> Bool {
        guard storage.tried != nil, piece == nil || storage.tried == piece else { return false }
        storage.tried = nil
        return true
    }

    // MARK: Hosts and widths

    mutating func setLimits(
        downloads limits: DownloadFairQueue.Limits, filters places: FilterPlaces
    ) -> Outcome {
        var outcome = Outcome()
        filters.places = places
        queue(downloads.setLimits(limits) + local.setLimits(limits), &outcome)
        return outcome
    }

    /// Lets no download of a host begin before a moment, see `DownloadFairQueue`.
    mutating func pause(
        _ host: ByteString, until: UInt64, now: UInt64, at time: String
    ) -> Bool {
        downloads.pause(host, until: until, now: now, at: time)
    }

    /// Ends a host's pause if it is over; if not, gives when to come again.
    mutating func resume(_ host: ByteString, now: UInt64) -> (Outcome, again: UInt64?) {
        var outcome = Outcome()
        let (items, again) = downloads.resume(host, now: now)
        queue(items, &outcome)
        return (outcome, again)
    }

    // MARK: Within

    private func entry(of ticket: Ticket) -> Entry? {
        guard let entry = entries[ticket.work], entry.number == ticket.number else { return nil }
        return entry
    }

    /// Takes back the place that a download has. Gives those that have it now.
    private mutating func leaveTurn(_ work: Work) -> [WorkRequest] {
        downloads.leave(work) + local.leave(work)
    }

    private mutating func put(_ work: Work, _ place: Place) { entries[work]?.place = place }

    /// Changes who waits for whom. Those who go on by it enter anew.
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
