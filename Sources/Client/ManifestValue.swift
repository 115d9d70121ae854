import DarkroomCore
import DarkroomManifest

/// A value of a manifest that the command writes. Maps keep their order.
package indirect enum ManifestValue: Sendable, Equatable {
    case text(String)
    case integer(Int)
    /// Never infinite and always a number.
    case number(Double)
    case boolean(Bool)
    case list([ManifestValue])
    case map([Entry])

    package struct Entry: Sendable, Equatable {
        package let key: String
        package let value: ManifestValue

        package init(_ key: String, _ value: ManifestValue) {
            self.key = key
            self.value = value
        }
    }

    package static func map(_ key: String, _ value: ManifestValue) -> ManifestValue {
        .map([Entry(key, value)])
    }

    /// A map. A key whose value is nil is left out.
    package static func map(_ pairs: KeyValuePairs<String, ManifestValue?>) -> ManifestValue {
        .map(entries(pairs))
    }

    package static func entries(_ pairs: KeyValuePairs<String, ManifestValue?>) -> [Entry] {
        pairs.compactMap { key, value in value.map { Entry(key, $0) } }
    }
}

/// The text of a manifest: one line for each image and each filter.
extension ManifestValue {
    package func manifest(in format: ManifestFormat) -> String {
        guard case .map(let entries) = self else { return inline(format) + "\n" }
        switch format {
        case .yaml: return entries.map { $0.yamlBlock }.joined()
        case .json, .plist:
            return "{\n" + entries.map { "  " + $0.jsonBlock }.joined(separator: ",\n") + "\n}\n"
        }
    }

    package func inline(_ format: ManifestFormat) -> String {
        switch self {
        case .text(let text):
            format == .yaml && ManifestText.isPlain(ByteString(text))
                ? text : ManifestText.quoted(ByteString(text))
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .boolean(let value): "\(value)"
        case .list(let items):
            "[" + items.map { $0.inline(format) }.joined(separator: ", ") + "]"
        case .map(let entries):
            "{" + entries.map { $0.inline(format) }.joined(separator: ", ") + "}"
        }
    }
}

extension ManifestValue.Entry {
    fileprivate func inline(_ format: ManifestFormat) -> String {
        ManifestValue.text(key).inline(format) + ": " + value.inline(format)
    }

    fileprivate var jsonBlock: String {
        guard case .list(let items) = value, !items.isEmpty else { return inline(.json) }
        let lines = items.map { "    " + $0.inline(.json) }.joined(separator: ",\n")
        return "\(ManifestValue.text(key).inline(.json)): [\n\(lines)\n  ]"
    }

    fileprivate var yamlBlock: String {
        guard case .list(let items) = value, !items.isEmpty else { return inline(.yaml) + "\n" }
        return ManifestValue.text(key).inline(.yaml) + ":\n"
            + items.map { "  - \($0.inline(.yaml))\n" }.joined()
    }
}
