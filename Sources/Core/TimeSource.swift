import Dispatch

/// Where a station gets the time that decides what it does next, and who calls it when a moment has come.
///
/// What is measured for people and for statistics comes from `Clock`. A station that gets its time from here can be
/// moved through hours in a moment.
package struct TimeSource: Sendable {
    package typealias Body = @Sendable () -> Void

    private let read: @Sendable () -> UInt64
    private let arrange: @Sendable (UInt64, DispatchQueue, @escaping Body) -> Void

    /// - Parameters:
    ///   - read: gives nanoseconds of a clock that nobody sets.
    ///   - arrange: runs a body on a queue as soon as `read` gives a moment or a later one.
    package init(
        read: @escaping @Sendable () -> UInt64,
        arrange: @escaping @Sendable (UInt64, DispatchQueue, @escaping Body) -> Void
    ) {
        self.read = read
        self.arrange = arrange
    }

    /// The monotonic clock, and Dispatch's timers.
    package static let system = TimeSource(read: { Clock.nanoseconds }) { moment, queue, body in
        let now = Clock.nanoseconds
        let wait = moment > now ? moment - now : 0
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: wait)), execute: body)
    }

    /// In nanoseconds.
    package var now: UInt64 { read() }

    /// Runs `body` on `queue` when a moment has come, at once if it has.
    package func call(at moment: UInt64, on queue: DispatchQueue, _ body: @escaping Body) {
        arrange(moment, queue, body)
    }

    /// The same in so many seconds.
    package func call(in seconds: Double, on queue: DispatchQueue, _ body: @escaping Body) {
        arrange(now.saturatingAdd(UInt64(clamping: seconds * 1e9)), queue, body)
    }
}
