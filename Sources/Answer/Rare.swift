/// A value that few owners of a kind have: without one, it takes a pointer's memory. The statuses of a hundred thousand
/// images are in memory, several times for a moment.
package struct Rare<Value: Codable & Sendable & Equatable>: Sendable, Equatable {
    private final class Box: Sendable {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private let box: Box

    package init(_ value: Value) {
        box = Box(value)
    }

    package var value: Value { box.value }

    package static func == (a: Rare, b: Rare) -> Bool { a.value == b.value }
}

extension Rare: Codable {
    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Value.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// A text that few images have.
package typealias RareText = Rare<String>

extension Rare: ExpressibleByUnicodeScalarLiteral where Value == String {
    package init(unicodeScalarLiteral text: String) { self.init(text) }
}

extension Rare: ExpressibleByExtendedGraphemeClusterLiteral where Value == String {
    package init(extendedGraphemeClusterLiteral text: String) { self.init(text) }
}

extension Rare: ExpressibleByStringLiteral where Value == String {
    package init(stringLiteral text: String) { self.init(text) }
}

extension Rare: ExpressibleByStringInterpolation where Value == String {}
