import Testing

@testable import DarkroomCore
@testable import DarkroomManifest

/// Which images are in which shard.
struct ShardTests {
    /// A manifest whose images have these names; each may be made from another one, or wait for others.
    private static func manifest(
        _ names: [String], from: [Int: Int] = [:], after: [Int: [Int]] = [:],
        overlays: [Int: [Int]] = [:], unpublished: [Int] = []
    ) -> Manifest {
        Manifest(
            images: names.enumerated().map { index, name in
                Manifest.Image(
                    name: ByteString(name),
                    origin: from[index].map { .image($0) } ?? .source("\(name).png"),
                    after: after[index] ?? [], overlays: overlays[index] ?? [],
                    isPublished: !unpublished.contains(index))
            })
    }

    /// As `printf %s NAME | sha256sum` gives them. Shards of another version must not differ.
    @Test(arguments: [
        ("a", [1, 1, 2, 11, 251]), ("b.png", [1, 1, 1, 5, 405]),
        ("photos/Ä 1.jpg", [1, 2, 3, 2, 794]),
    ])
    func areKnown(name: String, numbers: [Int]) {
        let found = [1, 2, 3, 16, 1000].map {
            ShardAssignment(of: Self.manifest([name]), count: $0)[0]
        }
        #expect(found == numbers)
    }

    @Test(arguments: [
        (1, 1, true), (2, 2, true), (16, 16, true), (Shard.mostCount, Shard.mostCount, true),
        (0, 1, false), (2, 1, false), (-1, 3, false), (1, 0, false),
        (1, Shard.mostCount + 1, false),
    ])
    func existsUpToItsCount(number: Int, count: Int, exists: Bool) {
        #expect((Shard(number, of: count) != nil) == exists)
    }

