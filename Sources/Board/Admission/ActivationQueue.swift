/// The batches of one level that wait for their turn, for each owner in the order of their arrival.
struct ActivationQueue {
    typealias Owner = FairShare.Owner

    /// None is empty.
    private var lines: [Owner: [BatchKey]] = [:]

    var isEmpty: Bool { lines.isEmpty }
    var owners: some Collection<Owner> { lines.keys }

    subscript(owner: Owner) -> [BatchKey] { lines[owner] ?? [] }

    /// Inserts a batch into its owner's line by its key. Keys increase from batch to batch.
    mutating func insert(_ key: BatchKey, of owner: Owner) {
        let line = self[owner]
        // Usually it is the newest one.
        let place = line.lastIndex { $0 < key }.map { $0 + 1 } ?? 0
        lines[owner, default: []].insert(key, at: place)
    }

    mutating func remove(_ key: BatchKey, of owner: Owner) {
        guard let place = lines[owner]?.firstIndex(of: key) else { return }
        lines[owner]?.remove(at: place)
        if lines[owner]?.isEmpty == true { lines[owner] = nil }
    }
}
