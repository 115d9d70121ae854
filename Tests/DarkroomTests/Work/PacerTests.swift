import Dispatch
import TestSupport
import Testing

@testable import DarkroomWork

/// When keys are written that change often. The interval is a second; ticks are a millisecond late.
struct PacerTests {
    private static let second: UInt64 = 1_000_000_000

    private let time = ManualTime()
    private let written = Calls<Int>()
    private let pacer: Pacer<Int>

    init() { pacer = Self.pacer(time) }

    private static func pacer(
        _ time: ManualTime,
        _ limits: Pacer<Int>.Limits = .init(
            share: .each(0), delay: 1_000_000, turn: 100_000_000)
    ) -> Pacer<Int> {
        Pacer(
            interval: second, limits: limits, queue: DispatchQueue(label: "test"),
            time: time.source)
    }

    /// - Parameter seconds: how long each write takes.
    private func write(
        taking seconds: Double = 0, _ outcome: PacedWrite = .done
    ) -> Pacer<Int>.Write {
        { [time, written] key, _ in
            if seconds > 0 { time.skip(seconds) }
            written.add(key)
            return outcome
        }
    }

    private func change(_ keys: Int..., in pacer: Pacer<Int>? = nil, taking seconds: Double = 0) {
        for key in keys {
            (pacer ?? self.pacer).changed(key, now: time.now, write: write(taking: seconds))
        }
    }

    // MARK: The time of a key

    @Test func writesOnceForAllChangesOfAnInterval() {
        change(1, 1, 2)
        time.advance(by: 0.9)
        change(1)
        #expect(written.take() == [])
        time.advance(by: 0.2)
        // They are due at the same time.
        #expect(written.take().sorted() == [1, 2])
        // Without a change nothing is written.
        time.advance(by: 100)
        #expect(written.take() == [])
        // The interval is over.
        change(2)
        time.advance(by: 0.01)
        #expect(written.take() == [2])
        change(2)
        time.advance(by: 0.9)
        #expect(written.take() == [])
        time.advance(by: 0.2)
        #expect(written.take() == [2])
    }

    /// When a key is written again.
    struct Rest: Sendable {
        var limits = Pacer<Int>.Limits(share: .each(0))
        /// How long the write takes, in seconds.
        var taking = 0.0
        var outcome = PacedWrite.done
        /// Whether it changes after the write.
        var changes = true
        /// In seconds after the beginning of the write; nil for never.
        let next: Double?
    }

    @Test(arguments: [
        Rest(next: 1), Rest(taking: 0.1, next: 1), Rest(changes: false, next: nil),
        // A part of the time.
        Rest(limits: .init(share: .each(20)), taking: 0.04, next: 1),
        Rest(limits: .init(share: .each(20)), taking: 0.1, next: 2.1),
        Rest(limits: .init(share: .each(20)), taking: 1, changes: false, next: nil),
        // After a disk has not answered, too, it is soon up to date.
        Rest(limits: .init(share: .each(20)), taking: 60, next: 90),
        // A refused write is repeated without a change, and no earlier with one.
        Rest(outcome: .refused, changes: false, next: 5), Rest(outcome: .refused, next: 5),
        Rest(taking: 0.1, outcome: .refused, next: 5.1),
        Rest(limits: .init(share: .each(20)), taking: 1, outcome: .refused, next: 21),
        // A sign of life.
        Rest(limits: .init(share: .each(0), heartbeat: 10_000_000_000), changes: false, next: 10),
        Rest(limits: .init(share: .each(0), heartbeat: 10_000_000_000), next: 1),
        Rest(
            limits: .init(share: .each(0), heartbeat: 10_000_000_000), outcome: .refused,
            changes: false, next: 5),
        Rest(limits: .init(share: .each(0), heartbeat: 0), changes: false, next: 1),
        Rest(
            limits: .init(share: .each(20), heartbeat: 0), taking: 0.1, changes: false, next: 2.1),
    ]) func rests(rest: Rest) {
        let pacer = Self.pacer(time, rest.limits)
        pacer.queue.sync {
            pacer.write(1, write(taking: rest.taking, rest.outcome))
        }
        #expect(written.take() == [1])
        if rest.changes { change(1, in: pacer) }
        time.advance(by: (rest.next ?? 1000) - rest.taking - 0.001)
        #expect(written.take() == [])
        time.advance(by: 0.002)
        #expect(written.take() == (rest.next == nil ? [] : [1]))
    }

    /// A little delay does not delay the next time as well.
    @Test(arguments: [(0.0, 0.01, 1.01), (0.025, 0.01, 1.0), (0.025, 0.1, 1.075)])
    func catchesUp(catchUp: Double, late: Double, next: Double) {
        let pacer = Self.pacer(
            time, .init(share: .each(0), catchUp: UInt64(catchUp * 1e9)))
        change(1, in: pacer)
        time.skip(1 + late)
        time.advance(by: 0)
        #expect(written.take() == [1])
        change(1, in: pacer)
        time.advance(by: next - late - 0.001)
        #expect(written.take() == [])
        time.advance(by: 0.002)
        #expect(written.take() == [1])
    }

    @Test func anEarlierTimeReplacesALaterTick() {
        change(1)
        pacer.setInterval(Self.second / 10)
        change(2)
        time.advance(by: 0.2)
        #expect(written.take() == [2])
        time.advance(by: 1)
        #expect(written.take() == [1])
    }

