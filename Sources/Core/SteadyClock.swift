/// The time of day as far as nobody has put it ahead since a moment: it goes on with the clock that nobody sets at most.
///
/// What is measured with it against the time of a file is never longer than it was, and where the clock was put right
/// it may be shorter.
struct SteadyClock: Sendable {
    /// Both clocks at that moment, in seconds.
    let wall: Double
    let uptime: Double

    /// - Parameters:
    ///   - wall: the time of day, in seconds since 1970.
    ///   - uptime: that of CLOCK_BOOTTIME.
    func time(wall: Double, uptime: Double) -> Double {
        min(wall, self.wall + max(0, uptime - self.uptime))
    }
}
