import HeapModule

/// Whose turn it is among batches that share something.
///
/// The highest level that has anyone goes first. Within it the owner who has the fewest pieces at work is next, and of
/// that owner's batches the one that has the fewest; among equals, the one that has been without a turn for longest. So
/// the pieces at work become as many for each owner, and for each of an owner's batches, as the owner or batch has use for
/// (max-min fairness), and a user with fifty manifests gets no more than one with a single manifest.
///
/// A value without threads. A turn costs a look at each owner that has anything ready, and the logarithm of the number of
/// batches.
struct FairOrder: Sendable {
    /// Who submitted a manifest; nil where that is not known.
    typealias Owner = UInt32?

    private struct Standing: Sendable {
        var atWork = 0
        /// When a piece of it began or ended last, or it came; grows from event to event.
        var turn: Int

        func isBefore(_ other: Standing) -> Bool { (atWork, turn) < (other.atWork, other.turn) }
    }

    private struct Member: Sendable {
        let owner: Owner
        let level: Int
        var standing: Standing
        var isReady = false
    }

    private struct Party: Sendable {
        var standing: Standing
        /// Of its pieces at work, those of each level.
        var atWork = [Int](repeating: 0, count: Level.count)
        /// How many of its batches are known here.
        var batches = 0
    }

    /// A batch, and the turn it waits since.
    private struct Wait: Comparable, Sendable {
        let turn: Int
        let batch: BatchKey

        static func < (left: Wait, right: Wait) -> Bool { left.turn < right.turn }
    }

    /// Of whom a piece may begin.
    enum Entrants: Sendable {
        case all
        /// Batches that have nothing at work, while their owner has nothing at work of a higher level.
        case idleBatches
        /// Batches whose owner has nothing at work.
        case idleOwners
    }

    /// The batches of one owner and level that have something ready.
    private struct Line: Sendable {
        var count = 0
        /// By how many pieces they have at work. What a batch was once, but is not any more, stays until it is first.
        var heaps: [Int: Heap<Wait>] = [:]
    }

    private var members: [BatchKey: Member] = [:]
    private var parties: [Owner: Party] = [:]
    /// By level; none is empty.
    private var lines = [[Owner: Line]](repeating: [:], count: Level.count)
    /// By level.
    private var atWork = [Int](repeating: 0, count: Level.count)
    private var lastTurn = 0

    /// Nobody is remembered who has nothing ready and nothing at work.
    var isEmpty: Bool { members.isEmpty && parties.isEmpty && lines.allSatisfy(\.isEmpty) }

    // MARK: What happens

    /// A batch has something ready for a turn, or has nothing any more.
    mutating func setReady(_ batch: BatchKey, _ isReady: Bool, owner: Owner, level: Int) {
        join(batch, owner, level)
        guard let member = members[batch] else { return }
        if member.isReady != isReady {
            members[batch]?.isReady = isReady
            lines[member.level][member.owner, default: Line()].count += isReady ? 1 : -1
            if lines[member.level][member.owner]?.count == 0 {
                lines[member.level][member.owner] = nil
            }
            queue(batch)
        }
        dropIfIdle(batch)
    }

    /// A piece of a batch has got its turn.
    mutating func began(_ batch: BatchKey, owner: Owner, level: Int) {
        join(batch, owner, level)
        count(1, of: batch)
    }

    /// A piece of a batch that had its turn is done.
    mutating func ended(_ batch: BatchKey) {
        count(-1, of: batch)
        dropIfIdle(batch)
    }

    private mutating func count(_ change: Int, of batch: BatchKey) {
        guard let (owner, level) = members[batch].map({ ($0.owner, $0.level) }) else { return }
        lastTurn += 1
        atWork[level] += change
        members[batch]?.standing.atWork += change
        members[batch]?.standing.turn = lastTurn
        parties[owner]?.standing.atWork += change
        parties[owner]?.standing.turn = lastTurn
        parties[owner]?.atWork[level] += change
        queue(batch)
    }

