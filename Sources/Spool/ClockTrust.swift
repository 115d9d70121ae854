/// Whether the machine's clock may be believed where something is removed for its age: a clock that has jumped ahead
/// makes everything old at once.
///
/// The evidence is a clock that nobody sets, CLOCK_BOOTTIME, which goes on while the machine is suspended, and the
/// time of the program's file, before which it cannot be. Nothing runs while a machine is off, so that after a start
/// of the machine there is the last look's time alone.
///
/// | what a look finds | removal |
/// |---|---|
/// | a time before the program's | waits until it is later, and a day from then |
/// | in step with the other clock since the last look, up to five minutes in all | goes on |
/// | ahead of it by more | waits until a day has passed by the other clock, or the time is as it was |
/// | behind it | goes on: everything is younger than it was |
/// | the machine was started, at most a day later, or earlier, than the last look | goes on |
/// | the same, more than a day later | waits for a quarter of an hour, in which a clock that is wrong is mostly corrected |
///
/// A day is for whoever sees the warning. What goes wrong in the day is not counted again: where each morning begins
/// with a jump, removal would never come.
package struct ClockTrust: Sendable, Equatable, Codable {
    /// Both clocks at one time, in seconds.
    package struct Moment: Sendable, Equatable, Codable {
        /// Since 1970.
        package var wall: Double
        /// Since the machine was started.
        package var uptime: Double
        /// Names the start of the machine; empty where it is not known, and then it counts as another one each time.
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
        /// The clock is before the program was built.
        case beforeProgram
        /// It has jumped ahead by so many seconds.
        case ahead(Double)
        /// The machine was started so many seconds after the last look.
        case longAfter(Double)

        /// How long removal waits, in seconds of the clock that nobody sets.
        fileprivate var patience: Double {
            switch self {
            case .beforeProgram, .ahead: day
            case .longAfter: 900
            }
        }
    }

    private struct Hold: Sendable, Equatable, Codable {
        var doubt: Doubt
        /// How much of its patience has passed.
        var passed = 0.0
    }

    /// How far the clock may be ahead of the other one, in seconds.
    package static let tolerance = 300.0
    package static let day = 86400.0

    /// What the clock is held against: the last look that was believed, its time less what small steps ahead have added.
    private var reference: Moment?
    private var last: Moment?
    private var hold: Hold?

    package init() {}

    /// Why removal waits; nil where it does not.
    package var doubt: Doubt? { hold?.doubt }

    /// For how many seconds it waits yet.
    package var remaining: Double { hold.map { max(0, $0.doubt.patience - $0.passed) } ?? 0 }

    /// Looks at the clocks.
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
            // Corrected. What was finished until now has a time that is too early.
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

    /// Takes the clock as it is.
    private mutating func believe(_ now: Moment) {
        hold = nil
        reference = now
    }

    /// The reference goes on with the clock that nobody sets, or many small steps would make a large one; and back with
    /// the other.
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

    /// By how much more the clock has gone on than the other one, where that can be known.
    private static func excess(of now: Moment, over earlier: Moment) -> Double {
        let gone = now.wall - earlier.wall
        return earlier.isOfOneStart(with: now) ? gone - (now.uptime - earlier.uptime) : gone
    }
}
