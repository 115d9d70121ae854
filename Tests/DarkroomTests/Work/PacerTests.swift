import Dispatch
import TestSupport
import Testing

@testable import DarkroomWork

/// When keys are called that change often. The interval is a second; ticks are a millisecond late.
struct PacerTests {
    private static let second: UInt64 = 1_000_000_000

    private let time = ManualTime()
    private let calls = Calls<Int>()
    private let pacer: Pacer<Int>

    init() { pacer = Self.pacer(time) }

    private static func pacer(
        _ time: ManualTime, turn: UInt64 = 100_000_000, share: UInt64? = nil
    ) -> Pacer<Int> {
        Pacer(
            interval: second, limits: .init(delay: 1_000_000, turn: turn, share: share),
            queue: DispatchQueue(label: "test"), time: time.source)
    }

    /// - Parameter seconds: how long each call takes.
    private func change(_ keys: Int..., in pacer: Pacer<Int>? = nil, taking seconds: Double = 0) {
        let pacer = pacer ?? self.pacer
        for key in keys {
            pacer.changed(key, now: time.now) { [time, calls] key in
                pacer.begin(key)
                if seconds > 0 { time.skip(seconds) }
                calls.add(key)
                pacer.postpone(key) { _, interval in time.now + interval }
            }
        }
    }

    @Test func callsOnceForAllChangesOfAnInterval() {
        change(1, 1, 2)
        time.advance(by: 0.9)
        change(1)
        #expect(calls.take() == [])
        time.advance(by: 0.2)
        // They are due at the same time.
        #expect(calls.take().sorted() == [1, 2])
        // Without a change nothing is called.
        time.advance(by: 100)
        #expect(calls.take() == [])
        // The interval is over.
        change(2)
        time.advance(by: 0.01)
        #expect(calls.take() == [2])
        change(2)
        time.advance(by: 0.9)
        #expect(calls.take() == [])
        time.advance(by: 0.2)
        #expect(calls.take() == [2])
    }

    @Test func anEarlierTimeReplacesALaterTick() {
        change(1)
        pacer.setInterval(Self.second / 10)
        change(2)
        time.advance(by: 0.2)
        #expect(calls.take() == [2])
        time.advance(by: 1)
        #expect(calls.take() == [1])
    }

    @Test func knowsNothingOfWhatIsForgotten() {
        change(1, 2)
        #expect(pacer.waiting == [1, 2])
        pacer.forget(1)
        #expect(pacer.waiting == [2])
        pacer.postpone(1) { _, _ in 0 }
        time.advance(by: 2)
        #expect(calls.take() == [2] && pacer.waiting == [])
        pacer.interrupted(2)
        pacer.interrupted(1)
        #expect(pacer.waiting == [2])
    }

    @Test func remembersChangesAfterItWasClosed() {
        change(1)
        pacer.close()
        change(2)
        time.advance(by: 10)
        #expect(calls.take() == [] && pacer.waiting == [1, 2] && pacer.isClosed)
    }

    /// The rest follows at the next tick, the oldest first.
    @Test func aTurnEndsAfterSomeTime() {
        change(3, 1, 2, taking: 0.2)
        time.advance(by: 1.001)
        #expect(calls.take().count == 1)
        time.advance(by: 0.001)
        #expect(calls.take().count == 1)
        time.advance(by: 0.001)
        #expect(calls.take().count == 1)
        #expect(pacer.waiting == [])
    }

    /// Five calls of a tenth of a second take a fifth of the time; four may follow each other.
    @Test(arguments: [(4, true), (5, false)]) func manyTakeAShareOfTheTime(
        count: Int, followsSoon: Bool
    ) {
        let pacer = Self.pacer(time, turn: Self.second, share: 4)
        for key in 0..<count { change(key, in: pacer, taking: 0.1) }
        time.advance(by: 1.001)
        #expect(calls.take().count == count)
        pacer.setInterval(0)
        change(9, in: pacer)
        time.advance(by: 0.1)
        #expect(calls.take() == (followsSoon ? [9] : []))
        time.advance(by: 2)
        #expect(calls.take() == (followsSoon ? [] : [9]))
    }

    @Test func onlyTheLastSettingOfATimerCounts() {
        var timer = PlannedTick()
        guard let first = timer.plan(at: 5), let second = timer.plan(at: 9) else {
            Issue.record("no tick")
            return
        }
        let isFirst = timer.hasCome(first)
        #expect(!isFirst && timer.time == 9)
        let isSecond = timer.hasCome(second)
        #expect(isSecond && timer.time == nil)
        guard let third = timer.plan(at: 3) else {
            Issue.record("no tick")
            return
        }
        let none = timer.plan(at: nil)
        let isThird = timer.hasCome(third)
        #expect(none == nil && !isThird)
    }
}
