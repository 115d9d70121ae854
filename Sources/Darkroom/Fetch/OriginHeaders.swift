/// Request headers for single origins, `Authorization` above all: the content of `downloads.headers`.
///
/// They are secrets: no description has a value, and they go to the origin they are for and to no other,
/// not after a redirect either.
package struct OriginHeaders: Sendable, Equatable {
    private var table: [Origin: [Header]]

    package struct Header: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    package init(_ table: [Origin: [Header]] = [:]) {
        self.table = table
    }

    package var isEmpty: Bool { table.isEmpty }

    /// Those to send along with a request to `origin`, in the order of the file.
    package func headers(for origin: Origin) -> [(name: String, value: String)] {
        table[origin, default: []].map { ($0.name, $0.value) }
    }
}

extension OriginHeaders: CustomStringConvertible, CustomReflectable {
    package var description: String { "headers for \(table.count) origins" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension OriginHeaders.Header: CustomStringConvertible, CustomReflectable {
    package var description: String { "\(name): …" }
    package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
