import DarkroomManifest

/// The sizes of a batch's sources, as far as they are known, as a measure of the work that its images are.
///
/// The work of an image is the size of its source in bytes, plus a fixed amount that the images of the batch show
/// (`WorkModel`). Images with the same filters and the same form of output, and with sources of about the same size, are
/// a group. What the images of a group really took corrects the work of its other images.
package struct SourceSizes: Sendable {
    /// The sums of the images whose sizes are known.
    package struct Sums: Sendable, Equatable {
        struct Group: Sendable, Equatable {
            /// The bytes of the sources of the images that have ended, and their number.
            var endedBytes = 0
            var endedImages = 0
            /// The bytes of the others, and their number.
            var leftBytes = 0
            var leftImages = 0
            /// How much longer than by their sizes its images take.
            var rate = 1.0

            mutating func add(_ images: Int, bytes: Int) {
                leftBytes += bytes * images
                leftImages += images
            }
        }

        var groups: [Int: Group] = [:]
        /// The part of an image's work that does not depend on its size: it takes as long as this many bytes.
        var fixed = WorkModel.defaultFixed

        /// Nothing is known.
        package init() {}

        package var endedImages: Int { groups.values.reduce(0) { $0 + $1.endedImages } }
        package var leftImages: Int { groups.values.reduce(0) { $0 + $1.leftImages } }

        /// The work of the images that have ended, and of the others.
        var ended: Double { ended(at: self) }
        package var left: Double {
            groups.values.reduce(0) { $0 + work($1.leftBytes, $1.leftImages) * $1.rate }
        }

        /// The work of the images that had ended at a former moment, by what is known now.
        package func ended(at former: Sums) -> Double {
            former.groups.reduce(0) { sum, group in
                let work = work(group.value.endedBytes, group.value.endedImages)
                return sum + work * (groups[group.key]?.rate ?? 1)
            }
        }

        /// By the sizes alone.
        func work(_ bytes: Int, _ images: Int) -> Double { Double(bytes) + Double(images) * fixed }

        /// The mean work of an image; one if no size is known.
        package var mean: Double {
            let images = endedImages + leftImages
            return images > 0 ? (ended + left) / Double(images) : 1
        }
    }

    /// Not more sources than this are examined for their sizes alone. The mean over so many images is good enough.
    static let mostExamined = 4096
    /// Fewer images have ended before an estimate is worth anything.
    static let fewestExamined = 8

    private struct Times {
        var images = 0
        var bytes = 0
        var seconds = 0.0
    }

    /// The bytes by source. The entry goes with the source's last image.
    private var bytes: [Int: Int] = [:]
    private var known = Sums()
    private var times: [Int: Times] = [:]
    private var model = WorkModel()
    /// Whether someone has been told to find out the sizes of the sources.
    private var isExamined = false

    var sums: Sums {
        var sums = known
        sums.fixed = model.fixed
        let all = times.values.reduce(into: Times()) { all, group in
            all.images += group.images
            all.bytes += group.bytes
            all.seconds += group.seconds
        }
        let pace = all.seconds / max(1, sums.work(all.bytes, all.images))
        for (group, times) in times where pace > 0 {
            let expected = pace * sums.work(times.bytes, times.images)
            let images = Double(times.images)
            // As if some more images had taken what is expected. So one image does not decide.
            sums.groups[group]?.rate =
                (times.seconds / expected * images + Self.doubt) / (images + Self.doubt)
        }
        return sums
    }

    /// So many images of a group count as much as the sizes.
    private static let doubt = 2.0

    /// - Parameter kind: the number of the image's filters and form of output (`WorkKinds`).
    private static func group(_ bytes: Int, _ kind: UInt8) -> Int {
        // Each size is up to four times the one before.
        Int(kind) << 8 | (Int.bitWidth - max(1, bytes).leadingZeroBitCount) / 2
    }

    /// The size of a source is known now.
    ///
    /// - Parameter images: the number of unfinished images that need it, by their kind.
    mutating func learn(_ source: Int, bytes count: Int, images: [UInt8: Int]) {
        guard !images.isEmpty, bytes[source] == nil else { return }
        bytes[source] = count
        for (kind, images) in images {
            known.groups[Self.group(count, kind), default: .init()].add(images, bytes: count)
        }
    }

    /// An image with this source was filtered in so much time.
    mutating func took(_ source: Int, kind: UInt8, seconds: Double) {
        guard let count = bytes[source] else { return }
        model.add(bytes: count, seconds: seconds)
        let group = Self.group(count, kind)
        times[group, default: .init()].images += 1
        times[group, default: .init()].bytes += count
        times[group, default: .init()].seconds += seconds
    }

    mutating func imageEnded(_ source: Int, kind: UInt8, isLast: Bool) {
        guard let count = bytes[source] else { return }
        let group = Self.group(count, kind)
        known.groups[group, default: .init()].add(-1, bytes: count)
        known.groups[group]?.endedBytes += count
        known.groups[group]?.endedImages += 1
        if isLast { bytes[source] = nil }
    }

    /// Whether the sizes should be found out now; true once.
    mutating func beginExamination(images: Int) -> Bool {
        guard !isExamined else { return false }
        isExamined = true
        return (Self.fewestExamined...Self.mostExamined).contains(images)
    }
}

