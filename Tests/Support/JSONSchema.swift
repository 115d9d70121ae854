import Foundation

/// Checks values against a JSON Schema of draft 2020-12, with the keywords that the schemas of this package use. An
/// unknown keyword ends the test, so that none is silently ignored.
package struct JSONSchema {
    private let root: [String: Any]

    package init(_ data: Data) throws {
        root = try jsonObject(data)
    }

    package init(file name: String) throws {
        try self.init(Data(contentsOf: Repository.root.appending(path: "etc/\(name)")))
    }

    /// The members that an object must have.
    package var required: Set<String> { Set(root["required"] as? [String] ?? []) }

    /// The schemas of all members by their paths, such as `files.name`. Arrays are passed through.
    package var members: [String: [String: Any]] { members(of: root, "") }

    private func members(of schema: [String: Any], _ prefix: String) -> [String: [String: Any]] {
        var members: [String: [String: Any]] = [:]
        for (key, value) in schema["properties"] as? [String: [String: Any]] ?? [:] {
            let value = resolved(value)
            members[prefix + key] = value
            members.merge(self.members(of: value, prefix + key + ".")) { first, _ in first }
        }
        if let items = schema["items"] as? [String: Any] {
            members.merge(self.members(of: resolved(items), prefix)) { first, _ in first }
        }
        return members
    }

    private func resolved(_ schema: [String: Any]) -> [String: Any] {
        guard let reference = schema["$ref"] as? String,
            let definitions = root["$defs"] as? [String: [String: Any]]
        else { return schema }
        return definitions[String(reference.dropFirst("#/$defs/".count))] ?? schema
    }

    /// The paths of all members of a JSON text, as those of a schema.
    ///
    /// - Parameter open: a member whose own members may have any names.
    package static func paths(
        of json: some Sequence<UInt8>, open: Set<String> = []
    ) throws -> Set<String> {
        func add(_ value: Any, _ prefix: String, to paths: inout Set<String>) {
            for element in value as? [Any] ?? [] { add(element, prefix, to: &paths) }
            for (key, value) in value as? [String: Any] ?? [:] {
                paths.insert(prefix + key)
                if !open.contains(prefix + key) { add(value, prefix + key + ".", to: &paths) }
            }
        }
        var paths: Set<String> = []
        add(try JSONSerialization.jsonObject(with: Data(json)), "", to: &paths)
        return paths
    }

    /// Whether a JSON text conforms.
    package func accepts(_ text: String) throws -> Bool {
        let value = try JSONSerialization.jsonObject(
            with: Data(text.utf8), options: .fragmentsAllowed)
        return accepts(value, root)
    }

    /// Whether a JSON text conforms to a definition of the schema.
    package func accepts(_ text: String, definition name: String) throws -> Bool {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return accepts(value, ["$ref": "#/$defs/\(name)"])
    }

    private func accepts(_ value: Any, _ schema: [String: Any]) -> Bool {
        schema.allSatisfy { accepts(value, keyword: $0.key, $0.value, of: schema) }
    }

    private func accepts(_ value: Any, schema: Any?) -> Bool {
        if let isAllowed = schema as? Bool { return isAllowed }
        return accepts(value, schema as? [String: Any] ?? [:])
    }

    private func all(_ list: Any) -> [[String: Any]] { list as? [[String: Any]] ?? [] }

    private func accepts(
        _ value: Any, keyword: String, _ rule: Any, of schema: [String: Any]
    ) -> Bool {
        switch keyword {
        case "$schema", "$id", "$defs", "title", "description", "default": return true
        case "$ref":
            let names = (rule as? String ?? "").dropFirst("#/".count).split(separator: "/")
            let target = names.reduce(root as Any?) { ($0 as? [String: Any])?[String($1)] }
            precondition(target != nil, "\(rule) does not exist")
            return accepts(value, schema: target)
        case "type":
            let types = rule as? [String] ?? [rule as? String ?? ""]
            return types.contains { Self.isOf($0, value) }
        case "enum": return (rule as? [Any] ?? []).contains { Self.areEqual($0, value) }
        case "const": return Self.areEqual(rule, value)
        case "anyOf": return all(rule).contains { accepts(value, $0) }
        case "oneOf": return all(rule).filter { accepts(value, $0) }.count == 1
        case "allOf": return all(rule).allSatisfy { accepts(value, $0) }
        case "not": return !accepts(value, schema: rule)
        default: break
        }
        if let object = value as? [String: Any] {
            return accepts(object, keyword: keyword, rule, of: schema)
        }
        return acceptsOther(value, keyword: keyword, rule)
    }

    private func accepts(
        _ object: [String: Any], keyword: String, _ rule: Any, of schema: [String: Any]
    ) -> Bool {
        let properties = schema["properties"] as? [String: Any] ?? [:]
        switch keyword {
        case "required": return (rule as? [String] ?? []).allSatisfy { object[$0] != nil }
        case "minProperties": return object.count >= rule as? Int ?? 0
        case "maxProperties": return object.count <= rule as? Int ?? .max
        case "propertyNames": return object.keys.allSatisfy { accepts($0, schema: rule) }
        case "properties":
            return object.allSatisfy { key, value in
                properties[key].map { accepts(value, schema: $0) } ?? true
            }
        case "additionalProperties":
            return object.allSatisfy {
                properties[$0.key] != nil || accepts($0.value, schema: rule)
            }
        default: return isForOthers(keyword)
        }
    }

    private func acceptsOther(_ value: Any, keyword: String, _ rule: Any) -> Bool {
        switch (keyword, value) {
        case ("minimum", let number as NSNumber) where Self.isOf("number", value):
            return number.doubleValue >= (rule as? NSNumber)?.doubleValue ?? 0
        case ("maximum", let number as NSNumber) where Self.isOf("number", value):
            return number.doubleValue <= (rule as? NSNumber)?.doubleValue ?? 0
        case ("exclusiveMinimum", let number as NSNumber) where Self.isOf("number", value):
            return number.doubleValue > (rule as? NSNumber)?.doubleValue ?? 0
        case ("minLength", let text as String):
            return text.unicodeScalars.count >= rule as? Int ?? 0
        case ("maxLength", let text as String):
            return text.unicodeScalars.count <= rule as? Int ?? .max
        case ("pattern", let text as String):
            let pattern = rule as? String ?? ""
            return text.range(of: pattern, options: .regularExpression) != nil
        case ("minItems", let list as [Any]): return list.count >= rule as? Int ?? 0
        case ("maxItems", let list as [Any]): return list.count <= rule as? Int ?? .max
        case ("items", let list as [Any]): return list.allSatisfy { accepts($0, schema: rule) }
        default: return isForOthers(keyword)
        }
    }

    /// A keyword says nothing about values of other types than its own.
    private func isForOthers(_ keyword: String) -> Bool {
        let known = [
            "required", "minProperties", "maxProperties", "propertyNames", "properties",
            "additionalProperties", "minimum", "maximum", "exclusiveMinimum", "minLength",
            "maxLength", "pattern", "minItems", "maxItems", "items",
        ]
        precondition(known.contains(keyword), "the keyword \(keyword) is not known here")
        return true
    }

    private static func isBoolean(_ value: Any) -> Bool {
        // On Linux, JSON's booleans and numbers are both NSNumber; only a boolean has this type.
        (value as? NSNumber).map { String(cString: $0.objCType) == "c" } ?? false
    }

    private static func isOf(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "object": return value is [String: Any]
        case "array": return value is [Any]
        case "string": return value is String
        case "null": return value is NSNull
        case "boolean": return isBoolean(value)
        case "number": return value is NSNumber && !isBoolean(value)
        case "integer":
            guard let number = value as? NSNumber, !isBoolean(value) else { return false }
            return number.doubleValue == number.doubleValue.rounded()
        default: preconditionFailure("the type \(type) is not known here")
        }
    }

    private static func areEqual(_ first: Any, _ second: Any) -> Bool {
        isBoolean(first) == isBoolean(second) && (first as? NSObject)?.isEqual(second) == true
    }
}

/// The object that a JSON text is.
package func jsonObject(_ text: some Sequence<UInt8>) throws -> [String: Any] {
    guard let object = try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any] else {
        throw CocoaError(.fileReadCorruptFile)
    }
    return object
}
