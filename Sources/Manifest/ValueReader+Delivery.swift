import DarkroomCore

extension ValueReader {
    private static let deliveryForm = ManifestSnippet.text("/srv/web/pictures")

    /// Reads `deliver`: a folder, or a map with `to` and `ifExists`.
    package mutating func delivery(_ node: Document.Node, at path: DocumentPath) -> Delivery? {
        guard case .map = node.value else {
            return deliveryFolder(node, of: "deliver", at: path).map {
                Delivery(to: $0, isOfRecipe: isOfRecipe)
            }
        }
        return place(node, of: "deliver", key: "to", at: path)
    }

    /// Reads `originals` of a hot folder: a map with `move` and `ifExists`.
    package mutating func originalsPlace(_ node: Document.Node, at path: DocumentPath) -> Delivery?
    {
        place(node, of: "originals", key: "move", at: path)
    }

    private mutating func place(
        _ node: Document.Node, of what: String, key: ByteString, at path: DocumentPath
    ) -> Delivery? {
        let form = ManifestSnippet.map(key.string, Self.deliveryForm)
        guard
            let map = map(node, keys: [key, "ifExists"], of: "‘\(what)’", at: path, write: form)
        else { return nil }
        guard let to = map[key] else {
            problems.add(.missingKey, "‘\(what)’ needs ‘\(key)’, a folder", at: path, node.place)
            return nil
        }
        let folder = deliveryFolder(to, of: what, at: .key(path, key))
        let existing: Delivery.Existing = word(in: map, "ifExists", at: path) ?? .number
        return folder.map { Delivery(to: $0, existing, isOfRecipe: isOfRecipe) }
    }

    private mutating func deliveryFolder(
        _ node: Document.Node, of what: String, at path: DocumentPath
    ) -> String? {
        guard let text = text(node, "the folder of ‘\(what)’", at: path, write: Self.deliveryForm)
        else { return nil }
        if let folder = Delivery.folder(text.string) { return folder }
        problems.add(
            .unknownValue,
            "the folder of ‘\(what)’ must be an absolute path without ‘..’, found ‘\(text.shortened)’",
            at: path, node.place)
        return nil
    }
}
