import DarkroomCore
import DarkroomPicture

/// A number in a form that a parameter does not accept: `"800"`, `800px`, `80%`.
struct NumberCorrection {
    private enum Unit { case none, pixels, degrees, percent }

    private let value: Double
    private let unit: Unit

    /// A longer text is neither a number nor two.
    private static let longest = 64

    /// The numbers of a node, in their order: `800x600` and `[800, 600]` have two. Empty if the node contains anything
    /// else.
    static func all(in node: Document.Node) -> [NumberCorrection] {
        if let value = node.number?.double { return [NumberCorrection(value: value, unit: .none)] }
        if case .list(let list) = node.value {
            guard list.items.count <= 4 else { return [] }
            let numbers = list.items.map { one(in: $0) }
            return numbers.contains { $0 == nil } ? [] : numbers.compactMap { $0 }
        }
        guard let text = node.text, text.utf8.count <= longest else { return [] }
        return all(in: text)
    }

    private static func one(in node: Document.Node) -> NumberCorrection? {
        if case .list = node.value { return nil }
        let numbers = all(in: node)
        return numbers.count == 1 ? numbers[0] : nil
    }

    private static func all(in text: ByteString) -> [NumberCorrection] {
        if let value = PlainScalar.number(text)?.double {
            return [NumberCorrection(value: value, unit: .none)]
        }
        var numbers: [NumberCorrection] = []
        var rest = Array(text.asciiLowercased.utf8)[...]
        rest.dropSpaces()
        while !rest.isEmpty {
            guard let value = rest.takeNumber() else { return [] }
            guard let unit = unit(named: rest.takeWord()) else { return [] }
            numbers.append(NumberCorrection(value: value, unit: unit))
            rest.dropSeparator()
        }
        return numbers
    }

    private static func unit(named word: ByteString) -> Unit? {
        switch word {
        case "", "x", "×": Unit.none
        case "px", "pixel", "pixels": .pixels
        case "deg", "degree", "degrees", "°": .degrees
        case "%", "percent": .percent
        default: nil
        }
    }

    /// The value in the form of the parameter; nil if the parameter does not accept it. For a parameter whose maximum
    /// is 1, 80 % is 0.8.
    func argument(for kind: FilterParameter.Kind) -> FilterArgument? {
        switch kind {
        case .number(let range):
            if unit == .percent {
                let isShare = range.lowerBound >= 0 && range.upperBound <= 100
                return isShare && range.contains(value / 100) ? .number(value / 100) : nil
            }
            return range.contains(value) ? .number(value) : nil
        case .integer(let range):
            guard unit != .percent || range.upperBound == 100 else { return nil }
            return Int(exactly: value).flatMap { range.contains($0) ? .integer($0) : nil }
        case .oneOf(let numbers):
            guard unit != .percent else { return nil }
            return Int(exactly: value).flatMap { numbers.contains($0) ? .integer($0) : nil }
        case .choice, .boolean, .colour, .image:
            return nil
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func dropSpaces() { removeFirst(prefix { $0 == UInt8(ascii: " ") }.count) }

    /// A decimal number with an optional sign.
    fileprivate mutating func takeNumber() -> Double? {
        let start = self
        if first?.isSign == true { removeFirst() }
        var digits = takeDigits()
        if first == UInt8(ascii: ".") {
            removeFirst()
            digits += takeDigits()
        }
        guard digits > 0 else { return nil }
        return Double(String(decoding: start[..<startIndex], as: UTF8.self))
    }

    /// Letters, a percent sign or characters beyond ASCII, with surrounding spaces.
    fileprivate mutating func takeWord() -> ByteString {
        dropSpaces()
        let word = prefix { $0.isLetter || $0 == UInt8(ascii: "%") || $0 >= 0x80 }
        removeFirst(word.count)
        dropSpaces()
        return ByteString(decoding: word)
    }

    fileprivate mutating func dropSeparator() {
        if let byte = first, ",;*x".utf8.contains(byte) {
            removeFirst()
        } else if starts(with: "×".utf8) {
            removeFirst("×".utf8.count)
        }
        dropSpaces()
    }
}
