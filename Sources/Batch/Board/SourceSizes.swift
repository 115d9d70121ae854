/// The sizes of a batch's sources, as far as they are known, as a measure of the work that its images are.
///
/// The work of an image is the size of its source in bytes, plus a fixed amount. This is a rough measure, but the sizes
/// of pictures differ much more than the filters that one batch applies to them.
struct SourceSizes: Sendable {
    /// The sums of the images whose sizes are known.
    struct Sums: Sendable, Equatable {
        /// The work of those that have ended, and their number.
        var ended = 0.0
        var endedImages = 0
        /// The work of the others, and their number.
        var left = 0.0
        var leftImages = 0

        /// The mean work of an image; one if no size is known.
        var mean: Double {
            let images = endedImages + leftImages
            return images > 0 ? (ended + left) / Double(images) : 1
        }
    }

    /// The part of the work that does not depend on the size. An image of a few bytes takes as long as this many bytes
    /// of a large one.
    private static let fixed = 32_768.0
    /// Not more sources than this are examined for their sizes alone. The mean over so many images is good enough.
    static let mostExamined = 4096
    /// Fewer images have ended before an estimate is worth anything.
    static let fewestExamined = 8

    /// The work by source. The entry goes with the source's last image.
    private var work: [Int: Double] = [:]
    private(set) var sums = Sums()
    /// Whether someone has been told to find out the sizes of the sources.
    private var isExamined = false

    /// The size of a source is known now.
    ///
    /// - Parameter images: how many unfinished images need it.
    mutating func learn(_ source: Int, bytes: Int, images: Int) {
        guard images > 0, work[source] == nil else { return }
        let amount = Double(bytes) + Self.fixed
        work[source] = amount
        sums.left += amount * Double(images)
        sums.leftImages += images
    }

    /// An image with this source has ended.
    mutating func imageEnded(_ source: Int, isLast: Bool) {
        guard let amount = work[source] else { return }
        sums.left -= amount
        sums.leftImages -= 1
        sums.ended += amount
        sums.endedImages += 1
        if isLast { work[source] = nil }
    }

    /// Whether the sizes should be found out now; true once.
    mutating func beginExamination(images: Int) -> Bool {
        guard !isExamined else { return false }
        isExamined = true
        return (Self.fewestExamined...Self.mostExamined).contains(images)
    }
}
