import Glibc
import Testing

/// Numbers from outside are as large as their types allow.
struct SaturationTests {
    static let edges = [Int.min, .min + 1, -2, -1, 0, 1, 2, .max - 1, .max]

    @Test(arguments: edges, edges) func holdsToWhatThereIs(a: Int, b: Int) {
        func held(_ exact: Int128) -> Int { Int(clamping: exact) }
        #expect(a.saturatingAdd(b) == held(Int128(a) + Int128(b)))
        #expect(a.saturatingSubtract(b) == held(Int128(a) - Int128(b)))
        #expect(a.saturatingMultiply(b) == held(Int128(a) * Int128(b)))
    }

    @Test func sums() {
        #expect([Int.max, .max, 1].saturatingSum() == .max)
        #expect([1, 2, 3].saturatingSum() == 6)
        #expect([UInt64.max, 1].saturatingSum() == .max)
        #expect([Int]().saturatingSum() == 0)
    }

    @Test(
        arguments: [
            (0.0, 0), (-0.9, 0), (1.9, 1), (-1.9, -1), (1e300, .max), (-1e300, .min), (.nan, 0),
            (.infinity, .max), (-.infinity, .min), (9.223372036854775807e18, .max),
            (-9.223372036854775808e18, .min), (9.2233720368547748e18, 9_223_372_036_854_774_784),
        ] as [(Double, Int)])
    func converts(number: Double, integer: Int) {
        #expect(Int(clamping: number) == integer)
    }

    @Test(arguments: [(-1.0, 0), (1.8446744073709552e19, .max), (1e6, 1_000_000)])
    func convertsToWhatIsNotNegative(number: Double, integer: UInt64) {
        #expect(UInt64(clamping: number) == integer)
    }

    @Test(arguments: [(Int.min, 0), (-1, 0), (0, 0), (.max, .max)])
    func noLengthIsNegative(said: Int, length: Int) {
        var information = stat()
        information.st_size = said
        #expect(information.length == length)
    }

    @Test func aFileSystemMayHaveAnyRoom() {
        var information = statvfs()
        information.f_frsize = .max
        information.f_blocks = .max
        information.f_bavail = 2
        #expect(information.room == (.max, .max))
        information.f_frsize = 4096
        #expect(information.room == (.max, 8192))
    }
}
