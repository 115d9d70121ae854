import DequeModule

/// Which filters are handed to their queues next.
///
/// A queue starts operations of one priority in the order in which they came, so that a small batch would wait
/// for all images that others have ready. As many are therefore handed over as are filtered at once, each into a lane of its
/// own (`FilterLanes`), and what is ready waits here: the highest level first, and within a level in turns of owners
/// and of their batches, an image each (`FairOrder`). Whoever has none at work need not wait for the end of what others
/// have there (`FilterPlaces`).
///
/// A value without threads; the scheduler holds it under a lock.
struct FilterFairQueue {
    /// An image that goes into a queue.
    struct Turn: Equatable {
        let item: WorkRequest
        /// The queue, which no other image is in; from 0.
        let lane: Int
    }

    /// The images of a batch that wait, in their order.
    private struct Line {
        let owner: FairOrder.Owner
        let level: Int
        var items: Deque<WorkRequest> = []
    }

    var places: FilterPlaces
    /// What is in the queues, and in which.
    private var laneOfWork: [Work: Int] = [:]
    private var isTaken: [Bool] = []
    /// None is empty.
    private var waiting: [BatchKey: Line] = [:]
    private var order = FairOrder()
    private(set) var waitingCount = 0

    init(places: FilterPlaces) {
        self.places = places
    }

    /// How many wait or are in the queues.
    var count: Int { waitingCount + laneOfWork.count }

    /// Takes in a filter that is ready, and gives those that go into the queues now. One that comes `atOnce` waits
    /// for nobody: it has been granted memory that others wait for, or is tried to see whether the disk works.
    mutating func add(_ item: WorkRequest, owner: FairOrder.Owner, atOnce: Bool) -> [Turn] {
        guard case .filter(let batch, _) = item.work else { return [] }
        let level = Level(item.priority, item.quality).index
        if atOnce {
            if let lane = laneOfWork[item.work] { return [Turn(item: item, lane: lane)] }
            return [enter(item, of: batch, owner, level)]
        }
        waiting[batch, default: Line(owner: owner, level: level)].items.append(item)
        waitingCount += 1
        order.setReady(batch, true, owner: owner, level: level)
        return take()
    }

    /// A filter has left its queue. `take` is to be called when others may have its place.
    mutating func leave(_ work: Work) {
        guard case .filter(let batch, _) = work, let lane = laneOfWork.removeValue(forKey: work)
        else { return }
        isTaken[lane] = false
        order.ended(batch)
    }

    /// A filter is not wanted any more, wherever it is. `take` is to be called then.
    mutating func remove(_ work: Work) {
        leave(work)
        guard case .filter(let batch, _) = work,
            let place = waiting[batch]?.items.firstIndex(where: { $0.work == work })
        else { return }
        waiting[batch]?.items.remove(at: place)
        waitingCount -= 1
        dropIfEmpty(batch)
    }

    /// Gives those that go into the queues now.
    mutating func take() -> [Turn] {
        var taken: [Turn] = []
        while let entrants = places.entrants(taken: laneOfWork.count),
            let batch = order.next(for: entrants),
            let (owner, level) = waiting[batch].map({ ($0.owner, $0.level) }),
            let item = waiting[batch]?.items.popFirst()
        {
            waitingCount -= 1
            taken.append(enter(item, of: batch, owner, level))
            dropIfEmpty(batch)
        }
        return taken
    }

    private mutating func enter(
        _ item: WorkRequest, of batch: BatchKey, _ owner: FairOrder.Owner, _ level: Int
    ) -> Turn {
        let lane = isTaken.firstIndex(of: false) ?? isTaken.count
        if lane == isTaken.count { isTaken.append(true) } else { isTaken[lane] = true }
        laneOfWork[item.work] = lane
        order.began(batch, owner: owner, level: level)
        return Turn(item: item, lane: lane)
    }

    private mutating func dropIfEmpty(_ batch: BatchKey) {
        guard let line = waiting[batch], line.items.isEmpty else { return }
        order.setReady(batch, false, owner: line.owner, level: line.level)
        waiting[batch] = nil
    }
}
