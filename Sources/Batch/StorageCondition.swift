import DarkroomCore

/// Whether the spool takes writes, and when that is found out next: a circuit breaker without clock and files.
///
/// | phase    | new work | left by                                     | to       |
/// |----------|----------|---------------------------------------------|----------|
/// | working  | begins   | a write refused for a reason that passes    | waiting  |
/// | waiting  | waits    | the time of the next attempt                | trying   |
/// | trying   | one piece| that piece ends well, or nothing is to do   | settling |
/// |          |          | a write is refused again                    | waiting, twice as long |
/// |          |          | it ends before it has shown anything, or a minute passes | waiting, for no time |
/// | settling | begins   | a write is refused: it is the same trouble  | waiting, as long |
/// |          |          | five seconds without one: the trouble is over | working |
/// | (each)   |          | a failed sync, an error of the disk         | failed   |
/// | failed   | waits    | SIGUSR2                                     | waiting, for no time |
///
/// An attempt that ends well halves the wait, so that a disk with room for one image at a time is not idle for long.
struct StorageCondition {
    enum Phase: Equatable {
        case working
        case waiting(until: UInt64)
        case trying(until: UInt64)
        case settling(until: UInt64)
        case failed
    }

    /// What keeps the spool from taking writes.
    struct Trouble: Equatable {
        let failure: Failure
        /// When it began, for people.
        let since: String
    }

    /// What people are to be told.
    enum Notice: Equatable { case began, lasts, over, failed }

    static let firstDelay: UInt64 = 1_000_000_000
    static let longestDelay: UInt64 = 30_000_000_000
    /// How long an attempt may take before another piece of work is tried.
    static let attemptTime: UInt64 = 60_000_000_000
    /// How long writes must go well until the trouble counts as over.
    static let settleTime: UInt64 = 5_000_000_000
    /// The least time between two words about the same trouble.
    static let noticeInterval: UInt64 = 60_000_000_000

    private(set) var phase = Phase.working
    private(set) var trouble: Trouble?
    /// Between this attempt and the next, in nanoseconds.
    private(set) var delay: UInt64 = 0
    private var saidAt: UInt64 = 0

    /// Whether work may begin without being an attempt.
    var mayWork: Bool {
        switch phase {
        case .working, .settling: true
        case .waiting, .trying, .failed: false
        }
    }

    /// When `tick` is to be called.
    var deadline: UInt64? {
        switch phase {
        case .working, .failed: nil
        case .waiting(let until), .trying(let until), .settling(let until): until
        }
    }

    /// A write was refused. `time` is now as people write it, `now` in nanoseconds.
    mutating func writeRefused(_ failure: Failure, now: UInt64, time: String) -> Notice? {
        if failure.fault == .lasting, phase != .failed {
            trouble = Trouble(failure: failure, since: trouble?.since ?? time)
            phase = .failed
            saidAt = now
            return .failed
        }
        switch phase {
        case .working:
            trouble = Trouble(failure: failure, since: time)
            delay = Self.firstDelay
            phase = .waiting(until: now + delay)
            saidAt = now
            return .began
        case .trying, .settling:
            trouble = Trouble(failure: failure, since: trouble?.since ?? time)
            if case .trying = phase { delay = min(delay * 2, Self.longestDelay) }
            phase = .waiting(until: now + delay)
        case .waiting, .failed:
            // What was under way meets the same.
            break
        }
        guard now - saidAt >= Self.noticeInterval else { return nil }
        saidAt = now
        return .lasts
    }

    /// The piece of work that was let through has ended well, or there was none to try.
    mutating func writeSucceeded(now: UInt64) {
        guard case .trying = phase else { return }
        delay = max(delay / 2, Self.firstDelay)
        phase = .settling(until: now + Self.settleTime)
    }

    /// The piece of work that was let through has ended without showing whether writes are taken.
    mutating func probeInconclusive(now: UInt64) {
        guard case .trying = phase else { return }
        phase = .waiting(until: now)
    }

    /// Someone says that it may be in order again.
    mutating func tryAgain(now: UInt64) {
        switch phase {
        case .failed:
            delay = Self.firstDelay
            phase = .waiting(until: now)
        case .waiting: phase = .waiting(until: now)
        case .working, .trying, .settling: break
        }
    }

    /// What the time asks for: `.trying` is entered where one piece of work is to be let through.
    mutating func tick(now: UInt64) -> Notice? {
        guard let deadline, now >= deadline else { return nil }
        switch phase {
        case .waiting, .trying:
            phase = .trying(until: now + Self.attemptTime)
        case .settling:
            phase = .working
            return .over
        case .working, .failed: break
        }
        return nil
    }

    /// Forgets the trouble once it has been told that it is over.
    mutating func forgetTrouble() { if phase == .working { trouble = nil } }
}
