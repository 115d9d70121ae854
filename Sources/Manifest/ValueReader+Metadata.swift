import DarkroomCore
import DarkroomPicture

extension ValueReader {
    /// `metadata`, or its short form `exif`: what is kept of the source's metadata. Each replaces what comes from elsewhere,
    /// so both together are a problem.
    mutating func metadata(
        _ map: Document.Map, over defaultValue: MetadataChoice, at path: DocumentPath
    ) -> MetadataChoice {
        let (metadata, exif) = (map["metadata"], map["exif"])
        if let metadata, exif != nil {
            problems.add(
                .conflictingKeys,
                "‘metadata’ and ‘exif’ cannot stand together; ‘exif’ is a short form",
                at: .key(path, "metadata"), metadata.place)
        }
        if let metadata { return choice(metadata, at: .key(path, "metadata")) ?? defaultValue }
        guard let exif, let keeps = boolean(exif, "‘exif’", at: .key(path, "exif")) else {
            return defaultValue
        }
        return keeps ? .exifCopy : .none
    }

    /// A word, or a list of words.
    private mutating func choice(_ node: Document.Node, at path: DocumentPath) -> MetadataChoice? {
        let what = "‘metadata’"
        var words: [MetadataChoice.Word] = []
        if case .list(let list) = node.value {
            for (index, item) in list.items.enumerated() {
                let place = DocumentPath.index(path, index)
                guard
                    let word: MetadataChoice.Word = word(item, "each of \(what)", at: place)
                else { return nil }
                words.append(word)
            }
        } else {
            guard let word: MetadataChoice.Word = word(node, what, at: path) else { return nil }
            words = [word]
        }
        guard let mismatch = MetadataChoice.mismatch(of: words) else {
            return MetadataChoice(words: words)
        }
        problems.add(.unknownValue, "\(what) \(mismatch)", at: path, node.place)
        return nil
    }
}