/// The kinds of a batch's images. Those of one kind have the same filters and the same form of output.
struct WorkKinds: Sendable {
    /// Further ones are of the last kind.
    private static let most = 16

    /// The kind of each image; empty if all are of one kind, or if there are so many that the mean is good enough.
    private var kinds: [UInt8] = []

    init(of images: [Manifest.Image]) {
        guard images.count <= SourceSizes.mostExamined else { return }
        var examples: [Manifest.Image] = []
        let kinds = images.map { image in
            if let kind = examples.firstIndex(where: { Self.areAlike($0, image) }) { return kind }
            if examples.count < Self.most { examples.append(image) }
            return examples.count - 1
        }
        if examples.count > 1 { self.kinds = kinds.map { UInt8($0) } }
    }

    private static func areAlike(_ one: Manifest.Image, _ other: Manifest.Image) -> Bool {
        one.output == other.output && one.filters == other.filters
    }

    var areAllOne: Bool { kinds.isEmpty }

    subscript(image: Int) -> UInt8 { kinds.isEmpty ? 0 : kinds[image] }
}

/// How the time of an image depends on the size of its source: a straight line through the images so far, by weighted
/// least squares.
struct WorkModel: Sendable {
    /// In bytes; before the batch has shown it.
    static let defaultFixed = 32_768.0
    /// In bytes. Beyond these the line is chance: the sizes do not decide, or only they do.
    private static let range = 1024.0...67_108_864
    /// Fewer images do not show a line.
    private static let fewest = 16.0
    /// Sizes that hardly differ do not show a line: their standard deviation must be at least this part of their mean.
    private static let leastSpread = 0.2

    /// The sums of the weights, and of the weighted sizes, times, squares and products.
    private var count = 0.0
    private var weights = 0.0
    private var sizes = 0.0
    private var times = 0.0
    private var squares = 0.0
    private var products = 0.0

    mutating func add(bytes: Int, seconds: Double) {
        let size = Double(bytes)
        // The deviation of a time is proportional to it. So a large picture says no more than a small one.
        let scale = 1 / (size + Self.defaultFixed)
        let weight = scale * scale
        count += 1
        weights += weight
        sizes += weight * size
        times += weight * seconds
        squares += weight * size * size
        products += weight * size * seconds
    }

    /// The time of an image without bytes, as the number of bytes that take as long.
    var fixed: Double {
        guard count >= Self.fewest, weights > 0 else { return Self.defaultFixed }
        let mean = sizes / weights
        let variance = squares / weights - mean * mean
        guard variance > 0, variance >= Self.leastSpread * Self.leastSpread * mean * mean else {
            return Self.defaultFixed
        }
        let slope = (products / weights - mean * times / weights) / variance
        guard slope > 0 else { return Self.range.upperBound }
        let fixed = (times / weights - slope * mean) / slope
        return min(max(fixed, Self.range.lowerBound), Self.range.upperBound)
    }
}
