import DarkroomCore

/// Limits the number of values of a document, and the number of values that its aliases stand for.
///
/// A value takes about ten times the memory of the two bytes that it may be written in, and an alias of four bytes can
/// stand for millions of values. A manifest has a few values per image.
package struct NodeBudget: Sendable {
    package let maximum: Int
    private var values = 0
    private var aliased = 0
    /// When it is set, reading ends. The caller that sets it ignores the resulting problem.
    package let stop: CancellationFlag?

    package init(maximum: Int, stop: CancellationFlag? = nil) {
        self.maximum = maximum
        self.stop = stop
    }

    /// For a manifest of at most this number of images.
    package init(images: Int, stop: CancellationFlag? = nil) {
        self.init(maximum: max(100_000, images.saturatingMultiply(8)), stop: stop)
    }

    package mutating func take(at place: Document.Place) throws(ManifestProblem) {
        guard values < maximum else {
            throw ManifestProblem(.tooLarge, "more than \(maximum) values", place: place)
        }
        values += 1
        if values % 1024 == 0, stop?.isSet == true { throw .interrupted }
    }

    package mutating func take(
        aliased nodes: Int, at place: Document.Place
    ) throws(ManifestProblem) {
        let (sum, overflow) = aliased.addingReportingOverflow(nodes)
        guard !overflow, sum <= maximum else {
            throw ManifestProblem(
                .tooManyAliases, "aliases or shared objects stand for more than \(maximum) values",
                place: place)
        }
        aliased = sum
    }
}
