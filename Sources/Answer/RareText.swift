/// A text that few values of a kind have: without one, it takes half the memory of a `String?`. The statuses of a hundred
/// thousand images are in memory, several times for a moment.
package struct RareText: Sendable, Equatable {
    private final class Box: Sendable {
        let text: String

        init(_ text: String) {
            self.text = text
        }
    }

    private let box: Box

    package init(_ text: String) {
        box = Box(text)
    }

    package var text: String { box.text }

    package static func == (a: RareText, b: RareText) -> Bool { a.text == b.text }
}

extension RareText: Codable {
    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension RareText: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) {
        self.init(text)
    }
}
