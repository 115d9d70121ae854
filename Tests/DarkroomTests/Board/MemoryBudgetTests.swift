import Testing

@testable import DarkroomBoard

/// The ledger moved by hand. Amounts are in megabytes.
final class MemoryBudgetTests {
    private static let mega = 1 << 20

    private var ledger = MemoryBudget()

    /// Those of one hundred are of one batch.
    private func work(_ number: Int) -> Work {
        .filter(number / 100, image: number)
    }

    private func works(_ numbers: Int...) -> [Work] { numbers.map(work) }

    @discardableResult
    private func limit(
        _ megabytes: Int, width: Int = 100, keptForBatches: Int = 0, keptForOwners: Int = 0
    ) -> [Work] {
        ledger.setLimits(
            bytes: megabytes * Self.mega,
            places: FilterSlots(
                width: width, keptForBatches: keptForBatches, keptForOwners: keptForOwners))
    }

    private func takeEverything(_ number: Int, owner: UInt32 = 1) -> Bool {
        ledger.take(.everything, for: work(number), owner: owner)
    }

    private func serve() -> [Work] { ledger.serve() }

    private func forget(_ number: Int) -> Bool { ledger.forget(work(number)) }

    private func take(_ number: Int, _ megabytes: Int, owner: UInt32 = 1) -> Bool {
        ledger.take(.bytes(megabytes * Self.mega), for: work(number), owner: owner)
    }

    private func wait(_ number: Int, _ megabytes: Int, level: Int = 0, owner: UInt32 = 1) {
        ledger.wait(
            work(number), for: .bytes(megabytes * Self.mega), level: level, owner: owner)
    }

    private func free(_ number: Int) -> [Work] {
        #expect(forget(number))
        return serve()
    }

    /// So many others get memory that whoever waits has been passed too often.
    private func passOften(from first: Int, _ megabytes: Int, owner: UInt32 = 1) {
        for number in first..<first + MemoryBudget.patience {
            #expect(take(number, megabytes, owner: owner))
            #expect(free(number).isEmpty)
        }
    }

    @Test func givesWhatThereIsAndNoMore() {
        limit(100)
        #expect(take(1, 60) && !take(2, 41) && take(3, 40))
        #expect(ledger.held == 100 * Self.mega)
        #expect(!take(4, 1))
        #expect(free(1).isEmpty)
        #expect(take(4, 1) && ledger.held == 44 * Self.mega)
    }

    /// Even the smallest picture needs buffers. Where there is less than a share, one begins all the same, and hears from
    /// its header what it lacks.
    @Test(arguments: [100, 1]) func countsAShareForEach(megabytes: Int) {
        limit(megabytes)
        #expect(take(1, 0) && ledger.held == min(MemoryBudget.share, megabytes * Self.mega))
        #expect(ledger.exceeds(2 * Self.mega) == (megabytes == 1))
        #expect(take(2, 0) == (megabytes > 1))
        #expect(forget(1) && take(2, 0))
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
        #expect(free(1) == works(4, 6))
        #expect(free(4) == works(5))
        #expect(free(2).isEmpty && free(6).isEmpty)
        #expect(free(5) == works(3))
        #expect(ledger.held == 90 * Self.mega && ledger.waitingCount == 0)
    }

    @Test func servesTheHigherLevelFirst() {
        limit(100)
        #expect(take(1, 100))
        wait(2, 60, level: 3)
        wait(3, 60, level: 7)
        wait(4, 60, level: 7)
        wait(5, 60, level: 5)
        #expect(free(1) == works(3))
        #expect(free(3) == works(4))
        #expect(free(4) == works(5))
        #expect(free(5) == works(2))
    }

    /// A grant that nobody can use keeps memory from those who could.
    @Test func grantsToNoMoreThanCanWork() {
        limit(100, width: 2)
        #expect(take(1, 4) && take(2, 4) && !take(3, 4))
        wait(3, 4)
        wait(4, 4)
        #expect(free(1) == works(3))
        #expect(free(2) == works(4))
        // Who works already is not held up.
        #expect(take(3, 50))
    }

