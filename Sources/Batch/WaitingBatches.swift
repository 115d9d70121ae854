import DarkroomCore
import DarkroomSpool

/// The batches that wait for their turn and those that are held, and how many of each there are, by owner.
package struct WaitingBatches {
    typealias Owner = FairOrder.Owner

    private struct Counts {
        var waiting = 0
        var held = 0

        var isEmpty: Bool { waiting == 0 && held == 0 }

        mutating func add(_ change: Int, _ batch: Board.Waiting) {
            if batch.control == .held { held += change } else { waiting += change }
        }
    }

    /// What keeps a further batch of an owner out.
    package enum Crowd: Equatable {
        /// As many wait as may, this owner's among them.
        case waiting
        /// As many of this owner's are held.
        case held
    }

    private var batches: [BatchKey: Board.Waiting] = [:]
    private var total = Counts()
    /// None is empty.
    private var ofOwner: [Owner: Counts] = [:]
    /// How many of them have any that wait.
    private var waitingOwners = 0

    var isEmpty: Bool { batches.isEmpty }
    /// Those that are not held.
    var waitingCount: Int { total.waiting }
    var heldCount: Int { total.held }

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

    private mutating func add(_ change: Int, _ batch: Board.Waiting?) {
        guard let batch else { return }
        total.add(change, batch)
        var own = ofOwner[batch.uid] ?? Counts()
        waitingOwners -= own.waiting > 0 ? 1 : 0
        own.add(change, batch)
        waitingOwners += own.waiting > 0 ? 1 : 0
        ofOwner[batch.uid] = own.isEmpty ? nil : own
    }

    /// What keeps a further batch of this owner out; nil for nothing. An owner of whom none waits is not kept out by
    /// those who have taken all the room there is: there is as much again, and more, whatever they have released, as long as
    /// fewer owners than the limit have any. What is held takes nobody's room, and is bounded for each owner, for it may be released.
    ///
    /// - Parameter coming: how many are about to be added.
    func crowd(of owner: Owner, limit: Int, coming: Int = 0) -> Crowd? {
        let own = ofOwner[owner] ?? Counts()
        if own.held >= limit { return .held }
        let count = total.waiting + coming
        let isFirst = own.waiting + coming == 0
        let hasRoom = count < limit || isFirst && (count < 2 * limit || waitingOwners < limit)
        return hasRoom ? nil : .waiting
    }
}
