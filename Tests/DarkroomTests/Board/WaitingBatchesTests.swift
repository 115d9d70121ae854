import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomSpool

/// Who finds room among the batches that wait.
struct WaitingBatchesTests {
    private static let limit = 4

    /// How many of user 1's wait and are held, of user 2's, how many are about to come, and what keeps out one more of
    /// user 1's.
    @Test(
        arguments: [
            ((0, 0), (0, 0), 0, nil),
            ((3, 3), (0, 0), 0, nil),
            ((4, 0), (0, 0), 0, .waiting),
            ((3, 0), (0, 0), 1, .waiting),
            // Nobody is kept out by others alone, also where they have released what they held.
            ((0, 0), (4, 0), 0, nil),
            ((0, 0), (9, 0), 0, nil),
            ((1, 0), (3, 0), 0, .waiting),
            ((0, 0), (4, 0), 1, .waiting),
            // What is held is bounded for each.
            ((0, 3), (0, 4), 0, nil),
            ((0, 4), (0, 0), 0, .held),
            ((0, 0), (0, 9), 0, nil),
        ] as [((Int, Int), (Int, Int), Int, WaitingBatches.Crowd?)])
    func tellsWhatKeepsOneOut(
        one: (Int, Int), other: (Int, Int), coming: Int, crowd: WaitingBatches.Crowd?
    ) {
        var batches = WaitingBatches()
        var key = 0
        for (owner, counts) in [(UInt32(1), one), (2, other)] {
            for (count, control) in [(counts.0, ControlState.free), (counts.1, .held)] {
                for _ in 0..<count {
                    key += 1
                    batches[key] = Board.Waiting(
                        id: "\(key)",
                        level: Level(.normal, .default), images: 1, owner: owner,
                        priority: .normal, received: "", counts: Status.Counts(new: 1),
                        outputBytes: 0, control: control)
                }
            }
        }
        #expect(batches.waitingCount == one.0 + other.0)
        #expect(batches.heldCount == one.1 + other.1)
        #expect(batches.images == Status.Counts(new: key))
        #expect(batches.crowd(of: 1, limit: Self.limit, coming: coming) == crowd)
        // What is held or released counts as what it is then, and what is gone not at all.
        for key in stride(from: 1, through: key, by: 1) {
            let isHeld = batches[key]?.control == .held
            batches[key]?.control = isHeld ? .free : .held
        }
        #expect(batches.waitingCount == one.1 + other.1)
        #expect(batches.heldCount == one.0 + other.0)
        for key in stride(from: 1, through: key, by: 1) {
            #expect(batches.removeValue(forKey: key) != nil)
        }
        #expect(batches.isEmpty && batches.waitingCount == 0 && batches.heldCount == 0)
        #expect(batches.images == Status.Counts())
        #expect(batches.crowd(of: 1, limit: 1) == nil)
    }
}
