import Testing

@testable import DarkroomFetch

extension CacheIndex {
    /// The keys, beginning with the least recently used one.
    fileprivate var keys: [CacheKey] {
        var index = self
        return index.makeRoom(for: 0, limit: 0).map(\.key)
    }
}

struct CacheIndexTests {
    private static func key(_ number: Int) -> CacheKey {
        CacheKey(bytes: (0..<32).map { $0 == 31 ? UInt8(number) : 0 })
    }

    private func index(_ numbers: ClosedRange<Int>) -> CacheIndex {
        var index = CacheIndex()
        for number in numbers { index.insert(Self.key(number), bytes: 10) }
        return index
    }

    @Test func ordersByUse() {
        var index = index(1...4)
        index.use(Self.key(2), bytes: 10)
        index.use(Self.key(4), bytes: 10)
        index.use(Self.key(4), bytes: 10)
        index.insertOldest(Self.key(9), bytes: 10)
        // Known already, and used since.
        index.insertOldest(Self.key(1), bytes: 99)
        #expect(index.keys == [9, 1, 3, 2, 4].map(Self.key))
        #expect(index.bytes == 50)
        #expect(index.count == 5)
    }

    @Test func forgets() {
        var index = index(1...3)
        for number in [2, 1, 3, 3] { index.remove(Self.key(number)) }
        #expect(index.keys == [])
        #expect(index.bytes == 0)
        index.insertOldest(Self.key(5), bytes: 1)
        index.insert(Self.key(6), bytes: 2)
        #expect(index.keys == [5, 6].map(Self.key))
        #expect(index.bytes == 3)
    }

    @Test func takesOverAnotherSize() {
        var index = index(1...3)
        index.insert(Self.key(1), bytes: 30)
        #expect(index.bytes == 50)
        #expect(index.keys == [2, 3, 1].map(Self.key))
        // A use tells of what was opened, which may have been another.
        index.use(Self.key(2), bytes: 99)
        index.use(Self.key(2), bytes: 99)
        #expect(index.bytes == 50)
        #expect(index.keys == [3, 1, 2].map(Self.key))
        index.use(Self.key(4), bytes: 7)
        #expect(index.bytes == 57)
    }

    @Test(arguments: [
        (0, 100, [] as [Int]), (0, 90, [1, 2]), (10, 100, [1]), (5, 100, [1]),
        (25, 100, [1, 2, 3]), (0, 40, [1, 2, 3, 4, 5, 6, 7]),
        (0, 0, Array(1...10)), (100, 100, Array(1...10)), (0, 1000, []),
    ])
    func makesRoomByTheOldest(bytes: Int, limit: Int, victims: [Int]) {
        var index = index(1...10)
        let gone = index.makeRoom(for: bytes, limit: limit)
        #expect(gone.map(\.key) == victims.map(Self.key))
        #expect(index.keys == (1...10).filter { !victims.contains($0) }.map(Self.key))
        #expect(index.bytes == 10 * index.count)
    }
}
