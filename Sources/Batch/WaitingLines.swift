/// The batches of one level that wait for their turn to be worked on, by owner, each owner's in the order they came.
struct WaitingLines {
    typealias Owner = FairOrder.Owner

    /// None is empty.
    private var lines: [Owner: [BatchKey]] = [:]

    var isEmpty: Bool { lines.isEmpty }
    var owners: some Collection<Owner> { lines.keys }

    subscript(owner: Owner) -> [BatchKey] { lines[owner] ?? [] }

    /// Gives a batch the place among its owner's that its key, which grows from batch to batch, stands for.
    mutating func insert(_ key: BatchKey, of owner: Owner) {
        let line = self[owner]
        // Mostly it is the newest.
        let place = line.lastIndex { $0 < key }.map { $0 + 1 } ?? 0
        lines[owner, default: []].insert(key, at: place)
    }

    mutating func remove(_ key: BatchKey, of owner: Owner) {
        guard let place = lines[owner]?.firstIndex(of: key) else { return }
        lines[owner]?.remove(at: place)
        if lines[owner]?.isEmpty == true { lines[owner] = nil }
    }
}
