import HeapModule

/// Selects whose turn it is among batches that share something.
///
/// The highest level with a ready batch comes first. Within it the owner with the fewest pieces in work is next, and of
/// that owner's batches the one with the fewest; among equals, the one that has waited longest for a turn. So each
/// owner, and each of an owner's batches, gets the same number of pieces in work, as far as it needs them (max-min
/// fairness). A user with fifty manifests gets no more than one with a single manifest.
///
/// A value without threads. A turn costs one check of each owner with something ready, and the logarithm of the number
/// of batches.
package struct FairShare: Sendable {
    /// The user who submitted a manifest; nil if it is not known.
    package typealias Owner = UInt32?

    private struct Standing: Sendable {
        var atWork = 0
        /// The time when a piece of it last began or ended, or when it arrived, as a number that grows with each event.
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
        /// Its pieces in work, for each level.
        var atWork = [Int](repeating: 0, count: Level.count)
        /// The number of its batches here.
        var batches = 0
    }

    /// A batch, and the turn since which it has waited.
    private struct Wait: Comparable, Sendable {
        let turn: Int
        let batch: BatchKey

        static func < (left: Wait, right: Wait) -> Bool { left.turn < right.turn }
    }

    /// Whose piece may begin.
    enum Entrants: Sendable {
        case all
        /// Batches with nothing in work, if their owner has nothing in work at a higher level.
        case idleBatches
        /// Batches whose owner has nothing in work.
        case idleOwners
    }

    /// The batches of one owner and level that have something ready.
    private struct Line: Sendable {
        var count = 0
        /// By the number of their pieces in work. Outdated entries stay until they are first.
        var heaps: [Int: Heap<Wait>] = [:]
    }

    private var members: [BatchKey: Member] = [:]
    private var parties: [Owner: Party] = [:]
    /// By level; none is empty.
    private var lines = [[Owner: Line]](repeating: [:], count: Level.count)
    /// By level.
    private var atWork = [Int](repeating: 0, count: Level.count)
    private var lastTurn = 0

    /// Whether nothing is remembered: nobody has anything ready or in work.
    var isEmpty: Bool { members.isEmpty && parties.isEmpty && lines.allSatisfy(\.isEmpty) }

    // MARK: Events

    /// A batch has something ready for a turn, or has nothing ready any more.
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

    /// A piece of a batch that had its turn has ended.
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
        // Otherwise outdated entries would collect in heaps that are never read.
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

    // MARK: The next batch

    /// The batch whose turn it is; nil if no batch may have one.
    ///
    /// - Parameter places: how many pieces may be in work. If given, some places are kept for batches that arrive next
    ///   (part 2 of the rule at `DownloadFairQueue`).
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

    private mutating func first(of owner: Owner, at level: Int, below share: Int?) -> BatchKey? {
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

    /// Whether a heap's entry is up to date. A batch that became ready again may have two entries.
    private func isCurrent(_ entry: Wait, _ atWork: Int) -> Bool {
        guard let member = members[entry.batch], member.isReady else { return false }
        return member.standing.atWork == atWork && member.standing.turn == entry.turn
    }
}
