import Testing

@testable import DarkroomBatch
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSelfTest

/// The ledger moved by hand. Amounts are in megabytes.
@Suite final class MemoryLedgerTests {
    private static let mega = 1 << 20

    private var ledger = MemoryLedger()

    private func ticket(_ number: Int) -> MemoryLedger.Ticket {
        MemoryLedger.Ticket(batch: 1, image: number)
    }

    private func tickets(_ numbers: Int...) -> [MemoryLedger.Ticket] { numbers.map(ticket) }

    @discardableResult
    private func limit(_ megabytes: Int, width: Int = 100) -> [MemoryLedger.Ticket] {
        ledger.setLimits(bytes: megabytes * Self.mega, width: width)
    }

    private func takeEverything(_ number: Int) -> Bool {
        ledger.take(.everything, for: ticket(number))
    }

    private func serve() -> [MemoryLedger.Ticket] { ledger.serve() }

    private func forget(_ number: Int) -> Bool { ledger.forget(ticket(number)) }

    private func take(_ number: Int, _ megabytes: Int) -> Bool {
        ledger.take(.bytes(megabytes * Self.mega), for: ticket(number))
    }

    private func wait(_ number: Int, _ megabytes: Int, level: Int = 0) {
        ledger.wait(ticket(number), for: .bytes(megabytes * Self.mega), level: level)
    }

    private func free(_ number: Int) -> [MemoryLedger.Ticket] {
        #expect(forget(number))
        return serve()
    }

    @Test func givesWhatThereIsAndNoMore() {
        limit(100)
        #expect(take(1, 60) && !take(2, 41) && take(3, 40))
        #expect(ledger.held == 100 * Self.mega)
        #expect(!take(4, 1))
        #expect(free(1).isEmpty)
        #expect(take(4, 1) && ledger.held == 44 * Self.mega)
    }

    /// Even the smallest picture needs buffers.
    @Test func countsAShareForEach() {
        limit(100)
        #expect(take(1, 0))
        #expect(ledger.held == MemoryLedger.share)
    }

    /// Where there is less than a share, a picture begins all the same, and hears from its header what it lacks.
    @Test func letsAPictureBeginWhereThereIsLessThanAShare() {
        limit(1)
        #expect(take(1, 0))
        #expect(ledger.held == Self.mega)
        #expect(ledger.exceeds(2 * Self.mega))
        #expect(!take(2, 0))
        #expect(forget(1))
        #expect(take(2, 0))
    }

    @Test func growsByTheDifference() {
        limit(100)
        #expect(take(1, 10) && take(2, 10))
        #expect(take(1, 90) && ledger.held == 100 * Self.mega)
        // What it has already is no matter of what others have.
        #expect(take(1, 5) && take(1, 90) && !take(1, 91))
        #expect(ledger.held == 100 * Self.mega)
    }

    @Test func refusesOnlyWhatIsMoreThanThereEverIs() {
        limit(100)
        #expect(!ledger.exceeds(100 * Self.mega) && ledger.exceeds(100 * Self.mega + 1))
        #expect(take(1, 100))
    }

    @Test func servesInTheOrderOfComingWhatFits() {
        limit(100)
        #expect(take(1, 50) && take(2, 50))
        wait(3, 90)
        wait(4, 20)
        wait(5, 40)
        wait(6, 10)
        #expect(free(1) == tickets(4, 6))
        #expect(free(4) == tickets(5))
        #expect(free(2).isEmpty && free(6).isEmpty)
        #expect(free(5) == tickets(3))
        #expect(ledger.held == 90 * Self.mega && ledger.waitingCount == 0)
    }

    @Test func servesTheHigherLevelFirst() {
        limit(100)
        #expect(take(1, 100))
        wait(2, 60, level: 3)
        wait(3, 60, level: 7)
        wait(4, 60, level: 7)
        wait(5, 60, level: 5)
        #expect(free(1) == tickets(3))
        #expect(free(3) == tickets(4))
        #expect(free(4) == tickets(5))
        #expect(free(5) == tickets(2))
    }

