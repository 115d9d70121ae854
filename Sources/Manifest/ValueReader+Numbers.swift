import DarkroomCore
import DarkroomPicture

extension ValueReader {
    mutating func number(
        _ node: Document.Node, _ range: ClosedRange<Double>, _ parameter: FilterParameter,
        at path: DocumentPath
    ) -> FilterArgument? {
        let what = "‘\(parameter.name)’"
        guard let value = node.number?.double else {
            wrongNumber(node, "\(what) must be a number", parameter, at: path)
            return nil
        }
        if range.contains(value) { return .number(value) }
        let rule = "from \(range.lowerBound.briefly) to \(range.upperBound.briefly)"
        problems.add(
            .outOfRange, "\(what) must be \(rule), found \(value.briefly)", at: path, node.place)
        return nil
    }

    /// A size in the notation of the configuration: a number of bytes, or a text such as 200KiB.
    mutating func bytes(
        _ node: Document.Node, _ what: String, _ range: ClosedRange<Int>, at path: DocumentPath
    ) -> Int? {
        let rule = "\(what) must be a number of bytes, such as 200000, 200KiB or 1.5MiB"
        let value: Int?
        switch node.number {
        case .integer(let integer): value = integer
        case .number(let number): value = Int(exactly: number)
        default:
            guard let text = node.text else {
                wrongType(node, rule, at: path, isRequired: false, write: .text("200KiB"))
                return nil
            }
            value = Quantity.bytes(text.string)
        }
        guard let value else {
            problems.add(
                .unknownValue, "\(rule), found \(node.words)", at: path, node.place,
                suggestion: node.text.flatMap { Quantity.correctedSize($0.string) })
            return nil
        }
        if range.contains(value) { return value }
        problems.add(
            .outOfRange,
            "\(what) must be \(range.lowerBound) to \(Quantity.text(bytes: range.upperBound)),"
                + " found \(node.words)", at: path, node.place)
        return nil
    }

    private mutating func wrongNumber(
        _ node: Document.Node, _ rule: String, _ parameter: FilterParameter, at path: DocumentPath
    ) {
        wrongType(
            node, rule, at: path, isRequired: parameter.isRequired,
            write: FilterCorrection.value(for: parameter.kind, node)
                ?? FilterCorrection.placeholder(for: parameter))
    }

    mutating func integer(
        _ node: Document.Node, among numbers: [Int], _ parameter: FilterParameter,
        at path: DocumentPath
    ) -> Int? {
        let rule = "‘\(parameter.name)’ must be \(Words.list(numbers.map(String.init), "or"))"
        return integer(node, rule, parameter, at: path) { numbers.contains($0) }
    }

    mutating func integer(
        _ node: Document.Node, _ range: ClosedRange<Int>, _ parameter: FilterParameter,
        at path: DocumentPath
    ) -> Int? {
        let rule =
            "‘\(parameter.name)’ must be an integer from \(range.lowerBound) to \(range.upperBound)"
        return integer(node, rule, parameter, at: path) { range.contains($0) }
    }

    private mutating func integer(
        _ node: Document.Node, _ rule: String, _ parameter: FilterParameter,
        at path: DocumentPath, isRight: (Int) -> Bool
    ) -> Int? {
        let found: String
        switch node.number {
        case .integer(let value):
            if isRight(value) { return value }
            found = "\(value)"
        case .number(let value):
            // Some programs write 800 as 800.0.
            if let whole = Int(exactly: value), isRight(whole) { return whole }
            found = value.briefly
        default:
            wrongNumber(node, rule, parameter, at: path)
            return nil
        }
        problems.add(.outOfRange, "\(rule), found \(found)", at: path, node.place)
        return nil
    }
}

extension FilterArgument {
    /// The value of an integer or a number.
    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .text, .boolean: nil
        }
    }
}
