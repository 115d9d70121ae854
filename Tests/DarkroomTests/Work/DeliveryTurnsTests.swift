import Testing

@testable import DarkroomWork

/// Whose outputs are delivered next.
@Suite struct DeliveryTurnsTests {
    private static func turns(_ items: [String]) -> DeliveryTurns<String> {
        var turns = DeliveryTurns<String> { $0.first?.wholeNumberValue.map(UInt32.init) }
        for item in items { turns.append(item) }
        return turns
    }

    @Test func ownersTakeTurns() {
        var turns = Self.turns(["1a", "1b", "1c", "2a", "x", "1d", "2b"])
        #expect(turns.next(atMost: 4) == ["1a", "2a", "x", "1b"])
        turns.append("x2")
        #expect(turns.next(atMost: 10) == ["2b", "1c", "x2", "1d"])
        #expect(turns.isEmpty && turns.next(atMost: 1) == [])
    }

    @Test func someAreTakenOut() {
        var turns = Self.turns(["1a", "2a", "1b", "2b", "3a"])
        #expect(turns.removeAll { $0 == "3a" || $0.hasPrefix("1") } == ["1a", "1b", "3a"])
        #expect(turns.next(atMost: 9) == ["2a", "2b"])
        #expect(turns.removeAll { _ in true } == [])
    }

    /// Somebody who has very much does not keep another one waiting for more than one turn.
    @Test func nobodyWaitsForAll() {
        var turns = Self.turns((0..<100_000).map { "1-\($0)" })
        _ = turns.next(atMost: 64)
        turns.append("2")
        #expect(turns.next(atMost: 64).prefix(2).contains("2"))
    }
}
