import Foundation

extension Status {
    /// The content of the file: JSON indented for people, keys in alphabetical order, one newline at
    /// the end.
    ///
    /// The images are encoded one by one, for the encoder builds a tree of all that it is given, which for
    /// 100,000 images takes many times the memory of the text.
    package func encoded() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        var frame = self
        frame.images = []
        let text = Self.encode(frame, encoder)
        let opening = Array("  \"images\" : [".utf8)
        guard !images.isEmpty, let place = text.firstRange(of: opening),
            let end = text[place.upperBound...].firstIndex(of: UInt8(ascii: "]"))
        else { return text + [UInt8(ascii: "\n")] }
        var bytes = Array(text[..<place.upperBound])
        for (index, image) in images.enumerated() {
            bytes.append(contentsOf: index == 0 ? "\n    ".utf8 : ",\n    ".utf8)
            for byte in Self.encode(image, encoder) {
                bytes.append(byte)
                // Strings hold no newline as it is, so each one begins a line to be indented.
                if byte == UInt8(ascii: "\n") { bytes.append(contentsOf: "    ".utf8) }
            }
        }
        bytes.append(contentsOf: "\n  ".utf8)
        bytes.append(contentsOf: text[end...])
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private static func encode(_ value: some Encodable, _ encoder: JSONEncoder) -> [UInt8] {
        do {
            return Array(try encoder.encode(value))
        } catch {
            // Strings, integers and enumerations always encode.
            preconditionFailure("a status cannot be encoded: \(error)")
        }
    }

    /// Reads the content of a file; nil for one that is not a status of this version.
    package init?(decoding bytes: [UInt8]) {
        guard let status = try? JSONDecoder().decode(Status.self, from: Data(bytes)),
            status.schemaVersion == 1
        else { return nil }
        self = status
    }
}
