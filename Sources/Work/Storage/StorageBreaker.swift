import DarkroomCore

/// Whether the spool accepts writes, and when this is tested next: a circuit breaker without a clock and files.
///
/// | phase    | new work  | left by                                             | to                     |
/// |----------|-----------|-----------------------------------------------------|------------------------|
/// | working  | begins    | a write is refused for a temporary reason           | waiting                |
/// | waiting  | waits     | the time of the next attempt                        | trying                 |
/// | trying   | one piece | that piece succeeds, or there is nothing to do      | settling               |
/// |          |           | a write is refused again                            | waiting, twice as long |
/// |          |           | it ends without a result, or a minute passes        | waiting, for no time   |
/// | settling | begins    | a write is refused: the same problem                | waiting, as long       |
/// |          |           | five seconds without a refusal: the problem is over | working                |
/// | (each)   |           | a failed sync, an error of the disk                 | failed                 |
/// | failed   | waits     | SIGUSR2                                             | waiting, for no time   |
///
/// A successful attempt halves the wait, so that a disk with space for one image at a time is not idle for long.
struct StorageBreaker {
    enum Phase: Equatable {
        case working
        case waiting(until: UInt64)
        case trying(until: UInt64)
        case settling(until: UInt64)
        case failed
    }

    struct Trouble: Equatable {
        let failure: Failure
        /// When it began, as text.
        let since: String
    }

    /// Messages for users.
    enum Notice: Equatable { case began, lasts, over, failed }

    static let firstDelay: UInt64 = 1_000_000_000
    static let longestDelay: UInt64 = 30_000_000_000
    /// After this time without a result, another piece of work is tried, in nanoseconds.
    static let attemptTime: UInt64 = 60_000_000_000
    /// The problem is over after this time without a refused write, in nanoseconds.
    static let settleTime: UInt64 = 5_000_000_000
    /// The minimum time between two messages about the same problem, in nanoseconds.
    static let noticeInterval: UInt64 = 60_000_000_000

    private(set) var phase = Phase.working
    private(set) var trouble: Trouble?
    /// The time between this attempt and the next, in nanoseconds.
    private(set) var delay: UInt64 = 0
    private var saidAt: UInt64 = 0

    /// Whether work may begin that is not an attempt.
    var mayWork: Bool {
        switch phase {
        case .working, .settling: true
        case .waiting, .trying, .failed: false
        }
    }

    /// When `tick` must be called.
    var deadline: UInt64? {
        switch phase {
        case .working, .failed: nil
        case .waiting(let until), .trying(let until), .settling(let until): until
        }
    }

    /// A write was refused. `time` is the present time as text, `now` in nanoseconds.
    mutating func writeRefused(_ failure: Failure, now: UInt64, time: String) -> Notice? {
        if failure.storageFailure == .lasting, phase != .failed {
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
            // Work in progress meets the same problem.
            break
        }
        guard now - saidAt >= Self.noticeInterval else { return nil }
        saidAt = now
        return .lasts
    }

    /// The attempt was successful, or there was nothing to try.
    mutating func writeSucceeded(now: UInt64) {
        guard case .trying = phase else { return }
        delay = max(delay / 2, Self.firstDelay)
        phase = .settling(until: now + Self.settleTime)
    }

    mutating func probeInconclusive(now: UInt64) {
        guard case .trying = phase else { return }
        phase = .waiting(until: now)
    }

    mutating func tryAgain(now: UInt64) {
        switch phase {
        case .failed:
            delay = Self.firstDelay
            phase = .waiting(until: now)
        case .waiting: phase = .waiting(until: now)
        case .working, .trying, .settling: break
        }
    }

    /// Handles the time. If the phase becomes `.trying`, one piece of work must begin.
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

    /// Forgets the problem after its end has been reported.
    mutating func forgetTrouble() { if phase == .working { trouble = nil } }
}
