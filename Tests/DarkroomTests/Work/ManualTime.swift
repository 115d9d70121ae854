import Dispatch
import Synchronization

@testable import DarkroomCore

/// A time that stands still until a test moves it on, or moves by a step each time that it is asked for.
final class ManualTime: Sendable {
    private struct Call: Sendable {
        let moment: UInt64
        let queue: DispatchQueue
        let body: TimeSource.Body
    }

    private struct State: Sendable {
        var now: UInt64 = 1_000_000_000_000
        var calls: [Call] = []
        var step: UInt64 = 0
        /// What is done when it has been asked for so many more times.
        var reads = 0
        var afterReads: (@Sendable () -> Void)?

        /// Takes the next call that is due by `end`, and comes to its moment.
        mutating func takeNext(by end: UInt64) -> Call? {
            let due = calls.indices.filter { calls[$0].moment <= end }
            guard let next = due.min(by: { calls[$0].moment < calls[$1].moment }) else {
                now = max(now, end)
                return nil
            }
            now = max(now, calls[next].moment)
            return calls.remove(at: next)
        }
    }

    private let state = Mutex(State())

    /// In nanoseconds.
    var now: UInt64 { state.withLock(\.now) }

    /// In seconds; 0 where it stands still.
    var step: Double {
        get { state.withLock { Double($0.step) / 1e9 } }
        set { state.withLock { $0.step = UInt64(clamping: newValue * 1e9) } }
    }

    /// Time passes within a call, and nothing else is called meanwhile.
    func skip(_ seconds: Double) { state.withLock { $0.now += UInt64(clamping: seconds * 1e9) } }

    /// Does something when the time has been asked for so many more times, within that call.
    func afterReads(_ count: Int, _ body: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.reads = count
            state.afterReads = body
        }
    }

    private func read() -> UInt64 {
        let (now, body) = state.withLock { state -> (UInt64, (@Sendable () -> Void)?) in
            state.now += state.step
            state.reads -= 1
            return (state.now, state.reads == 0 ? state.afterReads.take() : nil)
        }
        body?()
        return now
    }

    /// For how many moments somebody waits.
    var waitingCount: Int { state.withLock(\.calls.count) }

    /// In how many seconds those come for which somebody waits, in their order.
    var waits: [Double] {
        state.withLock { state in
            state.calls.map { Double($0.moment.saturatingSubtract(state.now)) / 1e9 }.sorted()
        }
    }

    var source: TimeSource {
        TimeSource { [self] in
            read()
        } arrange: { [self] moment, queue, body in
            state.withLock { $0.calls.append(Call(moment: moment, queue: queue, body: body)) }
        }
    }

    /// Moves the time on by so many seconds. Returns when what became due has been done, each in its queue, in the order
    /// of the moments.
    func advance(by seconds: Double) {
        let end = now.saturatingAdd(UInt64(clamping: seconds * 1e9))
        while let call = state.withLock({ $0.takeNext(by: end) }) {
            call.queue.sync(execute: call.body)
        }
    }
}
