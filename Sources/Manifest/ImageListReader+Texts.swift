import DarkroomCore
import DarkroomPicture

/// The texts of an image: its name, its source, and the format that this tells.
extension ImageListReader {
    static func check(
        _ name: ByteString, _ place: Document.Place, at path: DocumentPath,
        _ reader: inout ValueReader
    ) {
        guard let fault = ImageName.fault(of: name) else { return }
        reader.problems.add(.badName, "the name ‘\(name.shortened)’ \(fault)", at: path, place)
    }

    static func source(
        _ text: ByteString, _ node: Document.Node, at path: DocumentPath,
        _ reader: inout ValueReader
    ) -> ByteString? {
        let fault: String
        if text.isEmpty {
            fault = "is empty"
        } else if text.utf8.count > maximumSource {
            fault = "has \(text.utf8.count) bytes; the limit is \(maximumSource)"
        } else if text.unicodeScalars.contains(where: \.isControl) {
            fault = "contains a control character"
        } else {
            reader.writtenSources?.append(WrittenSource(text: text, place: node.place))
            return text
        }
        reader.problems.add(.badSource, "a source that \(fault)", at: path, node.place)
        return nil
    }

    /// Decides the formats of an image, or of its variants, that have that of their source.
    ///
    /// - Parameter isFound: whether the manifest does not name the source.
    /// - Returns: why one of them has none, if that is a mistake of the manifest. If the manifest names either the source
    ///   or the rule only, others are not to suffer for it: then the image fails.
    static func decideFormats(of images: inout [ImageDraft], isFound: Bool) -> String? {
        var fault: String?
        for index in images.indices {
            guard case .source(let isShared) = images[index].settings.output.origin,
                images[index].from == nil, let source = images[index].source
            else { continue }
            let name = ImageName.lastComponent(of: source.string)
            images[index].settings.output.decideFormat(byName: name)
            guard fault == nil, !isShared, !isFound, images[index].isPublished else { continue }
            fault = images[index].settings.output.formatRefusal(
                of: name.isEmpty ? nil : name.shortened)
        }
        return fault
    }
}
