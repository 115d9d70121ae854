/// The time of a timer that may be set anew before it fires. Only the last setting counts.
struct PlannedTick: Sendable {
    struct Tick: Sendable {
        fileprivate let number: Int
        /// In nanoseconds.
        let time: UInt64
    }

    /// In nanoseconds; nil if no tick is planned.
    private(set) var time: UInt64?
    /// That of the present tick.
    private var number = 0

    mutating func plan(at time: UInt64?) -> Tick? {
        self.time = time
        number += 1
        return time.map { Tick(number: number, time: $0) }
    }

    /// Returns false if another setting has replaced this tick.
    mutating func hasCome(_ tick: Tick) -> Bool {
        guard tick.number == number else { return false }
        time = nil
        return true
    }
}
