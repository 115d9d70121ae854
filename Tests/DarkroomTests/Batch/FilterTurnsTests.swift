import Testing

@testable import DarkroomBatch
@testable import DarkroomCore
@testable import DarkroomManifest

/// Who is handed to the filters queue next. Images are written as `a0`: the batch, the image.
@Suite struct FilterTurnsTests {
    private static let batches = ["a", "b", "c"]

    private func item(_ name: String, _ priority: Priority = .normal) -> FilterTurns.Item {
        let batch = (Self.batches.firstIndex(of: String(name.prefix(1))) ?? 0) + 1
        return FilterTurns.Item(
            work: .filter(batch, image: Int(name.dropFirst()) ?? 0), priority: priority,
            quality: .default)
    }

    /// `a` and `b` are of one owner, `c` is another's.
    private func owner(_ name: String) -> UInt32 { name.hasPrefix("c") ? 2 : 1 }

    private func names(_ items: [FilterTurns.Item]) -> [String] { items.map { name($0.work) } }

    private func name(_ work: Work) -> String {
        guard case .filter(let batch, let image) = work else { return "?" }
        return "\(Self.batches[batch - 1])\(image)"
    }

    /// Adds all, then ends one after the other; the order in which they came into the queue.
    private func order(_ added: [(String, Priority)], width: Int) -> [String] {
        var turns = FilterTurns(width: width)
        var queue = added.flatMap { turns.add(item($0.0, $0.1), owner: owner($0.0), atOnce: false) }
        var order: [String] = []
        while !queue.isEmpty {
            let first = queue.removeFirst()
            order.append(name(first.work))
            queue += turns.ended(first.work)
        }
        #expect(turns.waitingCount == 0)
        return order
    }

    @Test func batchesTakeTurns() {
        let added = ["a0", "a1", "a2", "a3", "b0", "b1", "c0"].map { ($0, Priority.normal) }
        #expect(order(added, width: 1) == ["a0", "c0", "b0", "a1", "b1", "a2", "a3"])
    }

    /// However many batches another has, each second image is of the owner with one.
    @Test func ownersTakeTurns() {
        let added = ["a0", "a1", "a2", "b0", "b1", "c0", "c1", "c2"].map { ($0, Priority.normal) }
        #expect(order(added, width: 1) == ["a0", "c0", "b0", "c1", "a1", "c2", "b1", "a2"])
    }

    /// One who has none at work is next, though others have waited longer.
    @Test func whoHasNoneAtWorkIsNext() {
        let added = ["a0", "b0", "a1", "a2", "b1", "c0"].map { ($0, Priority.normal) }
        #expect(order(added, width: 2) == ["a0", "b0", "c0", "a1", "b1", "a2"])
    }

    @Test func aHigherLevelGoesFirst() {
        let added: [(String, Priority)] = [
            ("a0", .normal), ("a1", .normal), ("b0", .low), ("c0", .high), ("c1", .high),
        ]
        #expect(order(added, width: 1) == ["a0", "c0", "c1", "a1", "b0"])
    }

    @Test func handsOutNoMoreThanItsWidth() {
        var turns = FilterTurns(width: 2)
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
        var turns = FilterTurns(width: 1)
        #expect(names(turns.add(item("a0"), owner: 1, atOnce: false)) == ["a0"])
        for name in ["a1", "a2", "b0"] {
            #expect(turns.add(item(name), owner: 1, atOnce: false).isEmpty)
        }
        #expect(turns.remove(item("a1").work).isEmpty)
        #expect(turns.remove(item("b0").work).isEmpty)
        #expect(turns.waitingCount == 1)
        #expect(names(turns.remove(item("a0").work)) == ["a2"])
        #expect(turns.ended(item("a2").work).isEmpty)
        // A batch all of whose images were taken back takes its turn again.
        #expect(names(turns.add(item("b1"), owner: 1, atOnce: false)) == ["b1"])
    }

    @Test func aWiderQueueIsFilledWithTheNext() {
        var turns = FilterTurns(width: 1)
        for name in ["a0", "a1", "a2", "a3"] { _ = turns.add(item(name), owner: 1, atOnce: false) }
        turns.width = 3
        #expect(names(turns.ended(item("a0").work)) == ["a1", "a2", "a3"])
    }
}
