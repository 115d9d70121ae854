/// Who has how much of the memory there is for pictures in work, and who waits for some.
///
/// A value without threads: `Board` holds it, and decides what becomes of those it names. An image has the
/// share that each needs from its beginning on, and asks for more when its header is read. Nobody waits
/// with memory in hand: who cannot be given what it asks for gives back what it has, so that images
/// never wait for each other.
///
/// Large ones wait and small ones pass, but not for ever: when one has been passed by `patience` others,
/// nobody but it is given anything until it has what it needs; but for the part that is kept.
///
/// No more have memory at once than there are places (`FilterPlaces`). A part of the memory is kept as some of these are,
/// for owners who have none at work, because nothing bounds the time for which the others need theirs. An image has
/// all it needs of the one part or of the other, so none may need more than what is not kept. Of the kept part an image
/// may have a 32nd, or `smallNeed`, so that those of many owners fit. The bound: an owner who has nothing at work is given
/// so much at once, unless others have taken all of it who had nothing either; of 1 GiB and more these are 32. That holds also while an image has all that is everybody's (`Need.everything`), which may take as long as any.
struct MemoryBudget {
    struct Ticket: Hashable, Sendable {
        let batch: BatchKey
        let image: Int
    }

    enum Need: Equatable {
        /// At most so many bytes.
        case bytes(Int)
        /// What each picture needs, or all there is.
        static let least = bytes(0)
        /// All that is everybody's: beside it runs only who has memory of the part that is kept.
        case everything
    }

    /// What each picture needs at least: file buffers, decoder, encoder. Where there is less, it may begin with
    /// all there is, to hear from its header how much it lacks.
    static let share = 4 << 20
    /// An image may have so much of the kept part in any case, in bytes: enough for a photograph that is filtered row by
    /// row and written as PNG on two cores.
    static let smallNeed = 32 << 20
    static let patience = 64

    private struct Waiting {
        let ticket: Ticket
        let owner: FairOrder.Owner
        let need: Need
        /// The batch's standing; higher is served first.
        let level: Int
        /// How many grants there had been when it began to wait.
        let since: Int
    }

    /// What has been granted, in bytes.
    private struct Grant {
        let owner: FairOrder.Owner
        /// Of the part that is everybody's.
        var shared = 0
        /// Of the part that is kept.
        var kept = 0

        var bytes: Int { shared + kept }
    }

    /// In bytes, the part that is kept included.
    private(set) var limit = Int.max
    /// How many may have memory at once: no more than can be filtered at once, for what is granted to
    /// those that only wait in a queue is kept from others.
    private(set) var places = FilterPlaces(width: .max, keptForBatches: 0, keptForOwners: 0)
    private var sharedHeld = 0
    private var keptHeld = 0
    private var granted: [Ticket: Grant] = [:]
    private var grantsOfOwner: [FairOrder.Owner: Int] = [:]
    private var grantsOfBatch: [BatchKey: Int] = [:]
    /// The highest level first, and in each who came first.
    private var waiting: [Waiting] = []
    private var grants = 0

    /// In bytes.
    var held: Int { sharedHeld + keptHeld }
    var waitingCount: Int { waiting.count }

    /// The part that is for owners who have none at work, in bytes.
    private var keptLimit: Int { places.keptForOwners > 0 ? min(limit / 8, 2 << 30) : 0 }

    /// The most that an image may need, in bytes.
    var mostOfOne: Int { limit - keptLimit }

    func holds(_ ticket: Ticket) -> Bool { granted[ticket] != nil }

    /// Whether this is more than an image may need, so that waiting for it is of no use.
    func exceeds(_ bytes: Int) -> Bool { bytes > mostOfOne }

    /// Takes what is needed, which includes what the ticket has already; false where that is not to be
    /// had now.
    mutating func take(_ need: Need, for ticket: Ticket, owner: FairOrder.Owner) -> Bool {
        if let has = granted[ticket], amount(need) <= has.bytes { return true }
        guard grant(need, to: ticket, owner, inTurn: impatient.map { $0.ticket == ticket } ?? true)
        else { return false }
        if !waiting.isEmpty { waiting.removeAll { $0.ticket == ticket } }
        return true
    }

    private func amount(_ need: Need) -> Int {
        switch need {
        case .bytes(let bytes): max(bytes, min(Self.share, mostOfOne))
        case .everything: mostOfOne
        }
    }

