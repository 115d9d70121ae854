import DequeModule

/// The waiting downloads of one batch and one host, in the order of their arrival. A removed one stays until its turn,
/// or until the removed ones are the larger part, so that a removal costs little.
struct DownloadLine: Sendable {
    /// Distinguishes an entry from removed entries of the same work.
    typealias Number = Int

    private var entries: Deque<(number: Number, item: WorkRequest)> = []
    /// The number of entries that have not been removed.
    private(set) var count = 0
    /// When it was last served, or arrived, as a number that grows with each turn.
    var turn: Int

    init(turn: Int) { self.turn = turn }

    mutating func add(_ number: Number, _ item: WorkRequest) {
        entries.append((number, item))
        count += 1
    }

    /// Takes the next entry, which may have been removed. If it has not, call `take()`.
    mutating func next() -> (number: Number, item: WorkRequest)? { entries.popFirst() }

    /// One of the downloads does not wait any more.
    mutating func take() { count -= 1 }

    /// Whether the removed entries are the larger part.
    var isSparse: Bool { entries.count > 2 * count + 64 }

    /// A copy without the removed entries.
    func compacted(_ isWaiting: (Number, Work) -> Bool) -> DownloadLine {
        var line = self
        line.entries.removeAll { !isWaiting($0.number, $0.item.work) }
        return line
    }
}
