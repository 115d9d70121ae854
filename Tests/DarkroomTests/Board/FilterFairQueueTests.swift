import Testing

@testable import DarkroomBoard
@testable import DarkroomManifest

/// Who is handed to the filters' queues next. Images are written as `a0`: the batch, the image.
struct FilterFairQueueTests {
    private static let batches = ["a", "b", "c"]

    private func item(_ name: String, _ priority: Priority = .normal) -> WorkRequest {
        let batch = (Self.batches.firstIndex(of: String(name.prefix(1))) ?? 0) + 1
        return WorkRequest(
            work: .filter(batch, image: Int(name.dropFirst()) ?? 0), priority: priority,
            quality: .default)
    }

    /// `a` and `b` are of one owner, `c` is another's.
    private func owner(_ name: String) -> UInt32 { name.hasPrefix("c") ? 2 : 1 }

    private func names(_ turns: [FilterFairQueue.Turn]) -> [String] {
        turns.map { name($0.item.work) }
    }

    private func name(_ work: Work) -> String {
        guard case .filter(let batch, let image) = work else { return "?" }
        return "\(Self.batches[batch - 1])\(image)"
    }

    /// With no places that are kept, unless it is said.
    private func turns(
        width: Int, keptForBatches: Int = 0, keptForOwners: Int = 0
    ) -> FilterFairQueue {
        FilterFairQueue(
            places: FilterSlots(
                width: width, keptForBatches: keptForBatches, keptForOwners: keptForOwners))
    }

    /// Adds all, then ends one after the other; the order in which they came into the queue.
    private func order(_ added: [(String, Priority)], width: Int) -> [String] {
        var turns = turns(width: width)
        var queue = added.flatMap { turns.add(item($0.0, $0.1), owner: owner($0.0), atOnce: false) }
        var order: [String] = []
        while !queue.isEmpty {
            let first = queue.removeFirst().item.work
            order.append(name(first))
            queue += turns.ended(first)
        }
        #expect(turns.waitingCount == 0)
        return order
    }

    @Test(
        arguments: [
            ("a0 a1 a2 a3 b0 b1 c0", 1, "a0 c0 b0 a1 b1 a2 a3"),
            // However many batches another has, each second image is of the owner with one.
            ("a0 a1 a2 b0 b1 c0 c1 c2", 1, "a0 c0 b0 c1 a1 c2 b1 a2"),
            // One who has none at work is next, though others have waited longer.
            ("a0 b0 a1 a2 b1 c0", 2, "a0 b0 c0 a1 b1 a2"),
        ])
    func ownersAndBatchesTakeTurns(added: String, width: Int, order: String) {
        let items = added.split(separator: " ").map { (String($0), Priority.normal) }
        #expect(self.order(items, width: width).joined(separator: " ") == order)
    }

    @Test func aHigherLevelGoesFirst() {
        let added: [(String, Priority)] = [
            ("a0", .normal), ("a1", .normal), ("b0", .low), ("c0", .high), ("c1", .high),
        ]
        #expect(order(added, width: 1) == ["a0", "c0", "c1", "a1", "b0"])
    }

    @Test func handsOutNoMoreThanItsWidth() {
        var turns = turns(width: 2)
        #expect(names(turns.add(item("a0"), owner: 1, atOnce: false)) == ["a0"])
        #expect(names(turns.add(item("a1"), owner: 1, atOnce: false)) == ["a1"])
        #expect(turns.add(item("a2"), owner: 1, atOnce: false).isEmpty)
        // What has been granted memory does not wait, and counts.
        #expect(names(turns.add(item("b0"), owner: 1, atOnce: true)) == ["b0"])
        #expect(turns.ended(item("a0").work).isEmpty)
        #expect(names(turns.ended(item("a1").work)) == ["a2"])
        // One that it knows nothing of changes nothing.
        #expect(turns.ended(item("c7").work).isEmpty)
    }

    @Test func whatIsNotWantedLeavesItsPlace() {
        var turns = turns(width: 1)
        #expect(names(turns.add(item("a0"), owner: 1, atOnce: false)) == ["a0"])
        for name in ["a1", "a2", "b0"] {
            #expect(turns.add(item(name), owner: 1, atOnce: false).isEmpty)
        }
        #expect(turns.removed(item("a1").work).isEmpty)
        #expect(turns.removed(item("b0").work).isEmpty)
        #expect(turns.waitingCount == 1)
        #expect(names(turns.removed(item("a0").work)) == ["a2"])
        #expect(turns.ended(item("a2").work).isEmpty)
        // A batch all of whose images were taken back takes its turn again.
        #expect(names(turns.add(item("b1"), owner: 1, atOnce: false)) == ["b1"])
    }

