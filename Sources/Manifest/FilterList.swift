import DarkroomPicture

/// Reads lists of filters that are not in a manifest, such as the one of the configuration.
package enum FilterList {
    /// Reads a YAML text that contains only the list.
    package static func read(
        yaml bytes: [UInt8], limit: Int = ManifestLimits().filters
    ) throws(ManifestRejection) -> [Filter] {
        let node = try ManifestFormat.yaml.document(bytes, NodeBudget(images: 0))
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
