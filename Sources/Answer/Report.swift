import DarkroomCore
import Foundation

/// The content of a `ReportFile`.
package protocol Report: Encodable, Sendable {
    static var fileName: FileName { get }
    /// The number of entries in its list, which may be long.
    var listCount: Int { get }
    /// The same report with the first entries of the list only.
    func shortened(to count: Int) -> Self
}

extension Report {
    /// Indented JSON with keys in alphabetical order and a final newline.
    package func encoded() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        } catch {
            // Strings, finite numbers and enumerations can always be encoded.
            preconditionFailure("\(Self.fileName.text) cannot be encoded: \(error)")
        }
    }
}
