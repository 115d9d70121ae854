import DarkroomAnswer

/// Decides whether the machine's clock can be trusted when files are removed by age: if the clock jumps ahead,
/// everything seems old.
///
/// It compares the clock with CLOCK_BOOTTIME, which nobody sets and which includes suspended time, and with the time of
/// the program's file, before which the correct time cannot be. While a machine is off, no clock runs for this code, so
/// after a start of the machine it has only the time of the last check.
///
/// | result of a check | removal |
/// |---|---|
/// | before the time of the program | waits until the clock is later, and one day more |
/// | in step with the other clock since the last check, within five minutes in total | continues |
/// | ahead of it by more | waits until a day has passed on the other clock, or until the clock is set back |
/// | behind it | continues, because everything seems younger than it is |
/// | the machine was started, and the last check is at most a day ago, or in the future | continues |
/// | the machine was started, and the last check is more than a day ago | waits for a quarter of an hour, in which a wrong clock is usually corrected |
///
/// In the day, an administrator can react to the warning. Another jump within the day does not extend it: otherwise, if
/// the clock jumps every morning, nothing would ever be removed.
package struct ClockTrust: Sendable, Equatable, Codable {
    /// Both clocks at the same time, in seconds.
    package struct Moment: Sendable, Equatable, Codable {
        /// In seconds since 1970.
        package var wall: Double
        /// In seconds since the start of the machine.
        package var uptime: Double
        /// Identifies the boot of the machine. It is empty if it is unknown; then each check counts as a new boot.
        package var boot: String

        package init(wall: Double, uptime: Double, boot: String) {
            self.wall = wall
            self.uptime = uptime
            self.boot = boot
        }

        fileprivate func isOfOneStart(with other: Moment) -> Bool {
            !boot.isEmpty && boot == other.boot
        }
    }

    package enum Doubt: Sendable, Equatable, Codable {
        /// The clock is before the time at which the program was built.
        case beforeProgram
        /// The clock has jumped ahead by this number of seconds.
        case ahead(Double)
        /// The machine was started this number of seconds after the last check.
        case longAfter(Double)

        /// How long removal waits, in seconds of CLOCK_BOOTTIME.
        fileprivate var patience: Double {
            switch self {
            case .beforeProgram, .ahead: day
            case .longAfter: 900
            }
        }
    }

    private struct Hold: Sendable, Equatable, Codable {
        var doubt: Doubt
        /// The part of this time that has passed.
        var passed = 0.0
    }

    /// How far the clock may be ahead of the other one, in seconds.
    package static let tolerance = 300.0
    package static let day = 86400.0

    /// The reference of the comparison: the last trusted check, whose time is reduced by the sum of small jumps ahead.
    private var reference: Moment?
    private var last: Moment?
    private var hold: Hold?

    package init() {}

    package var doubt: Doubt? { hold?.doubt }

    /// The remaining time of the wait, in seconds.
    package var remaining: Double { hold.map { max(0, $0.doubt.patience - $0.passed) } ?? 0 }

    /// Checks the clocks.
    ///
    /// - Parameter program: the time of the program's file, in seconds since 1970.
    package mutating func look(_ now: Moment, program: Double) {
        let last = self.last
        self.last = now
        if now.wall < program {
            hold = Hold(doubt: .beforeProgram)
            return
        }
        switch hold?.doubt {
        case .beforeProgram?:
            // The clock was corrected. The times of batches that finished before are too early.
            hold = Hold(doubt: .ahead(last.map { Self.excess(of: now, over: $0) } ?? 0))
        case .ahead?, .longAfter?:
            if let last, last.isOfOneStart(with: now) {
                hold?.passed += max(0, now.uptime - last.uptime)
            }
            if remaining == 0 || reference.map({ Self.doubt(now, against: $0) == nil }) == true {
                believe(now)
            }
        case nil:
            if let doubt = reference.flatMap({ Self.doubt(now, against: $0) }) {
                hold = Hold(doubt: doubt)
            } else {
                confirm(now)
            }
        }
    }

    private mutating func believe(_ now: Moment) {
        hold = nil
        reference = now
    }

    /// Moves the reference ahead with CLOCK_BOOTTIME, so that many small jumps do not add up unnoticed; moves it back
    /// with the clock.
    private mutating func confirm(_ now: Moment) {
        guard let reference, reference.isOfOneStart(with: now) else { return believe(now) }
        var next = now
        next.wall = min(now.wall, reference.wall + max(0, now.uptime - reference.uptime))
        self.reference = next
    }

    private static func doubt(_ now: Moment, against reference: Moment) -> Doubt? {
        let excess = excess(of: now, over: reference)
        if reference.isOfOneStart(with: now) { return excess > tolerance ? .ahead(excess) : nil }
        return excess > day ? .longAfter(excess) : nil
    }

    /// How much more the clock has advanced than the other one, if this can be determined.
    private static func excess(of now: Moment, over earlier: Moment) -> Double {
        let gone = now.wall - earlier.wall
        return earlier.isOfOneStart(with: now) ? gone - (now.uptime - earlier.uptime) : gone
    }
}
