/// A value that few owners of a kind have: without one, it takes a pointer's memory. The statuses of a hundred thousand
/// images are in memory, several times for a moment.
struct Rare<Value: Codable & Sendable & Equatable>: Sendable, Equatable {
    private final class Box: Sendable {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private let box: Box

    init(_ value: Value) {
        box = Box(value)
    }

    var value: Value { box.value }

    static func == (a: Rare, b: Rare) -> Bool { a.value == b.value }
}

extension Rare: Codable {
    init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Value.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
