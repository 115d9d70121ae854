import Testing

@testable import DarkroomBoard

struct FilterSlotsTests {
    @Test func saysWhoMayHaveOneMore() {
        let places = FilterSlots(width: 2, keptForBatches: 1, keptForOwners: 2)
        let entrants = (0..<7).map { places.entrants(taken: $0) }
        #expect(entrants == [.all, .all, .idleBatches, .idleOwners, .idleOwners, nil, nil])
    }

    @Test func withoutLimitAnyoneMay() {
        let places = FilterSlots(width: .max, keptForOwners: 1)
        #expect(places.entrants(taken: 1_000_000) == .all)
    }
}
