import Testing

@testable import DarkroomCore
@testable import DarkroomDaemon

struct ArrivalsTests {
    private static let attacker: UInt32 = 2001
    private static let other: UInt32 = 2000

    /// A reference, for expectations call nothing that mutates a value.
    private final class Names {
        private(set) var arrivals = Arrivals()

        func add(_ name: FileName, isWhole: Bool, owner: UInt32?) -> Bool {
            arrivals.add(name, isWhole: isWhole, owner: owner)
        }

        func next(where hasRoom: (UInt32?) -> Bool = { _ in true }) -> Arrivals.Arrival? {
            arrivals.next(where: hasRoom)
        }

        func all() -> [String] {
            var names: [String] = []
            while let arrival = next() { names.append(arrival.name.text) }
            return names
        }
    }

    /// Each name with its owner, and the order in which they are taken.
    @Test(
        arguments: [
            (["a": 1, "b": 1, "c": 1], "abc", "abc"),
            (["a": 1, "b": 1, "c": 1, "x": 2], "abcx", "axbc"),
            (["a": 1, "b": 1, "x": 2, "y": 2, "0": nil], "abxy0", "ax0by"),
            ([:], "", ""),
        ] as [([String: UInt32?], String, String)])
    func ownersTakeTurns(owners: [String: UInt32?], order: String, taken: String) {
        let names = Names()
        for name in order.map(String.init) {
            #expect(
                names.add(FileName(name), isWhole: false, owner: owners[name].flatMap { $0 }))
        }
        #expect(names.arrivals.isEmpty == order.isEmpty)
        #expect(names.all() == taken.map(String.init))
        #expect(names.arrivals.isEmpty)
    }

    @Test func whoHasFewNamesFindsRoomBesideMany() {
        let names = Names()
        for number in 0..<Arrivals.capacity {
            #expect(names.add("\(number)", isWhole: true, owner: Self.attacker))
        }
        #expect(!names.add("more", isWhole: true, owner: Self.attacker))
        #expect(names.arrivals.hasLeft && !names.arrivals.contains("more"))
        for number in 0..<Arrivals.reserve {
            #expect(names.add("own\(number)", isWhole: true, owner: Self.other))
        }
        #expect(!names.add("own", isWhole: true, owner: Self.other))
        #expect(names.next()?.name == "0")
        #expect(names.next()?.name == "own0")
        #expect(names.next()?.name == "1")
        #expect(names.all().count == Arrivals.capacity + Arrivals.reserve - 3)
    }

    /// Names that were left in the folder are worth a look when their owner has room and none are here.
    @Test func tellsWhoseNamesWereLeft() {
        let names = Names()
        for number in 0...Arrivals.capacity {
            _ = names.add("\(number)", isWhole: true, owner: Self.attacker)
        }
        for number in 0...Arrivals.reserve {
            _ = names.add("own\(number)", isWhole: true, owner: Self.other)
        }
        let hasRoom: (UInt32?) -> Bool = { $0 != Self.attacker }
        for _ in 0..<Arrivals.reserve {
            #expect(!names.arrivals.hasLeft(where: hasRoom))
            #expect(names.next(where: hasRoom) != nil)
        }
        #expect(names.arrivals.hasLeft(where: hasRoom))
        #expect(!names.arrivals.hasLeft { _ in false })
        #expect(names.add("own", isWhole: true, owner: Self.other))
        #expect(!names.arrivals.hasLeft(where: hasRoom))
    }

    @Test func aNameWaitsTheTurnOfItsOwner() {
        let names = Names()
        for name in ["a", "b", "job", "c"] as [FileName] {
            #expect(names.add(name, isWhole: false, owner: Self.attacker))
        }
        #expect(names.add("job", isWhole: true, owner: Self.other))
        #expect(names.arrivals.isWhole("job"))
        #expect(names.next() == .init(name: "a", isWhole: false))
        #expect(names.next() == .init(name: "job", isWhole: true))
        #expect(!names.arrivals.contains("job"))
        #expect(names.all() == ["b", "c"])
    }

    /// Who comes while a name of another is read does not wait for that one's next.
    @Test func whoComesMeanwhileIsNext() {
        let names = Names()
        for name in ["a", "b", "c"] as [FileName] {
            #expect(names.add(name, isWhole: true, owner: Self.attacker))
        }
        #expect(names.next()?.name == "a")
        #expect(names.add("x", isWhole: true, owner: Self.other))
        #expect(names.next()?.name == "x")
        #expect(names.add("d", isWhole: true, owner: Self.attacker))
        #expect(names.add("y", isWhole: true, owner: Self.other))
        #expect(names.all() == ["b", "y", "c", "d"])
        #expect(names.add("z", isWhole: true, owner: Self.other))
        #expect(names.all() == ["z"])
    }

    @Test func whoHasNoRoomIsPassedOver() {
        let names = Names()
        for name in ["a", "b"] as [FileName] {
            #expect(names.add(name, isWhole: true, owner: Self.attacker))
        }
        let hasRoom: (UInt32?) -> Bool = { $0 != Self.attacker }
        #expect(!names.arrivals.hasNext(where: hasRoom))
        #expect(names.next(where: hasRoom) == nil)
        for name in ["x", "y"] as [FileName] {
            #expect(names.add(name, isWhole: true, owner: Self.other))
        }
        #expect(names.next(where: hasRoom)?.name == "x")
        #expect(names.arrivals.hasNext(where: hasRoom))
        #expect(names.next(where: hasRoom)?.name == "y")
        #expect(!names.arrivals.hasNext(where: hasRoom))
        #expect(names.next(where: hasRoom) == nil)
        #expect(names.all() == ["a", "b"])
    }

    @Test func aNameIsKnownOnceAndWholeWhereAnEventSaysSo() {
        let names = Names()
        for isWhole in [false, true, false] {
            #expect(names.add("a", isWhole: isWhole, owner: Self.other))
        }
        #expect(names.next() == .init(name: "a", isWhole: true))
        #expect(names.next() == nil)
        #expect(names.add("a", isWhole: false, owner: Self.other))
        #expect(!names.arrivals.isWhole("a"))
    }
}
