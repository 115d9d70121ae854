import Testing

@testable import DarkroomWork

struct BurstPauseTests {
    private let pause = BurstPause()

    @Test func aGroupBehindSeveralBatchesWaits() {
        // Nothing waits at first.
        #expect(!pause.isDue(now: 0) && !pause.isDue(now: 1_000_000_000))
        pause.ended(batches: 2, now: 1_000_000_000)
        #expect(pause.isDue(now: 1_000_000_000))
        #expect(pause.isDue(now: 1_009_999_999))
        // The burst is over.
        #expect(!pause.isDue(now: 1_010_000_000))
    }

    @Test(arguments: [0, 1]) func aGroupBehindOneBatchDoesNotWait(batches: Int) {
        pause.ended(batches: 2, now: 1_000_000_000)
        pause.ended(batches: batches, now: 1_000_000_001)
        #expect(!pause.isDue(now: 1_000_000_002))
    }
}
