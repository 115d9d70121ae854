import DarkroomCore
import Foundation

/// Results for programs: JSON with keys in alphabetical order.
package enum JSONText {
    package static func indented(_ object: some Encodable) -> String {
        encode(object, .prettyPrinted)
    }

    package static func indented(_ object: JSONObject) -> String { encode(object, .prettyPrinted) }

    /// One value in one line: a line of JSON Lines.
    package static func line(_ value: some Encodable) -> String { encode(value) }

    /// The same with the kind of the object in `type`.
    package static func line(_ type: String, _ value: some Encodable) -> String {
        line(JSONObject(["type": type], with: value))
    }

    /// The same for an object whose keys are written here.
    package static func line(_ object: JSONObject) -> String { encode(object) }

    private static func encode(
        _ value: some Encodable, _ form: JSONEncoder.OutputFormatting = []
    ) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = form.union([.sortedKeys, .withoutEscapingSlashes])
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
        // All of them are in the first plane, so that one unit of UTF-16 is enough.
        return text.unicodeScalars.map { isUnsafe($0) ? Hexadecimal.escape($0) : String($0) }
            .joined()
    }
}

/// An object for programs, key by key. A key whose value is nil is left out.
package struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    private let fields: [(key: String, value: any Encodable)]
    private var others: (any Encodable)?

    package init(dictionaryLiteral fields: (String, (any Encodable)?)...) {
        self.fields = fields.compactMap { key, value in value.map { (key, $0) } }
    }

    /// The object with the keys of another value that it has not itself.
    package init(_ object: JSONObject, with others: (any Encodable)?) {
        self = object
        self.others = others
    }

    package func encode(to encoder: any Encoder) throws {
        try others?.encode(to: encoder)
        var container = encoder.container(keyedBy: FieldName.self)
        for (key, value) in fields {
            try container.encode(value, forKey: FieldName(stringValue: key))
        }
    }

    private struct FieldName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