    /// - Parameter inTurn: whether the ticket may have what is everybody's.
    private mutating func grant(
        _ need: Need, to ticket: Ticket, _ owner: FairOrder.Owner, inTurn: Bool
    ) -> Bool {
        guard hasPlace(ticket, owner), let new = offer(need, to: ticket, owner, inTurn) else {
            return false
        }
        let has = granted.updateValue(new, forKey: ticket)
        sharedHeld += new.shared - (has?.shared ?? 0)
        keptHeld += new.kept - (has?.kept ?? 0)
        if has == nil {
            grants += 1
            grantsOfOwner[owner, default: 0] += 1
            grantsOfBatch[ticket.batch, default: 0] += 1
        }
        return true
    }

    private func hasPlace(_ ticket: Ticket, _ owner: FairOrder.Owner) -> Bool {
        if granted[ticket] != nil { return true }
        return switch places.entrants(taken: granted.count) {
        case .all: true
        case .idleBatches: grantsOfBatch[ticket.batch] == nil
        case .idleOwners: grantsOfOwner[owner] == nil
        case nil: false
        }
    }

    /// What would be granted; nil where it is not to be had.
    private func offer(
        _ need: Need, to ticket: Ticket, _ owner: FairOrder.Owner, _ inTurn: Bool
    ) -> Grant? {
        let has = granted[ticket] ?? Grant(owner: owner)
        let amount = amount(need)
        if need == .everything {
            return inTurn && sharedHeld == has.shared
                ? Grant(owner: owner, shared: mostOfOne) : nil
        }
        if inTurn, amount - has.shared <= mostOfOne - sharedHeld {
            return Grant(owner: owner, shared: amount)
        }
        let others = (grantsOfOwner[owner] ?? 0) - (granted[ticket] == nil ? 0 : 1)
        let isKept = others == 0 && amount <= max(keptLimit / 32, Self.smallNeed)
        return isKept && amount - has.kept <= keptLimit - keptHeld
            ? Grant(owner: owner, kept: amount) : nil
    }

    /// Puts the ticket at the end of its level's line; what it had is free.
    mutating func wait(_ ticket: Ticket, for need: Need, level: Int, owner: FairOrder.Owner) {
        forget(ticket)
        let place = waiting.firstIndex { $0.level < level } ?? waiting.count
        waiting.insert(
            Waiting(ticket: ticket, owner: owner, need: need, level: level, since: grants),
            at: place)
    }

    /// Frees what the ticket has, and takes it out of the line. Whether there was anything to do, and so
    /// someone else may go on.
    @discardableResult
    mutating func forget(_ ticket: Ticket) -> Bool {
        if let grant = granted.removeValue(forKey: ticket) {
            sharedHeld -= grant.shared
            keptHeld -= grant.kept
            Self.countEnd(of: grant.owner, in: &grantsOfOwner)
            Self.countEnd(of: ticket.batch, in: &grantsOfBatch)
            return true
        }
        guard let place = waiting.firstIndex(where: { $0.ticket == ticket }) else { return false }
        waiting.remove(at: place)
        return true
    }

    private static func countEnd<Key>(of key: Key, in counts: inout [Key: Int]) {
        let count = (counts[key] ?? 1) - 1
        counts[key] = count > 0 ? count : nil
    }

    /// The one that has waited longest of those that have been passed too often.
    private var impatient: Waiting? {
        waiting.filter { grants - $0.since >= Self.patience }.min { $0.since < $1.since }
    }

    /// Gives those that wait what there is; names who has got what it needs and is not in line any more.
    mutating func serve() -> [Ticket] {
        var served: [Ticket] = []
        while places.entrants(taken: granted.count) != nil, held < limit {
            let first = impatient?.ticket
            let next = waiting.first {
                grant($0.need, to: $0.ticket, $0.owner, inTurn: first == nil || first == $0.ticket)
            }
            guard let next else { break }
            waiting.removeAll { $0.ticket == next.ticket }
            served.append(next.ticket)
        }
        return served
    }

    /// Changes how much there is. Names who goes on: with what it needs, or to hear that it needs too
    /// much.
    mutating func setLimits(bytes: Int, places: FilterPlaces) -> [Ticket] {
        limit = bytes
        self.places = places
        let most = mostOfOne
        let tooLarge = waiting.filter { $0.need.exceeds(most) }.map(\.ticket)
        waiting.removeAll { $0.need.exceeds(most) }
        return tooLarge + serve()
    }
}

extension MemoryBudget.Need {
    fileprivate func exceeds(_ limit: Int) -> Bool {
        if case .bytes(let bytes) = self { bytes > limit } else { false }
    }
}
