/// Who has how much of the memory there is for pictures in work, and who waits for some.
///
/// A value without threads: `Board` holds it, and decides what becomes of those it names. An image has the
/// share that each needs from its beginning on, and asks for more when its header is read. Nobody waits
/// with memory in hand: who cannot be given what it asks for gives back what it has, so that images
/// never wait for each other.
///
/// Large ones wait and small ones pass, but not for ever: when one has been passed by `patience` others,
/// nobody but it is given anything until it has what it needs.
struct MemoryLedger {
    struct Ticket: Hashable, Sendable {
        let batch: BatchKey
        let image: Int
    }

    enum Need: Equatable {
        /// At most so many bytes.
        case bytes(Int)
        /// All there is, so that it runs alone.
        case everything
    }

    /// What each picture needs at least: file buffers, decoder, encoder. Where there is less, it may begin with
    /// all there is, to hear from its header how much it lacks.
    static let share = 4 << 20
    static let patience = 64

    private struct Waiting {
        let ticket: Ticket
        let need: Need
        /// The batch's standing; higher is served first.
        let level: Int
        /// How many grants there had been when it began to wait.
        let since: Int
    }

    /// In bytes.
    private(set) var limit = Int.max
    /// How many may have memory at once: no more than can be filtered at once, for what is granted to
    /// those that only wait in a queue is kept from others.
    private(set) var width = Int.max
    /// In bytes.
    private(set) var held = 0
    private var granted: [Ticket: Int] = [:]
    /// The highest level first, and in each who came first.
    private var waiting: [Waiting] = []
    private var grants = 0

    var waitingCount: Int { waiting.count }

    func holds(_ ticket: Ticket) -> Bool { granted[ticket] != nil }

    /// Whether this is more than there is, so that waiting for it is of no use.
    func exceeds(_ bytes: Int) -> Bool { bytes > limit }

    /// Takes what is needed, which includes what the ticket has already; false where that is not to be
    /// had now.
    mutating func take(_ need: Need, for ticket: Ticket) -> Bool {
        if let has = granted[ticket], amount(need) <= has { return true }
        if let first = impatient, first.ticket != ticket { return false }
        guard grant(need, to: ticket) else { return false }
        if !waiting.isEmpty { waiting.removeAll { $0.ticket == ticket } }
        return true
    }

    private func amount(_ need: Need) -> Int {
        switch need {
        case .bytes(let bytes): max(bytes, min(Self.share, limit))
        case .everything: limit
        }
    }

    /// The same without regard to who else waits.
    private mutating func grant(_ need: Need, to ticket: Ticket) -> Bool {
        let amount = amount(need)
        let has = granted[ticket]
        guard amount - (has ?? 0) <= limit - held, has != nil || granted.count < width else {
            return false
        }
        granted[ticket] = amount
        held += amount - (has ?? 0)
        if has == nil { grants += 1 }
        return true
    }

    /// Puts the ticket at the end of its level's line; what it had is free.
    mutating func wait(_ ticket: Ticket, for need: Need, level: Int) {
        forget(ticket)
        let place = waiting.firstIndex { $0.level < level } ?? waiting.count
        waiting.insert(
            Waiting(ticket: ticket, need: need, level: level, since: grants), at: place)
    }

    /// Frees what the ticket has, and takes it out of the line. Whether there was anything to do, and so
    /// someone else may go on.
    @discardableResult
    mutating func forget(_ ticket: Ticket) -> Bool {
        if let bytes = granted.removeValue(forKey: ticket) {
            held -= bytes
            return true
        }
        guard let place = waiting.firstIndex(where: { $0.ticket == ticket }) else { return false }
        waiting.remove(at: place)
        return true
    }

    /// The one that has waited longest of those that have been passed too often.
    private var impatient: Waiting? {
        waiting.filter { grants - $0.since >= Self.patience }.min { $0.since < $1.since }
    }

    /// Gives those that wait what there is; names who has got what it needs and is not in line any more.
    mutating func serve() -> [Ticket] {
        var served: [Ticket] = []
        while granted.count < width, held < limit {
            let candidates = impatient.map { [$0] } ?? waiting
            guard let next = candidates.first(where: { grant($0.need, to: $0.ticket) }) else {
                break
            }
            waiting.removeAll { $0.ticket == next.ticket }
            served.append(next.ticket)
        }
        return served
    }

    /// Changes how much there is. Names who goes on: with what it needs, or to hear that it needs too
    /// much.
    mutating func setLimits(bytes: Int, width: Int) -> [Ticket] {
        limit = bytes
        self.width = width
        let tooLarge = waiting.filter { $0.need.exceeds(bytes) }.map(\.ticket)
        waiting.removeAll { $0.need.exceeds(bytes) }
        return tooLarge + serve()
    }
}

extension MemoryLedger.Need {
    fileprivate func exceeds(_ limit: Int) -> Bool {
        if case .bytes(let bytes) = self { bytes > limit } else { false }
    }
}