    private mutating func queue(_ batch: BatchKey) {
        guard let member = members[batch], member.isReady else { return }
        let (owner, level, atWork) = (member.owner, member.level, member.standing.atWork)
        lines[level][owner]?.heaps[atWork, default: []]
            .insert(.init(turn: member.standing.turn, batch: batch))
        // What is not current any more would pile up in heaps that are never come to.
        if let line = lines[level][owner], let heap = line.heaps[atWork],
            heap.count > 2 * line.count + 64
        {
            let current = heap.unordered.filter { isCurrent($0, atWork) }
            lines[level][owner]?.heaps[atWork] = Heap(current)
        }
    }

    private mutating func join(_ batch: BatchKey, _ owner: Owner, _ level: Int) {
        guard members[batch] == nil else { return }
        lastTurn += 1
        members[batch] = Member(owner: owner, level: level, standing: Standing(turn: lastTurn))
        parties[owner, default: Party(standing: Standing(turn: lastTurn))].batches += 1
    }

    private mutating func dropIfIdle(_ batch: BatchKey) {
        guard let member = members[batch], !member.isReady, member.standing.atWork == 0
        else { return }
        members[batch] = nil
        parties[member.owner]?.batches -= 1
        if parties[member.owner]?.batches == 0 { parties[member.owner] = nil }
    }

    // MARK: Who is next

    /// The batch whose turn it is; nil where nobody may have one.
    ///
    /// - Parameter places: how many pieces may be at work. Then some are kept back for whoever comes next: with n places
    ///   free, a batch that has 3·n pieces at work gets no further one, nor does an owner that has 7·n. What lower levels
    ///   have counts as free here, so that a level fares as if they were not there, but for the owner's own.
    mutating func next(of places: Int? = nil, for entrants: Entrants = .all) -> BatchKey? {
        var atWork = 0
        for level in lines.indices.reversed() {
            atWork += self.atWork[level]
            if lines[level].isEmpty { continue }
            let free = places.map { $0 - atWork }
            let owners = lines[level].keys.filter {
                mayHaveMore($0, at: level, free: free) && isAmong(entrants, $0, at: level)
            }
            let share = entrants == .all ? free.map { 3 * $0 } : 1
            for owner in owners.sorted(by: isBefore) {
                if let batch = first(of: owner, at: level, below: share) { return batch }
            }
        }
        return nil
    }

    private func isAmong(_ entrants: Entrants, _ owner: Owner, at level: Int) -> Bool {
        guard let party = parties[owner] else { return true }
        return switch entrants {
        case .all: true
        case .idleBatches: party.atWork[(level + 1)...].allSatisfy { $0 == 0 }
        case .idleOwners: party.standing.atWork == 0
        }
    }

    private func mayHaveMore(_ owner: Owner, at level: Int, free: Int?) -> Bool {
        guard let free, let party = parties[owner] else { return true }
        return party.standing.atWork < 7 * (free - party.atWork[..<level].reduce(0, +))
    }

    private func isBefore(_ one: Owner, _ other: Owner) -> Bool {
        guard let standing = parties[one]?.standing, let otherStanding = parties[other]?.standing
        else { return false }
        return standing.isBefore(otherStanding)
    }

    private mutating func first(
        of owner: Owner, at level: Int, below share: Int?
    ) -> BatchKey? {
        for atWork in lines[level][owner]?.heaps.keys.sorted() ?? [] {
            if let share, atWork >= share { return nil }
            while let entry = lines[level][owner]?.heaps[atWork]?.min {
                if isCurrent(entry, atWork) { return entry.batch }
                lines[level][owner]?.heaps[atWork]?.removeMin()
            }
            lines[level][owner]?.heaps[atWork] = nil
        }
        return nil
    }

    /// Whether a heap's entry says what its batch is now. It may be there twice, where it became ready again.
    private func isCurrent(_ entry: Wait, _ atWork: Int) -> Bool {
        guard let member = members[entry.batch], member.isReady else { return false }
        return member.standing.atWork == atWork && member.standing.turn == entry.turn
    }
}
