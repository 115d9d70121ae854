import DarkroomCore
import DarkroomPicture

/// The content of a manifest's text, before its meaning is known: a tree of values with places.
///
/// The readers of the three formats create it, and `ManifestReader` reads it. A tree has at most `maximumHeight` levels
/// of containers, so code that walks or releases it may recurse. If a YAML alias or a binary property list refers to a
/// container twice, the container is shared. The readers limit the number of nodes that a walk of the whole tree
/// visits.
package enum Document {
    /// The maximum nesting depth. A manifest needs six levels; hostile files have 100,000.
    package static let maximumHeight = 64
    /// The maximum length of a key, in bytes. Names have at most 200 bytes, other keys are words. The paths of problems
    /// show keys in full.
    package static let maximumKey = 1024

    /// A line and a column, counted from 1; the column in Unicode scalars. Binary property lists have no places.
    package struct Place: Sendable, Equatable {
        package let line: UInt32
        package let column: UInt32

        package static let none = Place(line: 0, column: 0)

        package init(line: Int, column: Int) {
            self.line = UInt32(clamping: line)
            self.column = UInt32(clamping: column)
        }
    }

    package struct Node: Sendable {
        package let value: Value
        package let place: Place

        package init(_ value: Value, at place: Place) {
            self.value = value
            self.place = place
        }
    }

    package enum Value: Sendable {
        case null
        case boolean(Bool)
        case integer(Int)
        /// May be infinite or not a number.
        case number(Double)
        case text(ByteString)
        /// A YAML scalar without quotes. Its meaning depends on the type that the reader expects; see `PlainScalar`.
        case plain(ByteString)
        case list(List)
        case map(Map)
        /// A value that manifests do not use, as text: "a date".
        case other(String)
    }

    /// Values in their order.
    package final class List: Sendable {
        package let items: [Node]
        /// The number of nodes in this container, including itself and nested ones.
        package let size: Int
        /// 1 for a container without nested containers.
        package let height: Int

        package init(_ items: [Node]) {
            self.items = items
            (size, height) = Document.extent(of: items)
        }
    }

    /// Keys and values in their order. Repeated keys are kept.
    package final class Map: Sendable {
        package let entries: [Entry]
        /// As in `List`.
        package let size: Int
        package let height: Int

        package init(_ entries: [Entry]) {
            self.entries = entries
            (size, height) = Document.extent(of: entries.lazy.map(\.value))
        }

        /// The value of the first entry with this key.
        package subscript(key: ByteString) -> Node? { entries.first { $0.key == key }?.value }
    }

    package struct Entry: Sendable {
        package let key: ByteString
        package let place: Place
        package let value: Node

        package init(key: ByteString, at place: Place, value: Node) {
            self.key = key
            self.place = place
            self.value = value
        }
    }

    private static func extent(of nodes: some Sequence<Node>) -> (size: Int, height: Int) {
        var size = 1
        var height = 0
        for node in nodes {
            size = size.saturatingAdd(node.size)
            height = max(height, node.height)
        }
        return (size, height + 1)
    }
}

extension Document.Node {
    package var size: Int { extent.size }

    /// 0 for anything that is not a container.
    package var height: Int { extent.height }

    private var extent: (size: Int, height: Int) {
        switch value {
        case .list(let list): (list.size, list.height)
        case .map(let map): (map.size, map.height)
        default: (1, 0)
        }
    }

    /// The number of bytes of a text; 0 for anything else.
    package var textLength: Int {
        switch value {
        case .text(let text), .plain(let text): text.utf8.count
        default: 0
        }
    }

    package var isNull: Bool {
        switch value {
        case .null: true
        case .plain(let text): PlainScalar.isNull(text)
        default: false
        }
    }

    /// The text of a string, or of a YAML scalar without quotes that does not mean null.
    package var text: ByteString? {
        switch value {
        case .text(let text): text
        case .plain(let text): PlainScalar.isNull(text) ? nil : text
        default: nil
        }
    }

    package var boolean: Bool? {
        switch value {
        case .boolean(let value): value
        case .plain(let text): PlainScalar.boolean(text)
        default: nil
        }
    }

    /// An integer or a number; never a boolean or a quoted text.
    package var number: FilterArgument? {
        switch value {
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        case .plain(let text): PlainScalar.number(text)
        default: nil
        }
    }

    /// The kind of value, with its article, as the end of a sentence.
    package var words: String {
        if isNull { return "nothing" }
        if boolean != nil { return "true or false" }
        if number != nil { return "a number" }
        switch value {
        case .list: return "a list"
        case .map: return "a map"
        case .other(let words): return words
        default: return "text"
        }
    }
}
