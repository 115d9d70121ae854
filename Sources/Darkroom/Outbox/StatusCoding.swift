import Foundation

extension Status {
    /// The content of the file: JSON indented for people, keys in alphabetical order, one newline at
    /// the end.
    package func encoded() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        } catch {
            // Strings, integers and enumerations always encode.
            preconditionFailure("status of \(id) cannot be encoded: \(error)")
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
