import DarkroomCore

/// Writes a document in one of the formats, indented, so that its reader finds the same values.
struct DocumentWriter {
    private let format: ManifestFormat
    private let maximum: Int
    private var text: [UInt8] = []

    /// - Parameter maximum: the number of bytes above which there is no text.
    init(_ format: ManifestFormat, maximum: Int) {
        self.format = format
        self.maximum = maximum
    }

    /// What was written; nil if it is too long.
    var bytes: [UInt8]? { text.count <= maximum ? text : nil }

    private static let comment =
        "darkroomd has written this anew; *** stands for users, passwords, queries and fragments."

    mutating func write(_ root: Document.Node) {
        switch format {
        case .json: json(root, 0)
        case .yaml:
            put("# \(Self.comment)\n")
            yaml(root, 0, isBegun: true)
        case .plist:
            put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- \(Self.comment) -->\n")
            put("<plist version=\"1.0\">\n")
            plist(root, 0)
            put("</plist>")
        }
        put("\n")
    }

    private mutating func put(_ text: String) {
        guard self.text.count <= maximum else { return }
        self.text += Array(text.utf8)
    }

    private mutating func indent(_ depth: Int) { put(String(repeating: "  ", count: depth)) }

    // MARK: JSON

    private mutating func json(_ node: Document.Node, _ depth: Int) {
        switch node.value {
        case .list(let list) where !list.items.isEmpty:
            put("[\n")
            for (index, item) in list.items.enumerated() {
                indent(depth + 1)
                json(item, depth + 1)
                put(index == list.items.count - 1 ? "\n" : ",\n")
            }
            indent(depth)
            put("]")
        case .map(let map) where !map.entries.isEmpty:
            put("{\n")
            for (index, entry) in map.entries.enumerated() {
                indent(depth + 1)
                put(ManifestText.quoted(entry.key) + ": ")
                json(entry.value, depth + 1)
                put(index == map.entries.count - 1 ? "\n" : ",\n")
            }
            indent(depth)
            put("}")
        default: put(Self.scalar(node))
        }
    }

    /// A value that is no container, or an empty one, in JSON and in YAML.
    private static func scalar(_ node: Document.Node) -> String {
        switch node.value {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .number(let value): "\(value)"
        case .text(let text): ManifestText.quoted(text)
        case .plain(let text): plain(text)
        case .other(let words): ManifestText.quoted(ByteString(words))
        case .list: "[]"
        case .map: "{}"
        }
    }

    // MARK: YAML

    /// - Parameter isBegun: whether its first line has its indentation already.
    private mutating func yaml(_ node: Document.Node, _ depth: Int, isBegun: Bool) {
        switch node.value {
        case .list(let list) where !list.items.isEmpty:
            for (index, item) in list.items.enumerated() {
                if index > 0 || !isBegun { indent(depth) }
                put("- ")
                yaml(item, depth + 1, isBegun: true)
                if index < list.items.count - 1 { put("\n") }
            }
        case .map(let map) where !map.entries.isEmpty:
            for (index, entry) in map.entries.enumerated() {
                if index > 0 || !isBegun { indent(depth) }
                put(
                    (ManifestText.isPlain(entry.key)
                        ? entry.key.string : ManifestText.quoted(entry.key)) + ":")
                put(entry.value.isFilledContainer ? "\n" : " ")
                yaml(entry.value, depth + 1, isBegun: !entry.value.isFilledContainer)
                if index < map.entries.count - 1 { put("\n") }
            }
        default: put(Self.scalar(node))
        }
    }

    /// Without quotes if its meaning depends on that.
    private static func plain(_ text: ByteString) -> String {
        if PlainScalar.isNull(text) { return "null" }
        let hasMeaning = PlainScalar.boolean(text) != nil || PlainScalar.number(text) != nil
        return hasMeaning || ManifestText.isPlain(text) ? text.string : ManifestText.quoted(text)
    }

    // MARK: Property lists

    private mutating func plist(_ node: Document.Node, _ depth: Int) {
        indent(depth)
        switch node.value {
        case .boolean(let value): put(value ? "<true/>" : "<false/>")
        case .integer(let value): put("<integer>\(value)</integer>")
        case .number(let value): put("<real>\(value)</real>")
        case .list(let list):
            put("<array>\n")
            for item in list.items { plist(item, depth + 1) }
            indent(depth)
            put("</array>")
        case .map(let map):
            put("<dict>\n")
            for entry in map.entries {
                indent(depth + 1)
                put("<key>\(Self.entities(entry.key))</key>\n")
                plist(entry.value, depth + 1)
            }
            indent(depth)
            put("</dict>")
        case .text(let text), .plain(let text): put("<string>\(Self.entities(text))</string>")
        // No property list has one of these.
        case .null, .other: break
        }
        put("\n")
    }

    private static func entities(_ text: ByteString) -> String {
        var escaped = ""
        for scalar in text.string.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\r": escaped += "&#13;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension Document.Node {
    fileprivate var isFilledContainer: Bool {
        switch value {
        case .list(let list): !list.items.isEmpty
        case .map(let map): !map.entries.isEmpty
        default: false
        }
    }
}