    /// A grant that nobody can use keeps memory from those who could.
    @Test func grantsToNoMoreThanCanWork() {
        limit(100, width: 2)
        #expect(take(1, 4) && take(2, 4) && !take(3, 4))
        wait(3, 4)
        wait(4, 4)
        #expect(free(1) == tickets(3))
        #expect(free(2) == tickets(4))
        // Who works already is not held up.
        #expect(take(3, 50))
    }

    @Test func aLargeOneIsPassedForAWhileAndThenNotAnyMore() {
        limit(100)
        #expect(take(0, 50))
        wait(1, 100)
        for number in 2..<2 + MemoryLedger.patience {
            #expect(take(number, 10))
            #expect(free(number).isEmpty)
        }
        #expect(!take(1000, 10))
        wait(1000, 10)
        wait(1001, 10, level: 24)
        #expect(serve().isEmpty)
        // Who has been given something may keep it, but gets no more.
        #expect(take(0, 50) && !take(0, 60))
        #expect(free(0) == tickets(1))
        #expect(free(1) == tickets(1001, 1000))
    }

    /// Of two that have been passed too often the older goes first.
    @Test func theLongestWaitingIsServedFirst() {
        limit(100)
        #expect(take(0, 50))
        wait(1, 100)
        #expect(take(2, 4) && free(2).isEmpty)
        wait(3, 60, level: 9)
        for number in 10..<10 + MemoryLedger.patience {
            #expect(take(number, 10) == (number < 9 + MemoryLedger.patience))
            ledger.forget(ticket(number))
        }
        #expect(free(0) == tickets(1))
        #expect(free(1) == tickets(3))
    }

    @Test func whoNeedsEverythingIsAlone() {
        limit(100)
        #expect(take(1, 10))
        #expect(!takeEverything(2))
        ledger.wait(ticket(2), for: .everything, level: 0)
        #expect(free(1) == tickets(2))
        #expect(!take(3, 4) && ledger.held == 100 * Self.mega)
        wait(3, 4)
        // Its header says what it needs, which it has.
        #expect(take(2, 70))
        #expect(free(2) == tickets(3))
    }

    @Test func whoIsForgottenIsNotServed() {
        limit(100)
        #expect(take(1, 100))
        wait(2, 50)
        wait(3, 50)
        #expect(forget(2))
        #expect(!forget(2))
        #expect(free(1) == tickets(3))
        #expect(!ledger.holds(ticket(2)) && ledger.waitingCount == 0)
    }

    @Test func whoTakesWaitsNoMore() {
        limit(100)
        #expect(take(1, 60))
        wait(2, 50)
        #expect(take(2, 40) && ledger.waitingCount == 0)
        #expect(free(1).isEmpty && free(2).isEmpty && ledger.held == 0)
    }

    /// Waiting with memory in hand is how two wait for each other.
    @Test func whoWaitsGivesBackWhatItHas() {
        limit(100)
        #expect(take(1, 50) && take(2, 50))
        #expect(!take(1, 80) && !take(2, 80))
        wait(1, 80)
        #expect(serve().isEmpty)
        wait(2, 80)
        #expect(serve() == tickets(1))
        #expect(free(1) == tickets(2))
    }

    @Test func limitsChange() {
        limit(100)
        #expect(take(1, 100))
        wait(2, 150)
        wait(3, 90)
        wait(4, 50)
        #expect(limit(160) == tickets(4))
        // Less than what is held: nothing new, and those that can never have enough hear of it.
        #expect(limit(60) == tickets(2, 3))
        #expect(!ledger.holds(ticket(2)) && !ledger.holds(ticket(3)))
        #expect(!take(5, 4) && free(1).isEmpty)
        #expect(take(5, 4) && take(6, 6) && !take(7, 4))
    }
}
