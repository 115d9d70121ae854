import DarkroomCore
import Foundation

/// Results for programs: JSON with keys in alphabetical order.
package enum JSONText {
    /// One object, indented.
    package static func object(_ value: some Encodable) -> String {
        encode(value, [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    }

    /// The same with the kind of the object in `type`.
    package static func object(_ type: String, _ value: some Encodable) -> String {
        object(Line(type: type, value: value))
    }

    /// One object in one line: a line of JSON Lines.
    package static func line(_ value: some Encodable) -> String {
        encode(value, [.sortedKeys, .withoutEscapingSlashes])
    }

    /// The same with the kind of the object in `type`.
    package static func line(_ type: String, _ value: some Encodable) -> String {
        line(Line(type: type, value: value))
    }

    private static func encode(
        _ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting
    ) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        do {
            return harmless(String(decoding: try encoder.encode(value), as: UTF8.self))
        } catch {
            // No result contains a number that is not finite.
            preconditionFailure("a result cannot be encoded: \(error)")
        }
    }

    /// With the characters escaped that a terminal would obey or that would reorder a line. The encoder escapes only
    /// those below U+0020. Outside of strings there are none but new lines.
    private static func harmless(_ text: String) -> String {
        func isUnsafe(_ scalar: Unicode.Scalar) -> Bool { scalar.isControl && scalar != "\n" }
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                // All of them are in the first plane, so that one unit of UTF-16 is enough.
                result += Hexadecimal.escape(scalar)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private struct Line<Value: Encodable>: Encodable {
        let type: String
        let value: Value

        private enum CodingKeys: String, CodingKey { case type }

        func encode(to encoder: any Encoder) throws {
            try value.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(type, forKey: .type)
        }
    }
}
