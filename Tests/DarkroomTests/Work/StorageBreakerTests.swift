import SystemPackage
import Testing

@testable import DarkroomCore
@testable import DarkroomWork

/// The table in `StorageBreaker`, row by row.
struct StorageBreakerTests {
    static let second: UInt64 = 1_000_000_000
    static let full = Failure(code: "disk-full", message: "f: cannot write", storageFailure: .full)
    static let lost = Failure(code: "io-error", message: "f: cannot sync", storageFailure: .lasting)

    var condition = StorageBreaker()

    /// At a second of the test's clock.
    private mutating func writeRefused(
        _ failure: Failure = Self.full, at second: UInt64
    ) -> StorageBreaker.Notice? {
        condition.writeRefused(failure, now: second * Self.second, time: "t\(second)")
    }

    private mutating func tick(at second: UInt64) -> StorageBreaker.Notice? {
        condition.tick(now: second * Self.second)
    }

    @Test func worksUntilAWriteIsRefused() {
        #expect(condition.mayWork && condition.deadline == nil && condition.trouble == nil)
    }

    @Test mutating func waitsASecondAndLetsOnePieceThrough() {
        #expect(writeRefused(at: 100) == .began)
        #expect(condition.phase == .waiting(until: 101 * Self.second))
        #expect(condition.trouble == .init(failure: Self.full, since: "t100"))
        #expect(!condition.mayWork)
        #expect(condition.tick(now: 101 * Self.second - 1) == nil)
        #expect(condition.phase == .waiting(until: 101 * Self.second))
        #expect(tick(at: 101) == nil)
        #expect(condition.phase == .trying(until: 161 * Self.second))
        #expect(!condition.mayWork)
    }

