import DequeModule

/// Batches, or other items, that take turns: the owners in turn, and each owner's items in turn.
package struct BatchRotation<Item> {
    package typealias Owner = FairShare.Owner

    /// The items of each owner, in the order of their arrival; none is empty.
    private var lines: [Owner: Deque<Item>] = [:]
    /// When each of these owners last had a turn, or arrived, as a number that grows with each turn.
    private var turns: [Owner: Int] = [:]
    private var lastTurn = 0

    package init() {}

    package var isEmpty: Bool { lines.isEmpty }

    /// For tests: the items, in no particular order.
    var keys: [Item] { lines.values.flatMap(Array.init) }

    package mutating func append(_ item: Item, of owner: Owner) {
        if lines[owner] == nil { noteTurn(of: owner) }
        lines[owner, default: []].append(item)
    }

    /// Removes the items of an owner of which this is true.
    package mutating func remove(of owner: Owner, where isRemoved: (Item) -> Bool) {
        lines[owner]?.removeAll(where: isRemoved)
        dropIfEmpty(owner)
    }

    /// Takes the items of which this is true.
    package mutating func takeAll(where isTaken: (Item) -> Bool) -> [Item] {
        var taken: [Item] = []
        for owner in turns.sorted(by: { $0.value < $1.value }).map(\.key) {
            // It is asked once of each item: what is true of it may change in between.
            remove(of: owner) { item in
                guard isTaken(item) else { return false }
                taken.append(item)
                return true
            }
        }
        return taken
    }

    /// Takes the next item: of the owner with the fewest in work; among equals, of the one that has waited longest.
    ///
    /// - Parameters:
    ///   - share: owners with this number in work get no turn.
    ///   - atWork: the number that an owner has in work.
    package mutating func next(
        below share: Int = .max, atWork: (Owner) -> Int = { _ in 0 }
    ) -> Item? {
        let owners = lines.keys.map { (owner: $0, atWork: atWork($0), turn: turns[$0] ?? 0) }
        let next = owners.filter { $0.atWork < share }
            .min { ($0.atWork, $0.turn) < ($1.atWork, $1.turn) }
        // The owner may be unknown, so `next?.owner` would not tell an unknown one from none.
        guard let next, let item = lines[next.owner]?.popFirst() else { return nil }
        noteTurn(of: next.owner)
        dropIfEmpty(next.owner)
        return item
    }

    private mutating func dropIfEmpty(_ owner: Owner) {
        guard lines[owner]?.isEmpty == true else { return }
        lines[owner] = nil
        turns[owner] = nil
    }

    private mutating func noteTurn(of owner: Owner) {
        lastTurn += 1
        turns[owner] = lastTurn
    }
}

extension BatchRotation: Sendable where Item: Sendable {}
