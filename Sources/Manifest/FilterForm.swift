import DarkroomCore
import DarkroomPicture

/// How filters are written, made of what somebody has written in their place.
enum FilterForm {
    /// Stands for any filter.
    static let example: WrittenForm = .text("mono")

    /// A filter of a list, where something else than a list or a filter is: `mono`, or `{sepia: {intensity: 0.8}}`.
    static func filter(meantBy node: Document.Node) -> WrittenForm {
        if let name = node.text { return named(name) ?? example }
        guard case .map(let map) = node.value, let first = map.entries.first,
            let specification = FilterCatalog.specification(named: first.key)
        else { return example }
        // Parameters indented no further than the name are the usual reason for several keys.
        var parameters: [WrittenForm.Entry] = []
        for entry in map.entries.dropFirst() {
            guard let parameter = specification.parameter(named: entry.key) else { break }
            parameters.append(
                WrittenForm.Entry(key: parameter.name, value: value(for: parameter, entry.value)))
        }
        if !parameters.isEmpty { return .map(specification.name, .map(parameters)) }
        if first.value.isNull { return named(first.key) ?? example }
        return .map(specification.name, Self.parameters(of: specification, from: first.value))
    }

    private static func named(_ name: ByteString) -> WrittenForm? {
        let meant = Suggestion.nearest(
            to: name, among: FilterCatalog.all.lazy.map { ByteString($0.name) })
        guard let meant, let specification = FilterCatalog.specification(named: ByteString(meant))
        else { return nil }
        let entries = complete(
            specification.parameters.filter(\.isRequired).map {
                WrittenForm.Entry(key: $0.name, value: example(of: $0))
            }, of: specification)
        return entries.isEmpty ? .text(ByteString(meant)) : .map(meant, .map(entries))
    }

    /// The parameters and, where they make no filter, the first further one with which they do: `resize` needs a
    /// width or a height, though none of them is required.
    private static func complete(
        _ entries: [WrittenForm.Entry], of specification: FilterSpecification
    ) -> [WrittenForm.Entry] {
        func makesFilter(_ entries: [WrittenForm.Entry]) -> Bool {
            var arguments: [String: FilterArgument] = [:]
            for entry in entries {
                guard case .value(let value) = entry.value else { return false }
                arguments[entry.key] = value
            }
            let given = FilterArguments(arguments, for: specification)
            return (try? specification.make(given)) != nil
        }
        if makesFilter(entries) { return entries }
        let further = specification.parameters.lazy.map {
            entries + [WrittenForm.Entry(key: $0.name, value: example(of: $0))]
        }
        return further.first(where: makesFilter) ?? entries
    }

    /// The parameters of a filter of which only one value was given: `resize: 800` means its width.
    static func parameters(
        of specification: FilterSpecification, from node: Document.Node
    ) -> WrittenForm {
        if case .map(let map) = node.value {
            return .map(
                map.entries.compactMap { entry in
                    specification.parameter(named: entry.key).map {
                        WrittenForm.Entry(key: $0.name, value: value(for: $0, entry.value))
                    }
                })
        }
        let meant = specification.parameters.first { takes(node, $0) }
        let shown = specification.parameters.filter { $0.isRequired || $0.name == meant?.name }
        let entries = shown.map {
            WrittenForm.Entry(key: $0.name, value: value(for: $0, node))
        }
        return .map(complete(entries, of: specification))
    }

    /// The value, if the parameter could have it, or else an example.
    private static func value(
        for parameter: FilterParameter, _ node: Document.Node
    ) -> WrittenForm {
        guard takes(node, parameter), let value = WrittenForm.value(of: node) else {
            return example(of: parameter)
        }
        return value
    }

    private static func takes(_ node: Document.Node, _ parameter: FilterParameter) -> Bool {
        let number: Double? =
            switch node.number {
            case .integer(let value)?: Double(value)
            case .number(let value)?: value
            default: nil
            }
        switch parameter.kind {
        case .number(let range): return number.map(range.contains) ?? false
        case .integer(let range):
            return number.flatMap { Int(exactly: $0) }.map(range.contains) ?? false
        case .oneOf(let numbers):
            return number.flatMap { Int(exactly: $0) }.map(numbers.contains) ?? false
        case .choice(let words): return words.contains { ByteString($0) == node.text }
        case .boolean: return node.boolean != nil
        case .colour: return node.text.flatMap { Colour($0) } != nil
        case .image: return number == nil && node.boolean == nil && node.text != nil
        }
    }

    private static func example(of parameter: FilterParameter) -> WrittenForm {
        if let standard = parameter.standard { return .value(standard) }
        switch parameter.kind {
        case .number(let range): return .value(.number(max(1, range.lowerBound)))
        case .integer: return .value(.integer(100))
        case .oneOf(let numbers): return .value(.integer(numbers[0]))
        case .choice(let words): return .text(ByteString(words[0]))
        case .boolean: return .value(.boolean(true))
        case .colour: return .text("white")
        case .image: return .text("logo")
        }
    }

    /// The number that somebody has written as text.
    static func number(meantBy node: Document.Node) -> Double? {
        guard let text = node.text, let number = PlainScalar.number(text) else { return nil }
        switch number {
        case .integer(let value): return Double(value)
        case .number(let value) where value.isFinite: return value
        default: return nil
        }
    }
}
