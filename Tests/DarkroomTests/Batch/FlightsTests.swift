import Testing

@testable import Darkroom

@Suite struct FlightsTests {
    private var flights = Flights()
    private let key = CacheKey(bytes: [UInt8](repeating: 1, count: 32))
    private let otherKey = CacheKey(bytes: [UInt8](repeating: 2, count: 32))

    private func item(_ batch: BatchKey, _ priority: Darkroom.Priority = .normal) -> Flights.Item {
        Flights.Item(
            work: .download(batch, source: 0), priority: priority, quality: .default)
    }

    private mutating func enter(_ item: Flights.Item, _ key: CacheKey? = nil) -> Bool {
        var change = Flights.Change()
        defer { #expect(change == Flights.Change()) }
        return flights.enter(item, key ?? self.key, &change)
    }

    private mutating func begin(_ item: Flights.Item, _ key: CacheKey? = nil) -> Flights.Turn {
        var change = Flights.Change()
        defer { #expect(change == Flights.Change()) }
        return flights.begin(item.work, key ?? self.key, &change)
    }

    private mutating func end(_ item: Flights.Item, _ ending: Flights.Ending) -> Flights.Change {
        var change = Flights.Change()
        flights.end(item.work, ending, &change)
        return change
    }

    private mutating func remove(_ item: Flights.Item) -> Flights.Change {
        var change = Flights.Change()
        flights.remove(item.work, &change)
        return change
    }

    /// One who leads and has begun, two who wait.
    private mutating func three() {
        #expect(enter(item(1)))
        #expect(begin(item(1)) == .leads)
        #expect(!enter(item(2)))
        #expect(!enter(item(3)))
        #expect(flights.waitingCount == 2)
    }

    @Test mutating func lettingOthersCopy() {
        three()
        #expect(flights.hasWaiters(item(1).work))
        #expect(!flights.hasWaiters(item(2).work))
        #expect(end(item(1), .shared) == Flights.Change(released: [item(2), item(3)]))
        // They pass, although someone new leads meanwhile.
        #expect(enter(item(4)))
        #expect(enter(item(2)))
        #expect(begin(item(2)) == .copies)
        #expect(begin(item(3)) == .copies)
        // What was to be copied may be gone: then one waits for the new leader.
        #expect(begin(item(2)) == .waits)
        #expect(!enter(item(2)))
        #expect(begin(item(4)) == .leads)
        #expect(end(item(4), .shared) == Flights.Change(released: [item(2)]))
        #expect(begin(item(2)) == .copies)
        #expect(flights.isEmpty)
    }

    @Test mutating func lettingOthersFetchForThemselves() {
        three()
        #expect(end(item(1), .unshared) == Flights.Change(released: [item(2), item(3)]))
        for number in 2...3 {
            #expect(enter(item(number)))
            #expect(begin(item(number)) == .alone)
            #expect(end(item(number), .unshared) == Flights.Change())
        }
        #expect(flights.isEmpty)
    }

    @Test mutating func failingTogether() {
        three()
        #expect(end(item(1), .failed) == Flights.Change(failed: [item(2), item(3)]))
        #expect(flights.isEmpty)
    }

    @Test(arguments: [true, false])
    mutating func leadIsHandedOn(byRemoval: Bool) {
        three()
        #expect(!enter(item(4, .high)))
        let first = byRemoval ? remove(item(1)) : end(item(1), .gone)
        #expect(first == Flights.Change(released: [item(4, .high)]))
        #expect(enter(item(4, .high)))
        #expect(end(item(4, .high), .gone) == Flights.Change(released: [item(2)]))
        #expect(remove(item(3)) == Flights.Change())
        #expect(enter(item(2)))
        #expect(end(item(2), .gone) == Flights.Change())
        #expect(flights.isEmpty)
    }

    @Test mutating func leaderThatIsPutOffKeepsTheLead() {
        three()
        #expect(enter(item(1)))
        #expect(begin(item(1)) == .leads)
        #expect(end(item(1), .shared).released.count == 2)
    }

    @Test mutating func urgentOneTakesTheLeadOfWhatHasNotBegun() {
        #expect(enter(item(1, .low)))
        #expect(!enter(item(2, .low)))
        #expect(enter(item(3, .high)))
        // The former leader's operation still stands in the queue.
        #expect(begin(item(1, .low)) == .waits)
        #expect(!enter(item(1, .low)))
        #expect(begin(item(3, .high)) == .leads)
        // What has begun is waited for by everyone.
        #expect(!enter(item(4, .veryHigh)))
        #expect(
            end(item(3, .high), .shared)
                == Flights.Change(released: [item(2, .low), item(1, .low), item(4, .veryHigh)]))
    }

    @Test mutating func formerLeaderLeadsAgainWhereAllIsOver() {
        #expect(enter(item(1, .low)))
        #expect(enter(item(2, .high)))
        #expect(begin(item(2, .high)) == .leads)
        #expect(end(item(2, .high), .shared) == Flights.Change())
        #expect(begin(item(1, .low)) == .leads)
        #expect(end(item(1, .low), .shared) == Flights.Change())
        #expect(flights.isEmpty)
    }

    /// A leader that waits for a retry has begun, until it goes into the queue again.
    @Test mutating func waitingForARetryIsNotBypassed() {
        three()
        #expect(!enter(item(4, .veryHigh)))
        #expect(enter(item(1)))
        #expect(enter(item(4, .veryHigh)))
        #expect(begin(item(1)) == .waits)
    }

    @Test mutating func whoIsReleasedMayBeCancelled() {
        three()
        _ = end(item(1), .shared)
        #expect(remove(item(2)) == Flights.Change())
        #expect(begin(item(3)) == .copies)
        #expect(flights.isEmpty)
        // Whoever comes back under its name has no pass any more.
        #expect(begin(item(2)) == .leads)
    }

    @Test mutating func changedKeyLeavesTheFlight() {
        three()
        var change = Flights.Change()
        let first = flights.enter(item(1), otherKey, &change)
        #expect(first)
        #expect(change == Flights.Change(released: [item(2)]))
        change = Flights.Change()
        #expect(flights.begin(item(2).work, otherKey, &change) == .waits)
        #expect(change == Flights.Change(released: [item(3)]))
        #expect(begin(item(3)) == .leads)
    }

    @Test mutating func keysDoNotMeet() {
        #expect(enter(item(1)))
        #expect(enter(item(2), otherKey))
        #expect(begin(item(2), otherKey) == .leads)
        #expect(end(item(2), .failed) == Flights.Change())
        #expect(end(item(7), .failed) == Flights.Change())
        #expect(remove(item(7)) == Flights.Change())
    }
}
