import Dispatch
import Testing

@testable import DarkroomDaemon
@testable import DarkroomWork

/// What the watchdog is fed from. Moments are given, in nanoseconds.
struct WatchTests {
    private static let second: UInt64 = 1_000_000_000
    private let interval = 60.0

    private func stuck(_ still: [StillWork]) -> [String] {
        still.filter { $0.isStuck(interval: interval) }.map(\.work.text).sorted()
    }

    /// One that hangs is seen, however many others move.
    @Test func eachPictureCountsForItself() {
        let heartbeat = Heartbeat()
        heartbeat.during(WatchedWork("hangs"), .steps, now: 0) { _ in
            heartbeat.during(WatchedWork("moves"), .steps, now: 0) { moving in
                for time in 0..<60 {
                    moving.step(now: UInt64(time) * Self.second)
                    #expect(stuck(heartbeat.still(now: UInt64(time) * Self.second)).isEmpty)
                }
                #expect(stuck(heartbeat.still(now: 60 * Self.second)) == ["hangs"])
                // It goes on after all.
                #expect(stuck(heartbeat.still(now: 119 * Self.second)) == ["hangs", "moves"])
                moving.step(now: 119 * Self.second)
                #expect(stuck(heartbeat.still(now: 119 * Self.second)) == ["hangs"])
            }
        }
        #expect(heartbeat.still(now: 120 * Self.second).isEmpty)
    }

    /// A step after the moment that is asked about, by another thread, is no time before it.
    @Test func aLaterStepIsNoFuture() {
        let heartbeat = Heartbeat()
        heartbeat.during(WatchedWork("moves"), .steps, now: 9) { _ in
            #expect(heartbeat.still(now: 8).map(\.seconds) == [0])
        }
    }

    @Test func whatThrowsHasEnded() {
        struct Problem: Error {}
        let heartbeat = Heartbeat()
        #expect(throws: Problem.self) {
            try heartbeat.during(WatchedWork("fails"), .files, now: 0) { _ in throw Problem() }
        }
        #expect(heartbeat.still(now: 1).isEmpty)
    }

    /// A call that waits for a disk takes no steps, and may take long.
    @Test(arguments: [
        (Patience.steps, 60.0, 59.9, false), (.steps, 60, 60, true), (.files, 60, 599.9, false),
        (.files, 60, 600, true), (.files, 900, 899, false), (.files, 900, 900, true),
    ])
    func isPatient(patience: Patience, interval: Double, seconds: Double, isStuck: Bool) {
        let still = StillWork(work: WatchedWork("x"), patience: patience, seconds: seconds)
        #expect(still.isStuck(interval: interval) == isStuck)
    }

    @Test func aQueueThatDoesNotTurnIsSeen() {
        let watch = DispatchQueueWatch()
        let queue = DispatchQueue(label: "test.hangs")
        watch.add(DispatchQueue(label: "test.turns"), "turns")
        watch.add(queue, "hangs")
        let goOn = DispatchSemaphore(value: 0)
        queue.async { goOn.wait() }
        watch.ask(now: Self.second)
        // Answers come by themselves; that of the other queue cannot.
        while watch.still(now: Self.second).count > 1 {}
        #expect(stuck(watch.still(now: 600 * Self.second)) == [])
        #expect(stuck(watch.still(now: 601 * Self.second)) == ["hangs"])
        // It is not asked again before it has answered, which would make it look livelier.
        watch.ask(now: 601 * Self.second)
        while watch.still(now: 601 * Self.second).count > 1 {}
        #expect(stuck(watch.still(now: 601 * Self.second)) == ["hangs"])
        goOn.signal()
        queue.sync {}
        #expect(watch.still(now: 602 * Self.second).isEmpty)
    }

    @Test func theTransfersThreadHasToTurn() {
        var turns = EngineTurns()
        #expect(turns.still(7, now: 100 * Self.second).seconds == 0)
        #expect(turns.still(7, now: 120 * Self.second).seconds == 20)
        #expect(turns.still(8, now: 140 * Self.second).seconds == 0)
        #expect(stuck([turns.still(8, now: 199 * Self.second)]) == [])
        #expect(stuck([turns.still(8, now: 200 * Self.second)]) == ["the thread of the transfers"])
    }
}
