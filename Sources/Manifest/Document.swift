import DarkroomCore
import DarkroomPicture

/// What a manifest's text holds before anything is known of its meaning: a tree of values with
/// places.
///
/// The readers of the three formats make one, `ManifestReader` reads it. A tree is at most
/// `maximumHeight` containers high, so whatever walks or frees it may recurse. Containers are
/// shared where a YAML alias or a binary property list refers to one twice; readers keep the number
/// of nodes that someone walking the tree will meet within a budget.
package enum Document {
    /// Containers within containers. Six are enough for a manifest; hostile files have 100,000.
    package static let maximumHeight = 64
    /// Bytes of a key. Names have 200 at most, other keys are words; a key is shown whole in the paths of problems.
    package static let maximumKey = 1024

    /// A line and a column from 1, the column counted in Unicode scalars. Binary property lists
    /// have none.
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
        /// A YAML scalar without quotes, which is what its reader takes it for: see `PlainScalar`.
        case plain(ByteString)
        case list(List)
        case map(Map)
        /// A value that no manifest has a use for, in words: "a date".
        case other(String)
    }

    /// Values in their order.
    package final class List: Sendable {
        package let items: [Node]
        /// Nodes in this container and below, itself included.
        package let size: Int
        /// 1 for a container without containers.
        package let height: Int

        package init(_ items: [Node]) {
            self.items = items
            (size, height) = Document.extent(of: items)
        }
    }

    /// Keys and values in their order. Keys given twice are here twice.
    package final class Map: Sendable {
        package let entries: [Entry]
        /// As with `List`.
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
        /// The key's place.
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
            let (sum, overflow) = size.addingReportingOverflow(node.size)
            size = overflow ? .max : sum
            height = max(height, node.height)
        }
        return (size, height + 1)
    }
}

extension Document.Node {
    package var size: Int {
        switch value {
        case .list(let list): list.size
        case .map(let map): map.size
        default: 1
        }
    }

    /// 0 for anything but a container.
    package var height: Int {
        switch value {
        case .list(let list): list.height
        case .map(let map): map.height
        default: 0
        }
    }

    /// Bytes of a text; 0 for anything else.
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

    /// The text of a string, and of any YAML scalar without quotes that does not mean null.
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

    /// An integer or a number; never a boolean, never text in quotes.
    package var number: FilterArgument? {
        switch value {
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        case .plain(let text): PlainScalar.number(text)
        default: nil
        }
    }

    /// What the value is, with its article, as the end of a sentence.
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
