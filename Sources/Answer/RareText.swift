/// A text that few images have.
package struct RareText: Sendable, Equatable {
    private let rare: Rare<String>

    package init(_ text: String) {
        rare = Rare(text)
    }

    package var text: String { rare.value }
}

extension RareText: Codable {
    package init(from decoder: any Decoder) throws {
        rare = try Rare(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws { try rare.encode(to: encoder) }
}

extension RareText: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) {
        self.init(text)
    }
}
