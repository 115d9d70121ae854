import DarkroomPicture

/// Reads lists of filters that are not in a manifest, such as the one of the configuration.
package enum FilterList {
    /// Reads a YAML text that contains only the list.
    package static func read(
        yaml bytes: [UInt8], limit: Int = ManifestLimits().filters
    ) throws(ManifestRejection) -> [Filter] {
        let node: Document.Node
        do throws(ManifestProblem) {
            node = try YAMLReader.read(bytes, budget: NodeBudget(images: 0))
        } catch {
            throw ManifestRejection(problems: [error])
        }
        return try read(node, at: .root, limit: limit)
    }

    /// Reads the list in a value of a document. The paths of problems begin with `path`.
    package static func read(
        _ node: Document.Node, at path: DocumentPath, limit: Int = ManifestLimits().filters
    ) throws(ManifestRejection) -> [Filter] {
        var reader = ValueReader(notation: .yaml)
        let filters = reader.filtersWithoutImages(node, limit: limit, at: path)
        try reader.problems.throwIfAny()
        return filters
    }
}