    @Test func aLargeOneIsPassedForAWhileAndThenNotAnyMore() {
        limit(100)
        #expect(take(0, 50))
        wait(1, 100)
        passOften(from: 2, 10)
        #expect(!take(1000, 10))
        wait(1000, 10)
        wait(1001, 10, level: 24)
        #expect(serve().isEmpty)
        // Who has been given something may keep it, but gets no more.
        #expect(take(0, 50) && !take(0, 60))
        #expect(free(0) == works(1))
        #expect(free(1) == works(1001, 1000))
    }

    /// Of two that have been passed too often the older goes first.
    @Test func theLongestWaitingIsServedFirst() {
        limit(100)
        #expect(take(0, 50))
        wait(1, 100)
        #expect(take(2, 4) && free(2).isEmpty)
        wait(3, 60, level: 9)
        for number in 10..<10 + MemoryBudget.patience {
            #expect(take(number, 10) == (number < 9 + MemoryBudget.patience))
            ledger.forget(work(number))
        }
        #expect(free(0) == works(1))
        #expect(free(1) == works(3))
    }

    @Test func whoNeedsEverythingIsAlone() {
        limit(100)
        #expect(take(1, 10))
        #expect(!takeEverything(2))
        ledger.wait(work(2), for: .everything, level: 0, owner: 1)
        #expect(free(1) == works(2))
        #expect(!take(3, 4) && ledger.held == 100 * Self.mega)
        wait(3, 4)
        // Its header says what it needs, which it has.
        #expect(take(2, 70))
        #expect(free(2) == works(3))
    }

    @Test func whoIsForgottenIsNotServed() {
        limit(100)
        #expect(take(1, 100))
        wait(2, 50)
        wait(3, 50)
        #expect(forget(2))
        #expect(!forget(2))
        #expect(free(1) == works(3))
        #expect(!ledger.holds(work(2)) && ledger.waitingCount == 0)
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
        #expect(serve() == works(1))
        #expect(free(1) == works(2))
    }

    @Test func limitsChange() {
        limit(100)
        #expect(take(1, 100))
        wait(2, 150)
        wait(3, 90)
        wait(4, 50)
        #expect(limit(160) == works(4))
        // Less than what is held: nothing new, and those that can never have enough hear of it.
        #expect(limit(60) == works(2, 3))
        #expect(!ledger.holds(work(2)) && !ledger.holds(work(3)))
        #expect(!take(5, 4) && free(1).isEmpty)
        #expect(take(5, 4) && take(6, 6) && !take(7, 4))
    }

    // MARK: What is kept

    @Test func keepsPlacesForWhoHasNone() {
        limit(800, width: 2, keptForBatches: 1, keptForOwners: 1)
        #expect(take(100, 4) && take(101, 4) && !take(102, 4))
        wait(102, 4)
        wait(103, 4)
        #expect(serve().isEmpty)
        // A batch of the same owner, an owner, and no one more of either.
        #expect(take(200, 4) && !take(201, 4) && !take(300, 4))
        #expect(take(400, 4, owner: 2) && !take(401, 4, owner: 2) && !take(500, 4, owner: 3))
        wait(401, 4, owner: 2)
        wait(500, 4, owner: 3)
        #expect(free(400) == works(401))
        #expect(free(401) == works(500))
        // Those at work are still as many as there are places.
        #expect(free(100).isEmpty && free(200).isEmpty)
        #expect(free(101) == works(102))
    }

    /// An eighth; an image that fills all the rest leaves it to others.
    @Test func keepsMemoryForOwnersWhoHaveNone() {
        limit(800, keptForOwners: 8)
        #expect(ledger.mostOfOne == 700 * Self.mega)
        #expect(!ledger.exceeds(700 * Self.mega) && ledger.exceeds(700 * Self.mega + 1))
        #expect(take(1, 700) && !take(2, 4))
        #expect(take(10, 4, owner: 2) && !take(11, 4, owner: 2))
        // It learns what it needs; more than one may have of what is kept it waits for.
        #expect(!take(10, 33, owner: 2) && take(10, 32, owner: 2))
        #expect(take(20, 32, owner: 3) && take(30, 32, owner: 4) && !take(40, 5, owner: 5))
        #expect(ledger.held == 796 * Self.mega)
        wait(2, 700)
        wait(40, 32, owner: 5)
        #expect(free(10) == works(40) && free(20).isEmpty && free(40).isEmpty)
        #expect(free(1) == works(2))
        #expect(free(2).isEmpty && free(30).isEmpty && ledger.held == 0)
    }

