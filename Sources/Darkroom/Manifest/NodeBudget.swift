/// How many values a document may hold, and how many more its aliases may stand for.
///
/// A value takes some ten times the memory of the two bytes it may be written in, and an alias of
/// four bytes can stand for millions of values. A manifest has a handful of values per image.
package struct NodeBudget: Sendable {
    package let maximum: Int
    private var values = 0
    private var aliased = 0

    package init(maximum: Int) {
        self.maximum = maximum
    }

    /// For a manifest of at most this many images.
    package init(images: Int) {
        let (product, overflow) = images.multipliedReportingOverflow(by: 8)
        maximum = overflow ? .max : max(100_000, product)
    }

    /// Counts one value.
    package mutating func take(at place: Document.Place) throws(ManifestProblem) {
        guard values < maximum else {
            throw ManifestProblem(.tooLarge, "more than \(maximum) values", place: place)
        }
        values += 1
    }

    /// Counts values that an alias stands for.
    package mutating func take(
        aliased nodes: Int, at place: Document.Place
    ) throws(ManifestProblem) {
        let (sum, overflow) = aliased.addingReportingOverflow(nodes)
        guard !overflow, sum <= maximum else {
            throw ManifestProblem(
                .tooManyAliases, "aliases or shared objects for more than \(maximum) values",
                place: place)
        }
        aliased = sum
    }
}
