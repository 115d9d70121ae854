import DarkroomCore
import DarkroomPicture

extension FilterCorrection {
    /// The parameters of a filter for which only values were given: `resize: 800` means its width.
    static func parameters(
        of specification: FilterSpecification, from node: Document.Node
    ) -> ManifestSnippet {
        if case .map(let map) = node.value { return parameters(of: specification, map.entries) }
        var given: [ManifestSnippet.Entry] = []
        let numbers = NumberCorrection.all(in: node)
        if !numbers.isEmpty {
            given = entries(of: specification, numbers)
        } else if node.boolean == nil {
            // An image name may be any text, so it is tried after parameters with fixed words.
            let known =
                specification.parameters.filter { $0.kind != .image }
                + specification.parameters.filter { $0.kind == .image }
            for parameter in known {
                guard let value = value(for: parameter.kind, node) else { continue }
                given = [ManifestSnippet.Entry(key: parameter.name, value: value)]
                break
            }
        }
        if given.isEmpty, node.boolean == nil, let first = specification.parameters.first {
            given = [ManifestSnippet.Entry(key: first.name, value: placeholder(for: first))]
        }
        return .map(complete(given, of: specification))
    }

    /// Numbers only: two of them are a width and a height if the filter has these; otherwise each is for the next
    /// parameter.
    private static func entries(
        of specification: FilterSpecification, _ numbers: [NumberCorrection]
    ) -> [ManifestSnippet.Entry] {
        let sides = specification.parameters.filter { ["width", "height"].contains($0.name) }
        let numeric = specification.parameters.filter(\.isNumeric)
        let starts = numeric.indices.map { Array(numeric[$0...].prefix(numbers.count)) }
        let candidates = numbers.count == 2 && sides.count == 2 ? [sides] + starts : starts
        for parameters in candidates where parameters.count == numbers.count {
            let values = zip(parameters, numbers).compactMap { $1.argument(for: $0.kind) }
            if values.count == numbers.count {
                return zip(parameters, values).map {
                    ManifestSnippet.Entry(key: $0.name, value: .value($1))
                }
            }
        }
        return []
    }

    static func parameters(
        of specification: FilterSpecification, _ entries: [Document.Entry]
    ) -> ManifestSnippet {
        var given: [ManifestSnippet.Entry] = []
        for entry in entries {
            guard let parameter = specification.parameter(meantBy: entry.key),
                !given.contains(where: { $0.key == parameter.name })
            else { continue }
            if let value = value(for: parameter.kind, entry.value) {
                given.append(ManifestSnippet.Entry(key: parameter.name, value: value))
            } else if parameter.isRequired || !meansNothing(entry.value) {
                given.append(
                    ManifestSnippet.Entry(key: parameter.name, value: placeholder(for: parameter)))
            }
        }
        return .map(complete(given, of: specification))
    }

    /// Whether the value of an optional parameter is equivalent to none.
    private static func meansNothing(_ node: Document.Node) -> Bool {
        if node.isNull { return true }
        return node.text.map { ["auto", "none", "default"].contains($0) } ?? false
    }

    /// The given entries and the missing required ones. If these do not make a valid filter, also the first further
    /// parameter that does: `resize` needs a width or a height, although neither is required.
    private static func complete(
        _ given: [ManifestSnippet.Entry], of specification: FilterSpecification
    ) -> [ManifestSnippet.Entry] {
        let missing = specification.parameters.filter { parameter in
            parameter.isRequired && !given.contains { $0.key == parameter.name }
        }
        var entries =
            missing.map { ManifestSnippet.Entry(key: $0.name, value: placeholder(for: $0)) } + given
        let order = specification.parameters.map(\.name)
        if !missing.isEmpty {
            entries.sort {
                (order.firstIndex(of: $0.key) ?? 0) < (order.firstIndex(of: $1.key) ?? 0)
            }
        }
        guard let issue = issue(entries, of: specification) else { return entries }
        // A colour that this filter does not accept.
        if let index = entries.firstIndex(where: { $0.key == issue.parameter }),
            let parameter = specification.parameter(named: ByteString(entries[index].key)),
            parameter.kind == .colour
        {
            entries[index] = ManifestSnippet.Entry(
                key: parameter.name, value: placeholder(for: parameter))
            return entries
        }
        let further = specification.parameters.lazy
            .filter { parameter in !entries.contains { $0.key == parameter.name } }
            .map { entries + [ManifestSnippet.Entry(key: $0.name, value: completion(for: $0))] }
        return further.first { Self.issue($0, of: specification) == nil } ?? entries
    }