    /// No lock is held meanwhile.
    @Test(arguments: [(PacedWrite.done, 1.0), (.over, 0.001), (.refused, 5.0)])
    func aChangeDuringAWriteIsWritten(outcome: PacedWrite, after seconds: Double) {
        pacer.changed(1, now: time.now) { [self] key, _ in
            guard written.all.isEmpty else { return .done }
            change(key)
            written.add(key)
            return outcome
        }
        time.advance(by: 1)
        #expect(written.take() == [1])
        time.advance(by: seconds - 0.0005)
        #expect(written.take() == [])
        time.advance(by: 0.001)
        #expect(written.take() == [1])
        time.advance(by: 10)
        #expect(written.take() == [])
    }

    // MARK: Other moments

    @Test func aWriteAtOnceCounts() {
        change(1)
        time.advance(by: 0.5)
        #expect(!pacer.isDue(1))
        pacer.queue.sync { pacer.write(1, write()) }
        #expect(written.take() == [1] && pacer.waiting == [])
        change(1)
        time.advance(by: 0.9)
        #expect(written.take() == [] && !pacer.isDue(1))
        time.skip(0.1)
        #expect(pacer.isDue(1))
        pacer.queue.sync { pacer.write(1, write()) }
        time.advance(by: 10)
        #expect(written.take() == [1] && !pacer.isDue(1))
    }

    @Test func knowsNothingOfWhatIsForgotten() {
        change(1, 2)
        #expect(pacer.waiting == [1, 2])
        pacer.forget(1)
        #expect(pacer.waiting == [2])
        time.advance(by: 2)
        #expect(written.take() == [2] && pacer.waiting == [])
        pacer.changed(3, now: time.now) { [self] key, _ in
            pacer.forget(key)
            return .refused
        }
        time.advance(by: 10)
        #expect(pacer.waiting == [])
        // After its last write it is as unknown as before the first.
        pacer.changed(4, now: time.now, write: write(.over))
        time.advance(by: 10)
        #expect(written.take() == [4] && pacer.waiting == [])
        change(4)
        time.advance(by: 0.9)
        #expect(written.take() == [])
        time.advance(by: 0.2)
        #expect(written.take() == [4])
    }

    // MARK: The end

    @Test func remembersChangesAfterItWasClosed() {
        change(1)
        pacer.close()
        change(2)
        time.advance(by: 10)
        #expect(written.take() == [] && pacer.waiting == [1, 2] && pacer.isClosed)
        pacer.queue.sync { pacer.write(1, write(.interrupted)) }
        #expect(written.take() == [1] && pacer.waiting == [1, 2])
        pacer.queue.sync { pacer.write(1, write()) }
        #expect(written.take() == [1] && pacer.waiting == [2])
    }

    @Test(arguments: [PacedWrite.done, .refused]) func writesOnceAtTheEnd(outcome: PacedWrite) {
        change(1, 2)
        pacer.end(1, write(outcome))
        #expect(written.take() == [1])
        change(1)
        time.advance(by: 100)
        #expect(written.take() == [])
    }

    // MARK: Many keys

    /// The rest follows at the next tick, the oldest first.
    @Test func aTurnEndsAfterSomeTime() {
        change(3, 1, 2, taking: 0.2)
        time.advance(by: 1.001)
        #expect(written.take().count == 1)
        time.advance(by: 0.001)
        #expect(written.take().count == 1)
        time.advance(by: 0.001)
        #expect(written.take().count == 1)
        #expect(pacer.waiting == [])
    }

    @Test func whatIsLeftOfATurnDoesNotWaitForLaterChanges() {
        for key in [1, 2] {
            pacer.changed(key, now: time.now) { [self] key, _ in
                time.skip(0.2)
                change(9)
                written.add(key)
                return .done
            }
        }
        time.advance(by: 1.001)
        time.advance(by: 0.001)
        #expect(written.take().sorted() == [1, 2])
    }

    /// Five writes of a tenth of a second take a fifth of the time; four may follow each other.
    @Test(arguments: [(4, true), (5, false)]) func manyTakeAShareOfTheTime(
        count: Int, followsSoon: Bool
    ) {
        let pacer = Self.pacer(
            time, .init(share: .all(4), delay: 1_000_000, turn: Self.second))
        for key in 0..<count { change(key, in: pacer, taking: 0.1) }
        time.advance(by: 1.001)
        #expect(written.take().count == count)
        pacer.setInterval(0)
        change(9, in: pacer)
        time.advance(by: 0.1)
        #expect(written.take() == (followsSoon ? [9] : []))
        time.advance(by: 2)
        #expect(written.take() == (followsSoon ? [] : [9]))
    }

    /// Five writes of twenty seconds each would have the others wait for minutes.
    @Test func theShareOfManyHasALongestRest() {
        let pacer = Self.pacer(
            time, .init(share: .all(4), delay: 1_000_000, turn: 1000 * Self.second))
        for key in 0..<5 { change(key, in: pacer, taking: 20) }
        time.advance(by: 1.001)
        #expect(written.take().count == 5)
        pacer.setInterval(0)
        change(9, in: pacer)
        time.advance(by: 29)
        #expect(written.take() == [])
        time.advance(by: 2)
        #expect(written.take() == [9])
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
