package import DarkroomCore

/// All filters: their names, parameters, ranges and defaults.
///
/// There is no other list of them. The manifest reader uses it, and tests compare the JSON Schema, the manual and the
/// README with it.
package enum FilterCatalog {
    package static let all: [FilterSpecification] = colours + layers + geometry + blurs

    private static let byName = Dictionary(
        uniqueKeysWithValues: all.map { (ByteString($0.name), $0) })
    private static let longestName = all.map(\.name.utf8.count).max() ?? 0

    package static func specification(named name: ByteString) -> FilterSpecification? {
        // A manifest may contain any text as a name, and, by aliases, many times.
        name.utf8.count <= longestName ? byName[name] : nil
    }

    /// The maximum of a side that a filter may request, in pixels. PNG itself allows 2³¹ − 1. The maximum number of
    /// pixels of a picture is a setting, which is checked when the size is known.
    package static let sides = 1...1_000_000

    /// A filter whose only parameter is a number.
    static func filter(
        _ name: String, _ summary: String, _ parameter: FilterParameter,
        _ make: @escaping @Sendable (Double) -> Filter
    ) -> FilterSpecification {
        FilterSpecification(name: name, summary: summary, parameters: [parameter]) {
            make($0.number(parameter.name))
        }
    }
}
