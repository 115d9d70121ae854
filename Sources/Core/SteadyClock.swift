/// The time of day, but limited: it does not advance faster than the clock that nobody can set, so it ignores that
/// someone sets the time of day ahead.
///
/// An interval between this clock and the time of a file is never too long. It may be too short if the clock was
/// corrected.
struct SteadyClock: Sendable {
    /// Both clocks at the beginning, in seconds.
    let wall: Double
    let uptime: Double

    /// - Parameters:
    ///   - wall: the time of day, in seconds since 1970.
    ///   - uptime: the time of CLOCK_BOOTTIME, in seconds.
    func time(wall: Double, uptime: Double) -> Double {
        min(wall, self.wall + max(0, uptime - self.uptime))
    }
}
