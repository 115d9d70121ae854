import DarkroomCore

/// The texts of an image: its name and its source.
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
}
