import DequeModule

/// Batches that take turns: the owners in turn, and each owner's batches in turn.
struct BatchRotation {
    /// The batches of each owner, in the order of their arrival; none is empty.
    private var lines: [FairShare.Owner: Deque<BatchKey>] = [:]
    /// When each of these owners last had a turn, or arrived, as a number that grows with each turn.
    private var turns: [FairShare.Owner: Int] = [:]
    private var lastTurn = 0

    /// For tests: the batches, in no particular order.
    var keys: [BatchKey] { lines.values.flatMap(Array.init) }

    mutating func append(_ key: BatchKey, of owner: FairShare.Owner) {
        if lines[owner] == nil { noteTurn(of: owner) }
        lines[owner, default: []].append(key)
    }

    mutating func remove(_ key: BatchKey, of owner: FairShare.Owner) {
        guard let place = lines[owner]?.firstIndex(of: key) else { return }
        lines[owner]?.remove(at: place)
        dropIfEmpty(owner)
    }

    /// Takes the next batch: of the owner with the fewest in work; among equals, of the one that has waited longest.
    ///
    /// - Parameters:
    ///   - share: owners with this number in work get no turn.
    ///   - atWork: the number that an owner has in work.
    mutating func next(below share: Int, atWork: (FairShare.Owner) -> Int) -> BatchKey? {
        let owners = lines.keys.map { (owner: $0, atWork: atWork($0), turn: turns[$0] ?? 0) }
        let next = owners.filter { $0.atWork < share }
            .min { ($0.atWork, $0.turn) < ($1.atWork, $1.turn) }
        // The owner may be unknown, so `next?.owner` would not tell an unknown one from none.
        guard let next, let key = lines[next.owner]?.popFirst() else { return nil }
        let owner = next.owner
        noteTurn(of: owner)
        dropIfEmpty(owner)
        return key
    }

    private mutating func dropIfEmpty(_ owner: FairShare.Owner) {
        guard lines[owner]?.isEmpty == true else { return }
        lines[owner] = nil
        turns[owner] = nil
    }

    private mutating func noteTurn(of owner: FairShare.Owner) {
        lastTurn += 1
        turns[owner] = lastTurn
    }
}
