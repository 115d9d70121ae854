/// Which filters are handed to their queue next.
///
/// The queue starts operations of one priority in the order in which they came, so that a small batch would wait
/// for all images that others have ready. It is therefore handed a few at a time, and what is ready waits here:
/// the highest level first, and within a level the batches take turns, an image each.
///
/// A value without threads; the scheduler holds it under a lock.
struct FilterTurns {
    typealias Item = StorageWaits.Item

    /// How many the queue is to hold: enough that no thread of it finds it empty.
    var width: Int
    private var inQueue: Set<Work> = []
    /// Those that wait, by batch, in their order.
    private var waiting: [BatchKey: [Item]] = [:]
    /// The batches that have any, by level.
    private var rotation = [Rotation](repeating: Rotation(), count: Level.count)
    private(set) var waitingCount = 0

    init(width: Int) {
        self.width = width
    }

    /// Takes in a filter that is ready, and gives those that go into the queue now. One that comes `atOnce` waits
    /// for nobody: it has been granted memory that others wait for, or is tried to see whether the disk works.
    mutating func add(_ item: Item, atOnce: Bool) -> [Item] {
        guard !atOnce, case .filter(let batch, _) = item.work else {
            inQueue.insert(item.work)
            return [item]
        }
        if waiting[batch] == nil { rotation[Level(item.priority, item.quality).index].append(batch) }
        waiting[batch, default: []].append(item)
        waitingCount += 1
        return take()
    }

    /// A filter has left the queue. Gives those that take its place.
    mutating func ended(_ work: Work) -> [Item] {
        inQueue.remove(work) == nil ? [] : take()
    }

    /// A filter is not wanted any more, wherever it is. Gives those that take its place.
    mutating func remove(_ work: Work) -> [Item] {
        guard inQueue.remove(work) == nil else { return take() }
        guard case .filter(let batch, _) = work,
            let place = waiting[batch]?.firstIndex(where: { $0.work == work })
        else { return [] }
        waiting[batch]?.remove(at: place)
        waitingCount -= 1
        return []
    }

    private mutating func take() -> [Item] {
        var taken: [Item] = []
        while inQueue.count < width, let item = next() {
            inQueue.insert(item.work)
            taken.append(item)
        }
        return taken
    }

    private mutating func next() -> Item? {
        for level in rotation.indices.reversed() {
            while let batch = rotation[level].next() {
                guard var items = waiting.removeValue(forKey: batch), !items.isEmpty else {
                    continue
                }
                let item = items.removeFirst()
                waitingCount -= 1
                if !items.isEmpty {
                    waiting[batch] = items
                    rotation[level].append(batch)
                }
                return item
            }
        }
        return nil
    }
}
