/// A value that few owners of a kind have: without one, it takes a pointer's memory. The statuses of a hundred thousand
/// images are in memory, several times for a moment.
package indirect enum Rare<Value: Codable & Sendable & Equatable>: Sendable, Equatable {
    case of(Value)

    package init(_ value: Value) { self = .of(value) }

    package var value: Value {
        switch self {
        case .of(let value): value
        }
    }
}

extension Rare: Codable {
    package init(from decoder: any Decoder) throws { self.init(try Value(from: decoder)) }

    package func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

/// A text that few images have.
package typealias RareText = Rare<String>

extension Rare: ExpressibleByUnicodeScalarLiteral, ExpressibleByExtendedGraphemeClusterLiteral,
    ExpressibleByStringLiteral, ExpressibleByStringInterpolation
where Value == String {
    package init(stringLiteral text: String) { self.init(text) }
}
