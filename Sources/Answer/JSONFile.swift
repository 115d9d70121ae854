import Foundation

/// The content of JSON files that Darkroom writes as a whole and that people may read.
package enum JSONFile {
    /// Indented, with keys in alphabetical order and a final newline.
    ///
    /// - Parameter value: of strings, finite numbers, lists and objects: they can always be encoded.
    package static func text(of value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
        } catch {
            preconditionFailure("\(type(of: value)) cannot be encoded: \(error)")
        }
    }
}
