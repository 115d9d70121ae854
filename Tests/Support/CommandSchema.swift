import Foundation

/// `etc/command.schema.json`, with a validator for the part of JSON Schema that it uses.
package struct CommandSchema {
    private let definitions: [String: Any]
    private let alternatives: [[String: Any]]

    package init() throws {
        let data = try Data(contentsOf: Repository.root.appending(path: "etc/command.schema.json"))
        let schema = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        definitions = schema?["$defs"] as? [String: Any] ?? [:]
        alternatives = schema?["anyOf"] as? [[String: Any]] ?? []
    }

    /// Why a text is not an output of the command, which is one object or JSON Lines; nil if it is one.
    package func problem(of output: String) -> String? {
        if Self.object(output) != nil { return problem(ofObject: output) }
        return output.split(separator: "\n").lazy.compactMap { problem(ofObject: String($0)) }.first
    }

    private static func object(_ text: String) -> Any? {
        try? JSONSerialization.jsonObject(with: Data(text.utf8))
    }

    private func problem(ofObject text: String) -> String? {
        guard let value = Self.object(text) else { return "not JSON: \(text)" }
        let problems = alternatives.map { problem(of: value, as: $0, at: "") }
        if problems.contains(where: { $0 == nil }) { return nil }
        let all = zip(alternatives, problems).map { "\($0["$ref"] ?? ""): \($1 ?? "")" }
        return "\(text)\n\(all.joined(separator: "\n"))"
    }

    private func problem(of value: Any, as schema: [String: Any], at place: String) -> String? {
        for key in schema.keys where !Self.known.contains(key) {
            return "\(place): the validator does not know ‘\(key)’"
        }
        if let reference = schema["$ref"] as? String {
            let name = reference.replacing("#/$defs/", with: "")
            guard let target = definitions[name] as? [String: Any] else { return "no \(name)" }
            return problem(of: value, as: target, at: place)
        }
        if let constant = schema["const"] as? String, value as? String != constant {
            return "\(place) is not \(constant)"
        }
        if let words = schema["enum"] as? [String], !words.contains(value as? String ?? "") {
            return "\(place) is none of \(words)"
        }
        if let type = schema["type"] as? String, !Self.isOf(type, value) {
            return "\(place) is not of type \(type)"
        }
        if let least = schema["minimum"] as? Double, let number = value as? Double, number < least {
            return "\(place) is less than \(least)"
        }
        if let most = schema["maximum"] as? Double, let number = value as? Double, number > most {
            return "\(place) is more than \(most)"
        }
        if let object = value as? [String: Any] {
            return problem(of: object, as: schema, at: place)
        }
        if let least = schema["minItems"] as? Int, let list = value as? [Any], list.count < least {
            return "\(place) has less than \(least) items"
        }
        if let items = schema["items"] as? [String: Any], let list = value as? [Any] {
            return list.lazy.compactMap { problem(of: $0, as: items, at: place + "[]") }.first
        }
        return nil
    }

    private func problem(
        of object: [String: Any], as schema: [String: Any], at place: String
    ) -> String? {
        let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
        for key in schema["required"] as? [String] ?? [] where object[key] == nil {
            return "\(place) has no ‘\(key)’"
        }
        for (key, value) in object {
            if let names = schema["propertyNames"] as? [String: Any],
                let found = problem(of: key, as: names, at: "\(place), the name \(key)")
            {
                return found
            }
            if let property = properties[key] {
                if let found = problem(of: value, as: property, at: "\(place).\(key)") {
                    return found
                }
            } else if let others = schema["additionalProperties"] as? [String: Any] {
                if let found = problem(of: value, as: others, at: "\(place).\(key)") {
                    return found
                }
            } else if schema["additionalProperties"] as? Bool == false {
                return "\(place) has ‘\(key)’"
            }
        }
        return nil
    }

    private static let known: Set = [
        "$ref", "const", "enum", "type", "minimum", "items", "properties", "required",
        "additionalProperties", "propertyNames", "description", "format", "maximum", "title",
        "minItems",
    ]

    private static func isOf(_ type: String, _ value: Any) -> Bool {
        let isBoolean = (value as? NSNumber).map { String(cString: $0.objCType) == "c" } ?? false
        return switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "boolean": isBoolean
        case "integer": !isBoolean && (value as? Double).map { $0.rounded() == $0 } ?? false
        case "number": !isBoolean && value is Double
        default: false
        }
    }
}