    /// So many owners take all that they may of it.
    @Test(arguments: [(32, 1, 32), (64, 2, 32), (1024, 32, 32), (2048, 32, 64), (8192, 32, 64)])
    func whatIsKeptIsNotTakenByFew(eighth: Int, owners: Int, most: Int) {
        limit(8 * eighth, keptForOwners: 64)
        #expect(take(1, ledger.mostOfOne / Self.mega))
        for owner in 1...owners {
            #expect(!take(owner + 10, most + 1, owner: UInt32(owner) + 10))
            #expect(take(owner + 10, most, owner: UInt32(owner) + 10))
        }
        #expect(!take(1000, 4, owner: 9))
        wait(1000, 4, owner: 9)
        #expect(free(11) == works(1000))
    }

    /// What is kept serves those who come while there is nothing else.
    @Test func takesWhatIsKeptOnlyWhereTheRestIsTaken() {
        limit(800, keptForOwners: 8)
        #expect(take(10, 4, owner: 2) && take(1, 690))
        // It is moved where there is more of it.
        #expect(take(10, 32, owner: 2) && take(1, 700))
        #expect(!take(10, 33, owner: 2) && free(1).isEmpty)
        #expect(take(10, 200, owner: 2) && take(1, 500) && take(20, 32, owner: 3))
    }

    @Test func atMostSoMuchIsKept() {
        limit(1 << 20, keptForOwners: 8)
        #expect(ledger.mostOfOne == ((1 << 20) - 2048) * Self.mega)
        limit(1 << 20, keptForOwners: 0)
        #expect(ledger.mostOfOne == ledger.limit)
    }

    /// One that has been passed too often keeps others from all but what is kept, which it cannot have.
    @Test func whatIsKeptIsGivenPastOneThatWasPassedTooOften() {
        limit(800, keptForOwners: 8)
        #expect(take(1, 50))
        wait(2, 700)
        passOften(from: 10, 4, owner: 2)
        #expect(!take(3, 4))
        wait(3, 4)
        #expect(take(100, 32, owner: 2) && !take(101, 4, owner: 2) && !take(200, 33, owner: 3))
        wait(200, 32, owner: 3)
        #expect(serve() == works(200))
        #expect(free(1) == works(2))
    }

    /// Who needs all that is everybody's keeps nobody from what is kept: neither while it waits, even passed
    /// too often, nor while it has it.
    @Test func whatIsKeptIsGivenBesideOneThatNeedsEverything() {
        limit(800, width: 4, keptForOwners: 8)
        #expect(take(1, 4, owner: 2))
        ledger.wait(work(2), for: .everything, level: 0, owner: 1)
        passOften(from: 10, 4, owner: 2)
        #expect(!take(10, 4, owner: 2))
        #expect(take(3, 30, owner: 3))
        #expect(free(1) == works(2))
        #expect(ledger.held == 730 * Self.mega)
        // An owner more, and nobody for whom it is not kept.
        #expect(take(4, 31, owner: 4) && !take(5, 4, owner: 4) && !take(6, 4, owner: 1))
        #expect(ledger.held == 761 * Self.mega)
        // Its header says what it needs: all that is everybody's, or too much for any.
        #expect(take(2, 700) && ledger.exceeds(700 * Self.mega + 1))
        wait(5, 4, owner: 4)
        #expect(free(4) == works(5))
        #expect(free(2).isEmpty && free(3).isEmpty && free(5).isEmpty && ledger.held == 0)
    }

    /// Of two that need it one has it, and the other does not take what is kept.
    @Test func onlyOneNeedsEverythingAtOnce() {
        limit(800, width: 4, keptForOwners: 8)
        #expect(takeEverything(1) && !takeEverything(2, owner: 2))
        ledger.wait(work(2), for: .everything, level: 0, owner: 2)
        #expect(take(3, 32, owner: 3))
        // Not the end of one in the kept part: what is everybody's must be free.
        #expect(free(3).isEmpty && take(4, 4, owner: 4))
        #expect(free(1) == works(2))
        #expect(ledger.holds(work(4)) && ledger.held == 704 * Self.mega)
    }
}
