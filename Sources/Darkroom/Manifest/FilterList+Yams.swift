package import Yams

extension FilterList {
    /// Reads the list in a node of a YAML text that is trusted and has been composed by Yams, as
    /// the configuration is; the problems' paths begin with `path`.
    package static func read(
        _ node: Yams.Node, at path: DocumentPath, limit: Int = ManifestLimits().filters
    ) throws(ManifestRejection) -> [Filter] {
        try read(Document.Node(node), at: path, limit: limit)
    }
}

extension Document.Node {
    /// The same tree as Yams has it. Recurses for each level.
    package init(_ node: Yams.Node) {
        let place = Document.Place(node.mark)
        switch node {
        case .scalar(let scalar):
            let isPlain = scalar.style == .plain && scalar.tag.rawValue.isEmpty
            self.init(isPlain ? .plain(scalar.string) : .text(scalar.string), at: place)
        case .sequence(let sequence):
            self.init(.list(Document.List(sequence.map { Document.Node($0) })), at: place)
        case .mapping(let mapping):
            let entries = mapping.map { key, value in
                Document.Entry(
                    key: key.scalar?.string ?? "", at: Document.Place(key.mark),
                    value: Document.Node(value))
            }
            self.init(.map(Document.Map(entries)), at: place)
        case .alias:
            // Composing resolves aliases; only trees made by hand hold them.
            self.init(.other("an alias"), at: place)
        }
    }
}

extension Document.Place {
    fileprivate init(_ mark: Yams.Mark?) {
        self.init(line: mark?.line ?? 0, column: mark?.column ?? 0)
    }
}