    private static func issue(
        _ entries: [ManifestSnippet.Entry], of specification: FilterSpecification
    ) -> FilterIssue? {
        var arguments: [String: FilterArgument] = [:]
        for entry in entries {
            if case .value(let value) = entry.value {
                arguments[entry.key] = value
            } else if let parameter = specification.parameter(named: ByteString(entry.key)) {
                arguments[entry.key] = example(of: parameter)
            }
        }
        do {
            _ = try specification.make(FilterArguments(arguments, for: specification))
            return nil
        } catch {
            return error
        }
    }

    /// The value in the form of the parameter; nil if the parameter cannot have it.
    static func value(for kind: FilterParameter.Kind, _ node: Document.Node) -> ManifestSnippet? {
        switch kind {
        case .number, .integer, .oneOf:
            let numbers = NumberCorrection.all(in: node)
            guard numbers.count == 1 else { return nil }
            return numbers[0].argument(for: kind).map { .value($0) }
        case .boolean: return boolean(meantBy: node).map { .value(.boolean($0)) }
        case .choice(let words):
            return text(meantBy: node).flatMap { Suggestion.meant(by: $0, among: words) }
                .map { .text(ByteString($0)) }
        case .colour:
            return text(meantBy: node).flatMap { Colour.spelling(meantBy: $0) }.map { .text($0) }
        case .image:
            guard let text = text(meantBy: node) else { return nil }
            let name = OverlaySource.isSource(text) ? ImageName.derived(from: text) : text
            return ManifestSnippet.value(of: Document.Node(.text(name), at: .none))
        }
    }

    /// The text of a node, or of the only item of a list.
    static func text(meantBy node: Document.Node) -> ByteString? {
        if case .list(let list) = node.value, list.items.count == 1 { return list.items[0].text }
        if case .integer(let value) = node.value { return ByteString("\(value)") }
        return node.text
    }

    /// The words of other notations for true and false.
    static func boolean(meantBy node: Document.Node) -> Bool? {
        if let boolean = node.boolean { return boolean }
        guard let text = text(meantBy: node), text.utf8.count <= 5 else { return nil }
        switch text.asciiLowercased {
        case "yes", "on", "true", "y", "1": return true
        case "no", "off", "false", "n", "0": return false
        default: return nil
        }
    }

    static func placeholder(for parameter: FilterParameter) -> ManifestSnippet {
        switch parameter.kind {
        case .number: .placeholder(.number("NUMBER"))
        case .integer(let range):
            .placeholder(
                .integer(range.upperBound < FilterCatalog.sides.upperBound ? "NUMBER" : "PIXELS"))
        case .oneOf: .placeholder(.integer("DEGREES"))
        case .choice: .placeholder(.text(parameter.name.uppercased()))
        case .boolean: .value(.boolean(true))
        case .colour: .placeholder(.text("COLOUR"))
        case .image: .placeholder(.text("NAME"))
        }
    }

    /// The value of a parameter that is only added to complete the others.
    private static func completion(for parameter: FilterParameter) -> ManifestSnippet {
        if case .choice(let words) = parameter.kind { return .text(ByteString(words[0])) }
        return placeholder(for: parameter)
    }

    private static func example(of parameter: FilterParameter) -> FilterArgument {
        if let defaultValue = parameter.defaultValue { return defaultValue }
        switch parameter.kind {
        case .number(let range): return .number(max(1, range.lowerBound))
        case .integer: return .integer(100)
        case .oneOf(let numbers): return .integer(numbers[0])
        case .choice(let words): return .text(ByteString(words[0]))
        case .boolean: return .boolean(true)
        case .colour: return .text("white")
        case .image: return .text("logo")
        }
    }
}

extension FilterSpecification {
    func parameter(meantBy key: ByteString) -> FilterParameter? {
        parameter(named: key)
            ?? Suggestion.meant(by: key, among: parameters.lazy.map(\.name))
            .flatMap { parameter(named: ByteString($0)) }
    }
}

extension FilterParameter {
    fileprivate var isNumeric: Bool {
        switch kind {
        case .number, .integer, .oneOf: true
        case .choice, .boolean, .colour, .image: false
        }
    }
}
