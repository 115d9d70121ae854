import DarkroomAnswer

/// The waiting and the held batches, with their numbers for each owner.
package struct WaitingBatches {
    package typealias Owner = FairShare.Owner

    private struct Counts {
        var waiting = 0
        var held = 0

        var isEmpty: Bool { waiting == 0 && held == 0 }

        mutating func add(_ change: Int, _ batch: Board.Waiting) {
            if batch.control == .held { held += change } else { waiting += change }
        }
    }

    /// The reason why another batch of an owner is not accepted.
    package enum Crowd: Equatable {
        /// The maximum number of batches waits, among them batches of this owner.
        case waiting
        /// The maximum number of batches of this owner is held.
        case held
    }

    private var batches: [BatchKey: Board.Waiting] = [:]
    private var total = Counts()
    /// The images of all batches.
    private(set) var images = Status.Counts()
    /// None is empty.
    private var ofOwner: [Owner: Counts] = [:]
    private var waitingOwners = 0

    var isEmpty: Bool { batches.isEmpty }
    /// The batches that are not held.
    package var waitingCount: Int { total.waiting }
    var heldCount: Int { total.held }

    var keys: [BatchKey] { Array(batches.keys) }

    package subscript(key: BatchKey) -> Board.Waiting? {
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

    package func filter(
        _ isIncluded: ((key: BatchKey, value: Board.Waiting)) -> Bool
    ) -> [BatchKey: Board.Waiting] {
        batches.filter(isIncluded)
    }

    private mutating func add(_ change: Int, _ batch: Board.Waiting?) {
        guard let batch else { return }
        total.add(change, batch)
        if change > 0 { images.add(batch.counts) } else { images.subtract(batch.counts) }
        var own = ofOwner[batch.owner] ?? Counts()
        waitingOwners -= own.waiting > 0 ? 1 : 0
        own.add(change, batch)
        waitingOwners += own.waiting > 0 ? 1 : 0
        ofOwner[batch.owner] = own.isEmpty ? nil : own
    }

    /// The reason why another batch of this owner is not accepted; nil if it is. An owner without a waiting batch is
    /// accepted even if others use all the room: there is the same room again. Beyond that such an owner is accepted as
    /// long as fewer owners than the limit have waiting batches, for example after releases. Held batches use no room
    /// of others. Each owner has a limit for them, because they may be released.
    ///
    /// - Parameter coming: how many batches are about to be added.
    package func crowd(of owner: Owner, limit: Int, coming: Int = 0) -> Crowd? {
        let own = ofOwner[owner] ?? Counts()
        if own.held >= limit { return .held }
        let count = total.waiting + coming
        let isFirst = own.waiting + coming == 0
        let hasRoom = count < limit || isFirst && (count < 2 * limit || waitingOwners < limit)
        return hasRoom ? nil : .waiting
    }
}
