import Testing

@testable import DarkroomCore
@testable import DarkroomManifest

struct NameNumberingTests {
    /// Counts how often a name was asked for.
    private struct Names {
        var taken: Set<ByteString> = []
        var numbers = NameNumbering()
        var asked = 0

        mutating func add(_ base: ByteString) -> ByteString {
            var name = base
            asked += 1
            if taken.contains(base) {
                var count = 0
                name = numbers.name(for: base) {
                    count += 1
                    return taken.contains($0)
                }
                asked += count
            }
            taken.insert(name)
            return name
        }
    }

    @Test func countsFromTwo() {
        var names = Names()
        #expect(
            (0..<12).map { _ in names.add("a") }.map(\.string).suffix(3) == [
                "a-10", "a-11", "a-12",
            ])
        names.taken.formUnion(["b", "b-2", "b-4"])
        #expect((0..<3).map { _ in names.add("b") } == ["b-3", "b-5", "b-6"])
        #expect((0..<2).map { _ in names.add("c.png") } == ["c.png", "c-2.png"])
    }

    /// Names that differ only where they are cut off for their numbers.
    static let hostile: [(String, @Sendable (Int) -> ByteString)] = [
        ("one name", { _ in ByteString(String(repeating: "a", count: 200)) }),
        (
            "differing in what is cut off",
            { ByteString(String(repeating: "a", count: 195) + "\(10_000 + $0 / 2)") }
        ),
        (
            "differing in one byte that is cut off",
            { ByteString(String(repeating: "a", count: 199) + "\($0 / 2 % 10)") }
        ),
        (
            "of combining marks",
            { ByteString("\(100 + $0 % 100)" + String(repeating: "\u{301}", count: 98)) }
        ),
        ("with an ending", { _ in ByteString(String(repeating: "a", count: 196) + ".png") }),
    ]

    /// Each name is tried once at most: those that get one, and those that were taken before.
    @Test(arguments: hostile.indices)
    func takesStepsInProportion(row: Int) {
        let count = 40_000
        var names = Names()
        for index in 0..<count { _ = names.add(Self.hostile[row].1(index)) }
        #expect(names.taken.count == count)
        #expect(names.taken.allSatisfy { $0.utf8.count <= ImageName.maximumBytes })
        #expect(names.asked <= 3 * count, "\(Self.hostile[row].0): \(names.asked) steps")
    }
}
