import Testing

@testable import DarkroomSpool

struct FreeNumberTests {
    @Test(arguments: [0, 1, 2, 3, 4, 7, 8, 100, 40_000, 1_000_000])
    func looksAtFew(taken: Int) {
        var looks = 0
        let number = FreeNumber.search(from: 2) {
            looks += 1
            return $0 < 2 + taken
        }
        #expect(number == 2 + taken)
        #expect(looks <= 2 * (taken.bitWidth - taken.leadingZeroBitCount) + 2, "\(looks)")
    }

    /// Whatever is taken, what is found is free, and the one before it is not.
    @Test func findsAFreeOneAmongHoles() {
        for pattern in 0..<1 << 10 {
            let number = FreeNumber.search(from: 2) { $0 - 2 < 10 && pattern >> ($0 - 2) & 1 == 1 }
            #expect(number >= 12 || pattern >> (number - 2) & 1 == 0)
            #expect(number == 2 || number > 12 || pattern >> (number - 3) & 1 == 1)
        }
    }
}
