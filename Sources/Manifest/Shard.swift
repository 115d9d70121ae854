import DarkroomCore

/// One of the parts into which the images of a manifest are divided, so that several machines can share the work.
package struct Shard: Sendable, Hashable, CustomStringConvertible {
    /// From 1 to `count`.
    package let number: Int
    package let count: Int

    /// The most parts of a manifest.
    package static let mostCount = 100_000

    /// nil if there is no such part.
    package init?(_ number: Int, of count: Int) {
        guard (1...Self.mostCount).contains(count), (1...count).contains(number) else { return nil }
        self.number = number
        self.count = count
    }

    /// For people.
    package var description: String { "shard \(number) of \(count)" }
}

/// Which images of a manifest are in which shard.
///
/// An image is in the shard whose number is 1 + H mod `count`, where H are the first eight bytes of the SHA-256 of its
/// name, as a number with the highest byte first. So the place of an image in the manifest does not matter, and everybody
/// can compute the shard:
///
///     printf %s NAME | sha256sum | head -c 16
///
/// Images that need each other (`from`, `after`, the images that filters lay over others), directly or by way of others,
/// are in one shard: that of the first of their names, by the order of the bytes. So are the variants of an image.
///
/// The exception is an image that is not published, needs no other one and is no variant, such as a logo that is laid over
/// all images: each shard with an image that needs it has a copy, and filters it for itself. So it ties no images
/// together.
package struct ShardAssignment: Sendable {
    private let numbers: [Int32]
    /// The other shards that have an image, in ascending order. `numbers` has the first one.
    private var copies: [Int: [Int]] = [:]
    /// The number of images in the largest set of images that need each other.
    package let largestGroup: Int

    package init(of manifest: Manifest, count: Int) {
        var groups = Groups(of: manifest)
        var names: [Int: ByteString] = [:]
        var sizes: [Int: Int] = [:]
        for index in manifest.images.indices where groups.isShared(index) {
            let group = groups.root(of: index)
            let name = manifest.images[index].name
            names[group] = names[group].map { min($0, name) } ?? name
            sizes[group, default: 0] += 1
        }
        largestGroup = sizes.values.max() ?? min(1, manifest.images.count)
        let numbersOfGroups = names.mapValues { Self.number(of: $0, count: count) }
        var numbers = manifest.images.indices.map { index in
            numbersOfGroups[groups.root(of: index)]
                ?? Self.number(of: manifest.images[index].name, count: count)
        }
        var shards: [Int: Set<Int32>] = [:]
        for (index, image) in manifest.images.enumerated() {
            for other in image.needs + image.after where manifest.images[other].isCopied {
                shards[other, default: []].insert(numbers[index])
            }
        }
        for (image, shards) in shards {
            let shards = shards.sorted()
            numbers[image] = shards[0]
            if shards.count > 1 { copies[image] = shards.dropFirst().map(Int.init) }
        }
        self.numbers = numbers
    }

    /// The number of the shard of an image; the first one, if several have it.
    package subscript(image: Int) -> Int { Int(numbers[image]) }

    /// The further shards that have an image.
    package func copies(of image: Int) -> [Int] { copies[image] ?? [] }

    /// The images that more than one shard has.
    package var copied: [Int] { Array(copies.keys) }

    fileprivate func has(_ image: Int, in shard: Int) -> Bool {
        Int(numbers[image]) == shard || copies[image]?.contains(shard) == true
    }

    private static func number(of name: ByteString, count: Int) -> Int32 {
        Int32(SHA256Digest.word(of: name) % UInt64(count)) + 1
    }
}

extension Manifest.Image {
    /// Whether each shard that needs the image has a copy of it. It must need no other image, and have no output, which
    /// only one shard may write. A variant goes with the others.
    fileprivate var isCopied: Bool {
        guard case .source = origin, variant == nil else { return false }
        return !isPublished && overlays.isEmpty && after.isEmpty
    }
}

/// Sets of images that need each other (a disjoint-set forest).
private struct Groups {
    private var parents: [Int32]
    /// Whether an image needs another one, or is needed. Copied images do not count.
    private var shared: [Bool]

    init(of manifest: Manifest) {
        parents = manifest.images.indices.map { Int32($0) }
        shared = [Bool](repeating: false, count: manifest.images.count)
        for (index, image) in manifest.images.enumerated() {
            for other in image.needs + image.after where !manifest.images[other].isCopied {
                join(index, other)
            }
            if let variant = image.variant { join(index, variant.first) }
        }
    }

    func isShared(_ index: Int) -> Bool { shared[index] }

    mutating func root(of index: Int) -> Int {
        var index = index
        while Int(parents[index]) != index {
            parents[index] = parents[Int(parents[index])]
            index = Int(parents[index])
        }
        return index
    }

    private mutating func join(_ a: Int, _ b: Int) {
        shared[a] = true
        shared[b] = true
        let (first, second) = (root(of: a), root(of: b))
        parents[max(first, second)] = Int32(min(first, second))
    }
}

extension Manifest {
    /// The images of one shard, in the manifest's order. Nothing else about them changes: their names and outputs are
    /// those in the whole manifest.
    package func part(_ shard: Shard) -> Manifest {
        part(shard.number, by: ShardAssignment(of: self, count: shard.count))
    }

    package func part(_ number: Int, by assignment: ShardAssignment) -> Manifest {
        var places: [Int: Int] = [:]
        var part = self
        part.images = []
        for index in images.indices where assignment.has(index, in: number) {
            places[index] = places.count
        }
        // Whatever an image of the shard needs is in the shard.
        func place(_ index: Int) -> Int { places[index] ?? 0 }
        for index in images.indices where assignment.has(index, in: number) {
            var image = images[index]
            if case .image(let other) = image.origin { image.origin = .image(place(other)) }
            image.after = image.after.map(place)
            image.overlays = image.overlays.map(place)
            if let variant = image.variant { image.variant?.first = place(variant.first) }
            part.images.append(image)
        }
        return part
    }
}