    /// What was under way when it began meets the same, and neither lengthens the wait nor is news.
    @Test mutating func isNotTroubledTwice() {
        _ = writeRefused(at: 100)
        for _ in 0..<100 { #expect(writeRefused(at: 100) == nil) }
        #expect(condition.phase == .waiting(until: 101 * Self.second))
    }

    @Test mutating func waitsTwiceAsLongAfterEachAttemptUpToHalfAMinute() {
        _ = writeRefused(at: 0)
        var now: UInt64 = 0
        var waits: [UInt64] = []
        for _ in 0..<8 {
            guard case .waiting(let until) = condition.phase else {
                Issue.record("not waiting: \(condition.phase)")
                return
            }
            waits.append(until / Self.second - now)
            now = until / Self.second
            _ = tick(at: now)
            _ = writeRefused(at: now)
        }
        #expect(waits == [1, 2, 4, 8, 16, 30, 30, 30])
    }

    @Test mutating func isOverAfterFiveGoodSeconds() {
        _ = writeRefused(at: 0)
        _ = tick(at: 1)
        condition.writeSucceeded(now: 2 * Self.second)
        #expect(condition.phase == .settling(until: 7 * Self.second) && condition.mayWork)
        #expect(tick(at: 6) == nil)
        #expect(tick(at: 7) == .over)
        #expect(condition.phase == .working)
        #expect(condition.trouble != nil)
        condition.forgetTrouble()
        #expect(condition.trouble == nil)
        // The next one is another trouble.
        #expect(writeRefused(at: 8) == .began)
        #expect(condition.phase == .waiting(until: 9 * Self.second))
    }

    /// A disk that is nearly full takes one piece and refuses the next: one trouble, told of once.
    @Test mutating func isTheSameTroubleWhileItSettles() {
        #expect(writeRefused(at: 0) == .began)
        _ = tick(at: 1)
        condition.writeSucceeded(now: 1 * Self.second)
        #expect(writeRefused(at: 2) == nil)
        #expect(condition.phase == .waiting(until: 3 * Self.second))
        #expect(condition.trouble?.since == "t0")
    }

    /// What goes well shortens the next wait by as much as what does not lengthens it.
    @Test mutating func waitsHalfAsLongAfterAnAttemptThatEndedWell() {
        _ = writeRefused(at: 0)
        _ = tick(at: 1)
        _ = writeRefused(at: 1)
        _ = tick(at: 3)
        _ = writeRefused(at: 3)
        #expect(condition.phase == .waiting(until: 7 * Self.second))
        _ = tick(at: 7)
        condition.writeSucceeded(now: 7 * Self.second)
        _ = writeRefused(at: 8)
        #expect(condition.phase == .waiting(until: 10 * Self.second))
    }

    @Test mutating func isToldOfOnceAMinute() {
        var told: [UInt64] = []
        for second in UInt64(0)...200 where writeRefused(at: second) != nil { told.append(second) }
        #expect(told == [0, 60, 120, 180])
    }

    @Test mutating func triesAnotherPieceWhereOneShowedNothing() {
        _ = writeRefused(at: 0)
        _ = tick(at: 1)
        condition.probeInconclusive(now: 3 * Self.second)
        #expect(condition.phase == .waiting(until: 3 * Self.second))
        _ = tick(at: 3)
        #expect(condition.phase == .trying(until: 63 * Self.second))
        // And where one takes too long.
        _ = tick(at: 63)
        #expect(condition.phase == .trying(until: 123 * Self.second))
        _ = writeRefused(at: 64)
        #expect(condition.phase == .waiting(until: 66 * Self.second))
    }

    @Test(arguments: 0..<4) mutating func failsForGoodInEachPhase(phase: Int) {
        if phase > 0 { _ = writeRefused(at: 0) }
        if phase > 1 { _ = tick(at: 1) }
        if phase > 2 { condition.writeSucceeded(now: Self.second) }
        #expect(writeRefused(Self.lost, at: 2) == .failed)
        #expect(condition.phase == .failed && !condition.mayWork && condition.deadline == nil)
        #expect(condition.trouble?.failure == Self.lost)
        // Nothing but an administrator's word changes that.
        #expect(tick(at: 1000) == nil)
        condition.writeSucceeded(now: 1000 * Self.second)
        condition.probeInconclusive(now: 1000 * Self.second)
        #expect(writeRefused(at: 3) == nil)
        #expect(writeRefused(Self.lost, at: 3) == nil)
        #expect(condition.phase == .failed && condition.trouble?.failure == Self.lost)
        condition.tryAgain(now: 1000 * Self.second)
        #expect(tick(at: 1000) == nil)
        #expect(condition.phase == .trying(until: 1060 * Self.second))
        condition.writeSucceeded(now: 1001 * Self.second)
        #expect(tick(at: 1006) == .over)
    }

    @Test mutating func triesAtOnceWhenSomeoneSaysSo() {
        condition.tryAgain(now: 0)
        #expect(condition.phase == .working)
        _ = writeRefused(at: 0)
        condition.tryAgain(now: Self.second / 2)
        #expect(condition.phase == .waiting(until: Self.second / 2))
    }

    /// What a refused write says of the machine.
    @Test func tellsTheMachinesFailuresFromAFiles() {
        func failure(_ step: FileError.Step, _ errno: Errno) -> StorageFailure? {
            FileError(step, "f", errno).storageFailure
        }
        #expect(failure(.write, .noSpace) == .full)
        #expect(failure(.write, .diskQuotaExceeded) == .full)
        #expect(failure(.open, .tooManyOpenFiles) == .scarce)
        #expect(failure(.open, .tooManyOpenFilesInSystem) == .scarce)
        #expect(failure(.open, .noMemory) == .scarce)
        #expect(failure(.create, .readOnlyFileSystem) == .lasting)
        // After a failed sync no other tells the truth, whatever its cause.
        #expect(failure(.sync, .ioError) == .lasting)
        #expect(failure(.sync, .noSpace) == .lasting)
        for errno: Errno in [
            .ioError, .permissionDenied, .fileTooLarge, .fileNameTooLong, .noSuchFileOrDirectory,
            .resourceTemporarilyUnavailable,
        ] {
            #expect(failure(.write, errno) == nil)
        }
    }
}
