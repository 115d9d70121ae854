import DarkroomCore
import DarkroomPicture

/// A file or URL of an overlay that is written where the name of an image belongs.
package enum OverlaySource {
    package static func isSource(_ text: ByteString) -> Bool {
        guard text.utf8.count <= ImageListReader.maximumSource else { return false }
        if text.utf8.contains(UInt8(ascii: "/")) { return true }
        return PictureFileExtensions.match(text.string)
    }

    /// The first one in the value of a filter.
    static func first(in node: Document.Node, depth: Int = 4) -> ByteString? {
        guard depth > 0 else { return nil }
        switch node.value {
        case .map(let map):
            return map.entries.prefix(64).lazy.compactMap { first(in: $0.value, depth: depth - 1) }
                .first
        case .list(let list):
            return list.items.prefix(64).lazy.compactMap { first(in: $0, depth: depth - 1) }.first
        default: return node.text.flatMap { isSource($0) ? $0 : nil }
        }
    }

    /// What to add to the manifest, as the end of a message.
    ///
    /// - Parameter isListed: whether the images of the manifest are a list, not a map.
    static func advice(_ source: ByteString, _ notation: ManifestFormat, isListed: Bool) -> String {
        let name = ManifestSnippet.text(ImageName.derived(from: source))
        let shown =
            ManifestSnippet.value(of: Document.Node(.text(source), at: .none))
            ?? .placeholder(.text("SOURCE"))
        let settings = [
            ManifestSnippet.Entry(key: "source", value: shown),
            ManifestSnippet.Entry(key: "filters", value: .list([])),
        ]
        let image =
            isListed
            ? ManifestSnippet.map([ManifestSnippet.Entry(key: "name", value: name)] + settings)
                .written(in: notation)
            : ManifestSnippet.map(settings)
                .written(in: notation, key: ImageName.derived(from: source).string)
        return "; ‘from’ takes the name of another image of this manifest: add ‘\(image)’ to "
            + "‘images’ and write ‘\(name.written(in: notation, key: "from"))’"
    }
}
