import Foundation

extension Encodable {
    /// The content of a JSON file that people read, too: indented, with keys in alphabetical order and a final newline.
    package func jsonFile() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        } catch {
            // Strings, finite numbers and enumerations can always be encoded.
            preconditionFailure("\(Self.self) cannot be encoded: \(error)")
        }
    }
}
