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

/// Writes the lines of files that have one JSON object in each.
package struct JSONLines {
    private let encoder = JSONEncoder()

    package init() { encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes] }

    /// - Parameter value: of strings, integers, lists and objects: they can always be encoded.
    package func append(_ value: some Encodable, to bytes: inout [UInt8]) {
        guard let line = try? encoder.encode(value) else { return }
        bytes += line
        bytes.append(UInt8(ascii: "\n"))
    }
}
