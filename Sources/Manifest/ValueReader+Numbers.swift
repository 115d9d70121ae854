import DarkroomCore
import DarkroomPicture

extension ValueReader {
    mutating func number(
        _ node: Document.Node, _ range: ClosedRange<Double>, _ parameter: FilterParameter,
        at path: DocumentPath
    ) -> FilterArgument? {
        let what = "‘\(parameter.name)’"
        let value: Double
        switch node.number {
        case .integer(let integer): value = Double(integer)
        case .number(let number): value = number
        default:
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
    ) -> FilterArgument? {
        let rule = "‘\(parameter.name)’ must be \(numbers.map(String.init).joined(or: "or"))"
        switch node.number {
        case .integer(let value):
            if numbers.contains(value) { return .integer(value) }
            problems.add(.outOfRange, "\(rule), found \(value)", at: path, node.place)
        case .number(let value):
            if let whole = Int(exactly: value), numbers.contains(whole) { return .integer(whole) }
            problems.add(.outOfRange, "\(rule), found \(value.briefly)", at: path, node.place)
        default:
            wrongNumber(node, rule, parameter, at: path)
        }
        return nil
    }

    mutating func integer(
        _ node: Document.Node, _ range: ClosedRange<Int>, _ parameter: FilterParameter,
        at path: DocumentPath
    ) -> Int? {
        let rule =
            "‘\(parameter.name)’ must be an integer from \(range.lowerBound) to \(range.upperBound)"
        switch node.number {
        case .integer(let value):
            if range.contains(value) { return value }
            problems.add(.outOfRange, "\(rule), found \(value)", at: path, node.place)
        case .number(let value):
            // Some programs write 800 as 800.0.
            if let whole = Int(exactly: value), range.contains(whole) { return whole }
            problems.add(.outOfRange, "\(rule), found \(value.briefly)", at: path, node.place)
        default:
            wrongNumber(node, rule, parameter, at: path)
        }
        return nil
    }
}