    @Test func aWiderQueueIsFilledWithTheNext() {
        var turns = turns(width: 1)
        for name in ["a0", "a1", "a2", "a3"] { _ = turns.add(item(name), owner: 1, atOnce: false) }
        turns.places.width = 3
        #expect(names(turns.ended(item("a0").work)) == ["a1", "a2", "a3"])
    }

    /// The memory that a filter had is given back between the two.
    @Test func leavesFirstAndHasTheNextBeginThen() {
        var turns = turns(width: 1)
        _ = turns.add(item("a0"), owner: 1, atOnce: false)
        _ = turns.add(item("a1"), owner: 1, atOnce: false)
        turns.leave(item("a0").work)
        // Put off, it has been granted what it waits for, and comes again before.
        #expect(names(turns.add(item("a0"), owner: 1, atOnce: true)) == ["a0"])
        #expect(turns.take().isEmpty)
        #expect(names(turns.ended(item("a0").work)) == ["a1"])
    }

    @Test func anOwnerWhoIsNotKnownIsOneToo() {
        var turns = turns(width: 1, keptForOwners: 1)
        _ = turns.add(item("a0"), owner: 1, atOnce: false)
        #expect(names(turns.add(item("c0"), owner: nil, atOnce: false)) == ["c0"])
        #expect(turns.add(item("c1"), owner: nil, atOnce: false).isEmpty)
        #expect(names(turns.ended(item("c0").work)) == ["c1"])
    }

    // MARK: What is kept

    /// Nothing bounds the time that filters take, so an owner who has none at work does not wait for others' ends.
    @Test func whoHasNoneAtWorkHasAPlaceKept() {
        var turns = turns(width: 2, keptForOwners: 1)
        for name in ["a0", "a1", "a2", "b0", "b1"] {
            _ = turns.add(item(name), owner: 1, atOnce: false)
        }
        #expect(turns.waitingCount == 3)
        #expect(names(turns.add(item("c0"), owner: 2, atOnce: false)) == ["c0"])
        // One, and not one more.
        #expect(turns.add(item("c1"), owner: 2, atOnce: false).isEmpty)
        #expect(turns.ended(item("a0").work).isEmpty)
        #expect(names(turns.ended(item("c0").work)) == ["c1"])
        #expect(names(turns.ended(item("a1").work)) == ["b0"])
        // It is nobody's while all have some at work.
        #expect(turns.add(item("c2"), owner: 2, atOnce: false).isEmpty)
        #expect(turns.count == 5)
    }

    /// Whatever its level is: what another has at work may last.
    @Test func aLowerLevelsOwnerHasAPlaceKept() {
        var turns = turns(width: 1, keptForBatches: 1, keptForOwners: 1)
        for name in ["a0", "a1"] { _ = turns.add(item(name, .high), owner: 1, atOnce: false) }
        #expect(names(turns.add(item("c0", .low), owner: 2, atOnce: false)) == ["c0"])
    }

    /// A batch has one, too, but not beside its owner's more urgent ones.
    @Test(arguments: [(Priority.normal, ["b0"]), (.high, ["b0"]), (.low, [])])
    func aBatchThatHasNoneAtWorkHasAPlaceKept(priority: Priority, begins: [String]) {
        var turns = turns(width: 2, keptForBatches: 1, keptForOwners: 1)
        for name in ["a0", "a1", "a2"] { _ = turns.add(item(name), owner: 1, atOnce: false) }
        #expect(names(turns.add(item("b0", priority), owner: 1, atOnce: false)) == begins)
        #expect(turns.add(item("b1", priority), owner: 1, atOnce: false).isEmpty)
        // What is for owners is not theirs.
        #expect(names(turns.add(item("c0"), owner: 2, atOnce: false)) == ["c0"])
    }

    /// Each has a queue of its own, the first that is free.
    @Test func eachHasALane() {
        var turns = turns(width: 2, keptForOwners: 1)
        let lanes = ["a0", "a1", "a2", "c0"].flatMap {
            turns.add(item($0), owner: owner($0), atOnce: false).map(\.queue)
        }
        #expect(lanes == [0, 1, 2])
        turns.leave(item("a0").work)
        #expect(turns.add(item("b0"), owner: 1, atOnce: true).map(\.queue) == [0])
        // The same again stays where it is; one more than there are places has one, too.
        #expect(turns.add(item("b0"), owner: 1, atOnce: true).map(\.queue) == [0])
        #expect(turns.add(item("b1"), owner: 1, atOnce: true).map(\.queue) == [3])
        #expect(turns.ended(item("a1").work).isEmpty && turns.ended(item("c0").work).isEmpty)
        #expect(turns.ended(item("b1").work).map(\.queue) == [1])
    }
}

extension FilterFairQueue {
    fileprivate mutating func ended(_ work: Work) -> [Turn] {
        leave(work)
        return take()
    }

    fileprivate mutating func removed(_ work: Work) -> [Turn] {
        remove(work)
        return take()
    }
}
