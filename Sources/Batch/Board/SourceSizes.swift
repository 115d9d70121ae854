/// The sizes of a batch's sources, as far as they are known, as a measure of the work that its images are.
///
/// The work of an image is the size of its source in bytes, plus a fixed amount that the images of the batch show
/// (`WorkModel`). This is a rough measure, but the sizes of pictures differ much more than the filters that one batch
/// applies to them.
struct SourceSizes: Sendable {
    /// The sums of the images whose sizes are known.
    struct Sums: Sendable, Equatable {
        /// The bytes of the sources of those that have ended, and their number.
        var endedBytes = 0
        var endedImages = 0
        /// The bytes of the others, and their number.
        var leftBytes = 0
        var leftImages = 0
        /// The part of an image's work that does not depend on its size: it takes as long as this many bytes.
        var fixed = WorkModel.defaultFixed

        /// The work of the images that have ended, and of the others.
        var ended: Double { work(endedBytes, endedImages) }
        var left: Double { work(leftBytes, leftImages) }

        func work(_ bytes: Int, _ images: Int) -> Double { Double(bytes) + Double(images) * fixed }

        /// The mean work of an image; one if no size is known.
        var mean: Double {
            let images = endedImages + leftImages
            return images > 0 ? (ended + left) / Double(images) : 1
        }
    }

    /// Not more sources than this are examined for their sizes alone. The mean over so many images is good enough.
    static let mostExamined = 4096
    /// Fewer images have ended before an estimate is worth anything.
    static let fewestExamined = 8

    /// The bytes by source. The entry goes with the source's last image.
    private var bytes: [Int: Int] = [:]
    private var known = Sums()
    private var model = WorkModel()
    /// Whether someone has been told to find out the sizes of the sources.
    private var isExamined = false

    var sums: Sums {
        var sums = known
        sums.fixed = model.fixed
        return sums
    }

    /// The size of a source is known now.
    ///
    /// - Parameter images: how many unfinished images need it.
    mutating func learn(_ source: Int, bytes count: Int, images: Int) {
        guard images > 0, bytes[source] == nil else { return }
        bytes[source] = count
        known.leftBytes += count * images
        known.leftImages += images
    }

    /// An image with this source was filtered in so much time.
    mutating func took(_ source: Int, seconds: Double) {
        if let count = bytes[source] { model.add(bytes: count, seconds: seconds) }
    }

    /// An image with this source has ended.
    mutating func imageEnded(_ source: Int, isLast: Bool) {
        guard let count = bytes[source] else { return }
        known.leftBytes -= count
        known.leftImages -= 1
        known.endedBytes += count
        known.endedImages += 1
        if isLast { bytes[source] = nil }
    }

    /// Whether the sizes should be found out now; true once.
    mutating func beginExamination(images: Int) -> Bool {
        guard !isExamined else { return false }
        isExamined = true
        return (Self.fewestExamined...Self.mostExamined).contains(images)
    }
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
    /// Nor do sizes that hardly differ: their standard deviation must be at least this part of their mean.
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
