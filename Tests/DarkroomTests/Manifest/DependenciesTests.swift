import Testing

@testable import DarkroomBoard
@testable import DarkroomPicture

struct DependenciesTests {
    /// A manifest's images by name and what they come after (`from` with a `<` before the name),
    /// and the indices that are made of it.
    @Test(
        arguments: [
            (["a": [], "b": ["<a"], "c": ["<b", "a"]], [[], [], [0]]),
            (["a": ["c", "b", "c"], "b": [], "c": []], [[2, 1], [], []]),
            // Coming after the image that it is made from goes without saying.
            (["a": [], "b": ["<a", "a"], "c": ["a", "b"]], [[], [], [0, 1]]),
            // Ways that meet again are no cycle.
            (["a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []], [[1, 2], [3], [3], []]),
        ] as [(KeyValuePairs<String, [String]>, [[Int]])])
    func resolvesNames(images: KeyValuePairs<String, [String]>, expected: [[Int]]) throws {
        #expect(try read(Self.manifest(images)).images.map(\.after) == expected)
    }

    /// Images laid over others are waited for like those that others are made from.
    @Test func resolvesOverlays() throws {
        let manifest = try read(
            """
            {"filters": [{"watermark": {"from": "logo"}}],
             "images": {
               "beach": "b.png",
               "tower": {"from": "beach", "after": ["logo", "map", "frame"], "filters": [
                 {"overlay": {"from": "frame"}}, "mono", {"overlay": {"from": "logo"}},
                 {"overlay": {"from": "frame"}}, {"overlay": {"from": "beach"}}]},
               "logo": {"source": "l.png", "filters": []},
               "frame": {"source": "f.png", "filters": []},
               "map": {"source": "m.png", "after": ["beach"]}}}
            """)
        #expect(manifest.images.map(\.overlays) == [[2], [3, 2], [], [], [2]])
        #expect(manifest.images.map(\.after) == [[], [4], [], [], [0]])
        #expect(manifest.images.map(\.needs) == [[2], [0, 3, 2], [], [], [2]])
        #expect(
            manifest.images.map { $0.blockers.sorted() } == [[2], [0, 2, 3, 4], [], [], [0, 2]])
        #expect(
            manifest.images[0].filters
                == [.overlay(Filter.Overlay(from: "logo", gravity: .southeast))])
        #expect(manifest.images[1].filters.first == .overlay(Filter.Overlay(from: "frame")))
    }

    @Test(
        arguments: [
            (["a": ["a"]], ["a.after[0]"]),
            (["a": ["<b"], "b": ["<a"]], ["b.from"]),
            (["a": ["b"], "b": ["c"], "c": ["a", "b"]], ["c.after[0]", "c.after[1]"]),
            (
                ["x": ["a"], "a": ["b"], "b": ["a"], "c": ["d"], "d": ["c"]],
                ["b.after[0]", "d.after[0]"]
            ),
        ] as [(KeyValuePairs<String, [String]>, [String])])
    func findsCycles(images: KeyValuePairs<String, [String]>, expected: [String]) {
        let found = problems(Self.manifest(images))
        #expect(found.map(\.path) == expected.map { "images." + $0 })
        #expect(found.allSatisfy { $0.code == "cycle" })
    }

    private static func manifest(_ images: KeyValuePairs<String, [String]>) -> String {
        let members = images.map { name, references in
            let from = references.first { $0.hasPrefix("<") }.map { $0.dropFirst() }
            let origin = from.map { "\"from\": \"\($0)\"" } ?? "\"source\": \"\(name).png\""
            let after = references.filter { !$0.hasPrefix("<") }.map { "\"\($0)\"" }
            return "\"\(name)\": {\(origin), \"after\": [\(after.joined(separator: ", "))]}"
        }
        return "{\"images\": {" + members.joined(separator: ",\n") + "}}"
    }
}
