/// What waits for a pass. Its owners take turns, so that nobody waits for all that somebody else has.
struct DeliveryTurns<Item> {
    private let owner: (Item) -> UInt32?
    private var queues: [UInt32?: [Item]] = [:]
    /// The owners in `queues`, the next one first.
    private var order: [UInt32?] = []

    init(owner: @escaping (Item) -> UInt32?) { self.owner = owner }

    var isEmpty: Bool { order.isEmpty }

    mutating func append(_ item: Item) {
        let owner = owner(item)
        if queues[owner] == nil { order.append(owner) }
        queues[owner, default: []].append(item)
    }

    /// Takes the next ones.
    mutating func next(atMost most: Int) -> [Item] {
        var counts: [UInt32?: Int] = [:]
        var items: [Item] = []
        while items.count < most, !order.isEmpty {
            let owner = order.removeFirst()
            let (queue, count) = (queues[owner] ?? [], counts[owner] ?? 0)
            items.append(queue[count])
            counts[owner] = count + 1
            if count + 1 < queue.count { order.append(owner) }
        }
        for (owner, count) in counts {
            queues[owner]?.removeFirst(count)
            if queues[owner]?.isEmpty == true { queues[owner] = nil }
        }
        return items
    }

    /// Takes those of which this is true.
    mutating func removeAll(where isRemoved: (Item) -> Bool) -> [Item] {
        var removed: [Item] = []
        for owner in order {
            let queue = queues[owner] ?? []
            let gone = queue.filter(isRemoved)
            if gone.isEmpty { continue }
            removed += gone
            let rest = queue.filter { !isRemoved($0) }
            queues[owner] = rest.isEmpty ? nil : rest
        }
        order.removeAll { queues[$0] == nil }
        return removed
    }
}