    @Test(arguments: [1, 2, 3, 16, 1000])
    func eachImageIsInOne(count: Int) throws {
        let names = (0..<500).map { "image \($0)" }
        let manifest = Self.manifest(names)
        var found: [ByteString] = []
        for number in 1...count {
            let part = manifest.part(try #require(Shard(number, of: count)))
            // In the manifest's order.
            let places = part.images.map { image in names.firstIndex(of: image.name.string) ?? -1 }
            #expect(places == places.sorted())
            found += part.images.map(\.name)
        }
        #expect(found.sorted() == manifest.images.map(\.name).sorted())
    }

    @Test func areOfAboutTheSameSize() {
        let manifest = Self.manifest((0..<16_000).map { "photos/IMG_\($0).jpg" })
        let assignment = ShardAssignment(of: manifest, count: 16)
        var counts = [Int](repeating: 0, count: 17)
        for index in manifest.images.indices { counts[assignment[index]] += 1 }
        #expect(counts[0] == 0)
        // The standard deviation is 31.
        #expect(counts.dropFirst().allSatisfy { (850...1150).contains($0) }, "\(counts)")
        #expect(assignment.largestGroup == 1)
    }

    /// `from`, `after` and overlays, directly or by way of others; in the shard of the first of their names.
    @Test(arguments: [2, 7, 1000])
    func imagesThatNeedEachOtherAreTogether(count: Int) {
        let names = ["z", "m", "b", "q", "alone", "w"]
        let manifest = Self.manifest(
            names, from: [1: 0], after: [2: [1]], overlays: [3: [2], 5: [0]])
        let assignment = ShardAssignment(of: manifest, count: count)
        let first = ShardAssignment(of: Self.manifest(["b"]), count: count)[0]
        #expect([0, 1, 2, 3, 5].allSatisfy { assignment[$0] == first })
        #expect(assignment[4] == ShardAssignment(of: Self.manifest(["alone"]), count: count)[0])
        #expect(assignment.largestGroup == 5)
    }

    /// An image for other images only, such as a logo: each shard that needs it has it, and it ties nothing together.
    @Test(arguments: [1, 4, 1000]) func aHelperIsCopied(count: Int) throws {
        let names = ["logo"] + (1..<200).map { "n\($0)" } + ["lonely"]
        let alone = Self.manifest(names)
        let manifest = Self.manifest(
            names, from: [7: 0], after: [9: [0]],
            overlays: Dictionary(uniqueKeysWithValues: (10..<200).map { ($0, [0]) }),
            unpublished: [0, 200])
        let assignment = ShardAssignment(of: manifest, count: count)
        let former = ShardAssignment(of: alone, count: count)
        #expect(assignment.largestGroup == 1)
        for index in 1...200 {
            #expect(assignment[index] == former[index] && assignment.copies(of: index) == [])
        }
        let needing = Set(([7, 9] + Array(10..<200)).map { assignment[$0] }).sorted()
        #expect([assignment[0]] + assignment.copies(of: 0) == needing)
        #expect(assignment.copied == (needing.count > 1 ? [0] : []))
        var sum = 0
        for number in 1...count {
            let part = manifest.part(try #require(Shard(number, of: count)))
            let has = part.images.contains { $0.name == "logo" }
            #expect(has == needing.contains(number))
            for image in part.images where !image.needs.isEmpty {
                #expect(image.needs.map { part.images[$0].name } == ["logo"])
            }
            sum += part.images.count
        }
        #expect(sum == names.count + needing.count - 1)
    }

    /// What has an output, needs another image or waits for one is in one shard, with all that need it.
    @Test(
        arguments: [
            (from: [:], after: [:], unpublished: []), (from: [0: 3], after: [:], unpublished: [0]),
            (from: [:], after: [0: [3]], unpublished: [0]),
        ] as [(from: [Int: Int], after: [Int: [Int]], unpublished: [Int])])
    func otherImagesAreNotCopied(from: [Int: Int], after: [Int: [Int]], unpublished: [Int]) {
        let manifest = Self.manifest(
            ["logo", "a", "b", "c"], from: from, after: after, overlays: [1: [0], 2: [0]],
            unpublished: unpublished)
        let assignment = ShardAssignment(of: manifest, count: 1000)
        #expect(assignment.copied == [])
        #expect(assignment[1] == assignment[0] && assignment[2] == assignment[0])
    }

    /// What an image needs is found in its part, under the same name.
    @Test func aPartRefersToItsOwnImages() throws {
        let count = 5
        let names = (0..<60).map { "n\($0)" }
        let manifest = Self.manifest(
            names, from: Dictionary(uniqueKeysWithValues: (1..<20).map { ($0 * 3, $0 * 3 - 1) }),
            after: [4: [1], 40: [4, 7]], overlays: [10: [13, 16]])
        var sum = 0
        for number in 1...count {
            let part = manifest.part(try #require(Shard(number, of: count)))
            for image in part.images {
                let whole = try #require(manifest.images.first { $0.name == image.name })
                func names(_ indices: [Int], _ manifest: Manifest) -> [ByteString] {
                    indices.map { manifest.images[$0].name }
                }
                #expect(names(image.needs, part) == names(whole.needs, manifest))
                #expect(names(image.after, part) == names(whole.after, manifest))
                #expect(image.outputFile == whole.outputFile)
            }
            sum += part.images.count
        }
        #expect(sum == names.count)
    }

    /// Names that the reader makes are those of the whole manifest.
    @Test func numbersOfNamesAreThoseOfTheWhole() throws {
        let manifest = try read("images: [a.png, b/a.png, c/a.png, d/a.png]", .yaml)
        let names = manifest.images.map(\.name)
        #expect(names == ["a", "a-2", "a-3", "a-4"])
        let parts = try (1...3).map { manifest.part(try #require(Shard($0, of: 3))) }
        #expect(parts.flatMap { $0.images.map(\.name) }.sorted() == names)
        #expect(parts.contains { !$0.images.isEmpty && $0.images[0].name != "a" })
    }
}
