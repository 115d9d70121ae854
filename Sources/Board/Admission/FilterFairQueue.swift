import DequeModule

/// Selects the filters that are put into their queues next.
///
/// A queue starts operations of one priority in the order of their arrival, so a small batch would wait for all ready
/// images of others. Therefore only as many filters are put into queues as can run at once, each into its own queue
/// (`FilterQueues`). Other ready images wait here: the highest level first, and within a level in turns of owners and of
/// their batches, one image each (`FairShare`). An owner with nothing in work does not wait until the images of others
/// end (`FilterSlots`).
package struct FilterFairQueue {
    /// An image that goes into a queue.
    struct Turn: Equatable {
        let item: WorkRequest
        /// The number of the queue, from 0. No other image is in it.
        let queue: Int
    }

    /// The waiting images of a batch, in their order.
    private struct Line {
        let owner: FairShare.Owner
        let level: Int
        var items: Deque<WorkRequest> = []
    }

    var places: FilterSlots
    private var queueOfWork: [Work: Int] = [:]
    private var isTaken: [Bool] = []
    /// None is empty.
    private var waiting: [BatchKey: Line] = [:]
    private var order = FairShare()
    private(set) var waitingCount = 0

    init(places: FilterSlots) { self.places = places }

    package var count: Int { waitingCount + queueOfWork.count }

    /// For tests: whether nothing is remembered.
    var isEmpty: Bool { count == 0 && waiting.isEmpty && order.isEmpty }

    /// For tests: whether the counts are those of the images, and each queue has one image at most.
    var isConsistent: Bool {
        waitingCount == waiting.values.reduce(0) { $0 + $1.items.count }
            && Set(queueOfWork.values).count == queueOfWork.count
            && isTaken.count(where: \.self) == queueOfWork.count
    }

    /// Adds a ready filter. One with `atOnce` does not wait: it has been granted memory for which others wait, or tests
    /// whether the disk works.
    ///
    /// - Returns: the filters that go into the queues now.
    mutating func add(_ item: WorkRequest, owner: FairShare.Owner, atOnce: Bool) -> [Turn] {
        guard case .filter(let batch, _) = item.work else { return [] }
        let level = Level(item.priority, item.quality).index
        if atOnce {
            if let queue = queueOfWork[item.work] { return [Turn(item: item, queue: queue)] }
            return [enter(item, of: batch, owner, level)]
        }
        waiting[batch, default: Line(owner: owner, level: level)].items.append(item)
        waitingCount += 1
        order.setReady(batch, true, owner: owner, level: level)
        return take()
    }

    /// A filter has left its queue. Call `take` when others may have its place.
    mutating func leave(_ work: Work) {
        guard case .filter(let batch, _) = work, let queue = queueOfWork.removeValue(forKey: work)
        else { return }
        isTaken[queue] = false
        order.ended(batch)
    }

    /// Removes a filter, because nobody needs it any more. Call `take` when others may have its place.
    mutating func remove(_ work: Work) {
        leave(work)
        guard case .filter(let batch, _) = work,
            let place = waiting[batch]?.items.firstIndex(where: { $0.work == work })
        else { return }
        waiting[batch]?.items.remove(at: place)
        waitingCount -= 1
        dropIfEmpty(batch)
    }

    /// Returns the filters that go into the queues now.
    mutating func take() -> [Turn] {
        var taken: [Turn] = []
        while let entrants = places.entrants(taken: queueOfWork.count),
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
        _ item: WorkRequest, of batch: BatchKey, _ owner: FairShare.Owner, _ level: Int
    ) -> Turn {
        let queue = isTaken.firstIndex(of: false) ?? isTaken.count
        if queue == isTaken.count { isTaken.append(true) } else { isTaken[queue] = true }
        queueOfWork[item.work] = queue
        order.began(batch, owner: owner, level: level)
        return Turn(item: item, queue: queue)
    }

    private mutating func dropIfEmpty(_ batch: BatchKey) {
        guard let line = waiting[batch], line.items.isEmpty else { return }
        order.setReady(batch, false, owner: line.owner, level: line.level)
        waiting[batch] = nil
    }
}
