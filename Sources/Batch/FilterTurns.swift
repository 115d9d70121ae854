/// Which filters are handed to their queue next.
///
/// The queue starts operations of one priority in the order in which they came, so that a small batch would wait
/// for all images that others have ready. It is therefore handed a few at a time, and what is ready waits here:
/// the highest level first, and within a level in turns of owners and of their batches, an image each (`FairOrder`).
/// So the next image of an owner who has none at work is begun as soon as one that is ends, however many manifests
/// others have; no processor is kept back for it.
///
/// A value without threads; the scheduler holds it under a lock.
struct FilterTurns {
    typealias Item = StorageWaits.Item

    /// The images of a batch that wait, in their order.
    private struct Line {
        let owner: FairOrder.Owner
        let level: Int
        var items: [Item] = []
    }

    /// How many the queue is to hold: enough that no thread of it finds it empty.
    var width: Int
    private var inQueue: Set<Work> = []
    /// None is empty.
    private var waiting: [BatchKey: Line] = [:]
    private var order = FairOrder()
    private(set) var waitingCount = 0

    init(width: Int) {
        self.width = width
    }

    /// Takes in a filter that is ready, and gives those that go into the queue now. One that comes `atOnce` waits
    /// for nobody: it has been granted memory that others wait for, or is tried to see whether the disk works.
    mutating func add(_ item: Item, owner: FairOrder.Owner, atOnce: Bool) -> [Item] {
        guard case .filter(let batch, _) = item.work else { return [item] }
        let level = Level(item.priority, item.quality).index
        if atOnce {
            if inQueue.insert(item.work).inserted {
                order.began(batch, owner: owner, level: level)
            }
            return [item]
        }
        waiting[batch, default: Line(owner: owner, level: level)].items.append(item)
        waitingCount += 1
        order.setReady(batch, true, owner: owner, level: level)
        return take()
    }

    /// A filter has left the queue. Gives those that take its place.
    mutating func ended(_ work: Work) -> [Item] { leave(work) ? take() : [] }

    /// A filter is not wanted any more, wherever it is. Gives those that take its place.
    mutating func remove(_ work: Work) -> [Item] {
        if leave(work) { return take() }
        guard case .filter(let batch, _) = work,
            let place = waiting[batch]?.items.firstIndex(where: { $0.work == work })
        else { return [] }
        waiting[batch]?.items.remove(at: place)
        waitingCount -= 1
        dropIfEmpty(batch)
        return []
    }

    private mutating func leave(_ work: Work) -> Bool {
        guard case .filter(let batch, _) = work, inQueue.remove(work) != nil else { return false }
        order.ended(batch)
        return true
    }

    private mutating func take() -> [Item] {
        var taken: [Item] = []
        while inQueue.count < width, let batch = order.next(),
            let item = waiting[batch]?.items.removeFirst()
        {
            inQueue.insert(item.work)
            waitingCount -= 1
            if let line = waiting[batch] {
                order.began(batch, owner: line.owner, level: line.level)
            }
            dropIfEmpty(batch)
            taken.append(item)
        }
        return taken
    }

    private mutating func dropIfEmpty(_ batch: BatchKey) {
        guard let line = waiting[batch], line.items.isEmpty else { return }
        order.setReady(batch, false, owner: line.owner, level: line.level)
        waiting[batch] = nil
    }
}
