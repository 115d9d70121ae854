/// The batches that wait for their turn, and how many of each owner there are besides those that are held.
struct WaitingBatches {
    private var batches: [BatchKey: Board.Waiting] = [:]
    /// None is zero.
    private var counts: [UInt32?: Int] = [:]

    var count: Int { batches.count }
    var isEmpty: Bool { batches.isEmpty }

    subscript(key: BatchKey) -> Board.Waiting? {
        get { batches[key] }
        set {
            add(-1, batches[key])
            batches[key] = newValue
            add(1, newValue)
        }
    }

    mutating func removeValue(forKey key: BatchKey) -> Board.Waiting? {
        defer { self[key] = nil }
        return batches[key]
    }

    func filter(
        _ isIncluded: ((key: BatchKey, value: Board.Waiting)) -> Bool
    ) -> [BatchKey: Board.Waiting] {
        batches.filter(isIncluded)
    }

    /// Those of an owner that are not held.
    func count(of owner: UInt32?) -> Int { counts[owner] ?? 0 }

    private mutating func add(_ change: Int, _ batch: Board.Waiting?) {
        guard let batch, !batch.isHeld else { return }
        let count = count(of: batch.uid) + change
        counts[batch.uid] = count == 0 ? nil : count
    }
}
