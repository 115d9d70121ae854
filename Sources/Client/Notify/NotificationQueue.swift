import DarkroomCore

/// The ends that are still to be notified, in their order. One call runs at a time, and the first end waits for its next
/// try before all others.
struct NotificationQueue {
    struct Item {
        var end: BatchEnd
        var tries = 0
        /// The time of the next call, by `Clock.uptime`.
        var due = 0.0
    }

    private var items: [ByteString: Item] = [:]
    /// The IDs in the reverse order of their ends, also of ends that are not there any more.
    private var order: [ByteString] = []
    private var isSorted = true

    var count: Int { items.count }

    /// Adds an end, or replaces the former one of the batch.
    mutating func add(_ item: Item) {
        items[ByteString(item.end.id)] = item
        isSorted = false
    }

    mutating func first() -> Item? {
        if !isSorted {
            order = items.values.sorted { BatchEnd.isBefore($1.end, $0.end) }
                .map { ByteString($0.end.id) }
            isSorted = true
        }
        while let last = order.last {
            if let item = items[last] { return item }
            order.removeLast()
        }
        return nil
    }

    @discardableResult
    mutating func remove(_ id: String) -> Item? { items.removeValue(forKey: ByteString(id)) }

    mutating func postpone(_ id: String, tries: Int, until due: Double) {
        items[ByteString(id)]?.tries = tries
        items[ByteString(id)]?.due = due
    }
}
