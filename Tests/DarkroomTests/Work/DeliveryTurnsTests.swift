import Testing

@testable import DarkroomBoard

/// Whose outputs are delivered next.
struct DeliveryTurnsTests {
    private typealias Turns = BatchRotation<String>

    private static func turns(_ items: [String]) -> Turns {
        var turns = Turns()
        for item in items { add(item, to: &turns) }
        return turns
    }

    private static func add(_ item: String, to turns: inout Turns) {
        turns.append(item, of: item.first?.wholeNumberValue.map(UInt32.init))
    }

    private static func next(_ most: Int, of turns: inout Turns) -> [String] {
        (0..<most).compactMap { _ in turns.next() }
    }

    @Test func ownersTakeTurns() {
        var turns = Self.turns(["1a", "1b", "1c", "2a", "x", "1d", "2b"])
        #expect(Self.next(4, of: &turns) == ["1a", "2a", "x", "1b"])
        Self.add("x2", to: &turns)
        #expect(Self.next(10, of: &turns) == ["2b", "1c", "x2", "1d"])
        #expect(turns.isEmpty && Self.next(1, of: &turns) == [])
    }

    @Test func someAreTakenOut() {
        var turns = Self.turns(["1a", "2a", "1b", "2b", "3a"])
        #expect(turns.takeAll { $0 == "3a" || $0.hasPrefix("1") } == ["1a", "1b", "3a"])
        #expect(Self.next(9, of: &turns) == ["2a", "2b"])
        #expect(turns.takeAll { _ in true } == [])
    }

    /// Somebody who has very much does not keep another one waiting for more than one turn.
    @Test func nobodyWaitsForAll() {
        var turns = Self.turns((0..<100_000).map { "1-\($0)" })
        _ = Self.next(64, of: &turns)
        Self.add("2", to: &turns)
        #expect(Self.next(64, of: &turns).prefix(2).contains("2"))
    }
}
