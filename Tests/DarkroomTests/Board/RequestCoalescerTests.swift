import Testing

@testable import DarkroomBoard
@testable import DarkroomFetch
@testable import DarkroomManifest

struct RequestCoalescerTests {
    private var flights = RequestCoalescer()
    private let key = CacheKey(bytes: [UInt8](repeating: 1, count: 32))
    private let otherKey = CacheKey(bytes: [UInt8](repeating: 2, count: 32))

    private func item(_ batch: BatchKey, _ priority: DarkroomManifest.Priority = .normal)
        -> WorkRequest
    {
        WorkRequest(
            work: .download(batch, source: 0), priority: priority, quality: .default)
    }

    private mutating func enter(_ item: WorkRequest, _ key: CacheKey? = nil) -> Bool {
        var change = RequestCoalescer.Change()
        defer { #expect(change == RequestCoalescer.Change()) }
        return flights.enter(item, key ?? self.key, &change)
    }

    private mutating func begin(_ item: WorkRequest, _ key: CacheKey? = nil)
        -> RequestCoalescer.Turn
    {
        var change = RequestCoalescer.Change()
        defer { #expect(change == RequestCoalescer.Change()) }
        return flights.begin(item.work, key ?? self.key, &change)
    }

    private mutating func end(_ item: WorkRequest, _ ending: RequestCoalescer.Ending)
        -> RequestCoalescer.Change
    {
        var change = RequestCoalescer.Change()
        flights.end(item.work, ending, &change)
        return change
    }

    private mutating func remove(_ item: WorkRequest) -> RequestCoalescer.Change {
        var change = RequestCoalescer.Change()
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
        #expect(end(item(1), .shared) == RequestCoalescer.Change(released: [item(2), item(3)]))
        // They pass, although someone new leads meanwhile.
        #expect(begin(item(4)) == .leads)
        #expect(enter(item(2)))
        #expect(begin(item(2)) == .copies)
        #expect(begin(item(3)) == .copies)
        // What was to be copied may be gone: then one waits for the new leader.
        #expect(begin(item(2)) == .waits)
        #expect(!enter(item(2)))
        #expect(end(item(4), .shared) == RequestCoalescer.Change(released: [item(2)]))
        #expect(begin(item(2)) == .copies)
        #expect(flights.isEmpty)
    }

    @Test mutating func lettingOthersFetchForThemselves() {
        three()
        #expect(end(item(1), .unshared) == RequestCoalescer.Change(released: [item(2), item(3)]))
        for number in 2...3 {
            #expect(enter(item(number)))
            #expect(begin(item(number)) == .alone)
            #expect(end(item(number), .unshared) == RequestCoalescer.Change())
        }
        #expect(flights.isEmpty)
    }

    @Test mutating func failingTogether() {
        three()
        #expect(end(item(1), .failed) == RequestCoalescer.Change(failed: [item(2), item(3)]))
        #expect(flights.isEmpty)
    }

    /// Who waited goes for a turn, and whose turn comes first leads the others.
    @Test(arguments: [true, false])
    mutating func leadIsHandedOn(byRemoval: Bool) {
        three()
        let after = byRemoval ? remove(item(1)) : end(item(1), .gone)
        #expect(after == RequestCoalescer.Change(released: [item(2), item(3)]))
        #expect(enter(item(2)))
        #expect(enter(item(3)))
        #expect(begin(item(3)) == .leads)
        #expect(begin(item(2)) == .waits)
        #expect(!enter(item(2)))
        #expect(remove(item(2)) == RequestCoalescer.Change())
        #expect(end(item(3), .gone) == RequestCoalescer.Change())
        #expect(flights.isEmpty)
    }

    /// Nobody waits for a download whose turn may be far off.
    @Test mutating func whatHasNotBegunIsWaitedForByNobody() {
        #expect(enter(item(1)))
        #expect(enter(item(2)))
        #expect(enter(item(3, .high)))
        #expect(begin(item(3, .high)) == .leads)
        // What has begun is, by everyone.
        #expect(!enter(item(4, .veryHigh)))
        #expect(begin(item(1)) == .waits)
        #expect(!enter(item(1)))
        #expect(
            end(item(3, .high), .shared)
                == RequestCoalescer.Change(released: [item(4, .veryHigh), item(1)]))
        // All is over when this one's turn comes: it looks into the cache.
        #expect(begin(item(2)) == .leads)
        #expect(end(item(2), .shared) == RequestCoalescer.Change())
    }

    /// A leader that waits for a next attempt keeps the lead, until it goes for a turn again.
    @Test mutating func whoGoesForATurnAgainLeadsNoMore() {
        three()
        #expect(!enter(item(4, .veryHigh)))
        var change = RequestCoalescer.Change()
        let mayGo = flights.enter(item(1), key, &change)
        #expect(mayGo)
        #expect(
            change == RequestCoalescer.Change(released: [item(2), item(3), item(4, .veryHigh)]))
        #expect(enter(item(4, .veryHigh)))
        #expect(begin(item(4, .veryHigh)) == .leads)
        #expect(begin(item(1)) == .waits)
        #expect(!enter(item(1)))
    }

    @Test mutating func whoIsReleasedMayBeCancelled() {
        three()
        _ = end(item(1), .shared)
        #expect(remove(item(2)) == RequestCoalescer.Change())
        #expect(begin(item(3)) == .copies)
        #expect(flights.isEmpty)
        // Whoever comes back under its name has no pass any more.
        #expect(begin(item(2)) == .leads)
    }

    @Test mutating func changedKeyLeavesTheFlight() {
        three()
        var change = RequestCoalescer.Change()
        let first = flights.enter(item(1), otherKey, &change)
        #expect(first)
        #expect(change == RequestCoalescer.Change(released: [item(2), item(3)]))
        #expect(begin(item(2)) == .leads)
        #expect(!enter(item(3)))
        change = RequestCoalescer.Change()
        #expect(flights.begin(item(2).work, otherKey, &change) == .leads)
        #expect(change == RequestCoalescer.Change(released: [item(3)]))
    }

    @Test mutating func keysDoNotMeet() {
        #expect(enter(item(1)))
        #expect(begin(item(1)) == .leads)
        #expect(enter(item(2), otherKey))
        #expect(begin(item(2), otherKey) == .leads)
        #expect(end(item(2), .failed) == RequestCoalescer.Change())
        #expect(end(item(7), .failed) == RequestCoalescer.Change())
        #expect(remove(item(7)) == RequestCoalescer.Change())
    }

    /// Whoever leaves, the others keep their order.
    @Test mutating func someLeaveInBetween() {
        three()
        for number in 4...9 { #expect(!enter(item(number))) }
        for number in [3, 8, 5] { #expect(remove(item(number)) == RequestCoalescer.Change()) }
        #expect(!enter(item(3)))
        let rest = [2, 4, 6, 7, 9, 3].map { item($0) }
        #expect(end(item(1), .gone) == RequestCoalescer.Change(released: rest))
        #expect(flights.isEmpty)
    }
}
