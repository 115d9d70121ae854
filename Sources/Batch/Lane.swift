import DequeModule

/// Downloads of one batch and one host that wait, in the order in which they came. One that is removed stays until its
/// turn or until what was removed is the larger part, so that removing costs little.
struct Lane: Sendable {
    /// Tells an entry from others of the same work that were removed.
    typealias Number = Int

    private var entries: Deque<(number: Number, item: WorkRequest)> = []
    /// How many have not been removed.
    private(set) var count = 0
    /// When it was served last, or came; grows from turn to turn.
    var turn: Int

    init(turn: Int) {
        self.turn = turn
    }

    mutating func add(_ number: Number, _ item: WorkRequest) {
        entries.append((number, item))
        count += 1
    }

    /// The next entry, which may be one that was removed; to be told of by `take()` if it is not.
    mutating func next() -> (number: Number, item: WorkRequest)? {
        entries.popFirst()
    }

    /// One of them does not wait any more.
    mutating func take() { count -= 1 }

    /// Whether what was removed is the larger part.
    var isSparse: Bool { entries.count > 2 * count + 64 }

    /// The same without what was removed.
    func compacted(_ isWaiting: (Number, Work) -> Bool) -> Lane {
        var lane = self
        lane.entries.removeAll { !isWaiting($0.number, $0.item.work) }
        return lane
    }
}
