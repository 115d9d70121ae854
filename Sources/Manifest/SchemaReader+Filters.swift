import DarkroomCore
import DarkroomPicture

extension SchemaReader {
    /// The filters of a list; of one with problems, those without.
    package mutating func filters(
        _ node: Document.Node, limit: Int, at path: DocumentPath
    ) -> FilterDrafts {
        guard
            let list = list(
                node, "‘filters’", at: path, write: .list([FilterForm.filter(meantBy: node)]))
        else { return FilterDrafts([]) }
        guard list.items.count <= limit else {
            problems.add(
                .tooManyFilters, "\(list.items.count) filters; the limit is \(limit)", at: path,
                node.place)
            return FilterDrafts([])
        }
        mentions = []
        var filters: [Filter] = []
        filters.reserveCapacity(list.items.count)
        for (index, item) in list.items.enumerated() {
            if let filter = filter(item, at: .index(path, index)) { filters.append(filter) }
        }
        return FilterDrafts(filters, mentions: mentions)
    }

    /// A filter is a name, or a map of one name to its parameters.
    private mutating func filter(_ node: Document.Node, at path: DocumentPath) -> Filter? {
        if let name = node.text {
            return filter(named: name, at: node.place, [], path: path, in: path)
        }
        guard case .map(let map) = node.value else {
            wrongType(
                node, "a filter must be a name or a map of one name", at: path,
                write: FilterForm.example)
            return nil
        }
        guard let entry = map.entries.first, map.entries.count == 1 else {
            refuseKeys(of: map, node, at: path)
            return nil
        }
        let inner = DocumentPath.key(path, entry.key)
        if entry.value.isNull {
            return filter(named: entry.key, at: entry.place, [], path: inner, in: inner)
        }
        guard case .map(let parameters) = entry.value.value else {
            guard let specification = FilterCatalog.specification(named: entry.key) else {
                return filter(named: entry.key, at: entry.place, [], path: inner, in: inner)
            }
            wrongType(
                entry.value, "the parameters of ‘\(entry.key.shortened)’ must be a map", at: inner,
                write: FilterForm.parameters(of: specification, from: entry.value))
            return nil
        }
        checkRepeatedKeys(parameters, at: inner)
        return filter(
            named: entry.key, at: entry.place, parameters.entries, path: inner, in: inner)
    }

    /// A filter that is a map of no key or of several.
    private mutating func refuseKeys(
        of map: Document.Map, _ node: Document.Node, at path: DocumentPath
    ) {
        let notation = notation
        problems.add(
            .wrongType,
            "a filter must be a map of one name to its parameters, "
                + "found \(map.entries.count) keys"
                + Self.advice(FilterForm.filter(meantBy: node), notation, at: path),
            at: path, node.place)
    }

    private mutating func filter(
        named name: ByteString, at place: Document.Place, _ entries: [Document.Entry],
        path: DocumentPath, in inner: DocumentPath
    ) -> Filter? {
        guard let specification = FilterCatalog.specification(named: name) else {
            problems.add(
                .unknownFilter, "unknown filter ‘\(name.shortened)’", at: path, place,
                suggestion: Suggestion.nearest(
                    to: name, among: FilterCatalog.all.lazy.map { ByteString($0.name) }))
            return nil
        }
        guard
            let arguments = arguments(entries, for: specification, at: place, path: inner)
        else { return nil }
        do {
            return try specification.make(FilterArguments(arguments, for: specification))
        } catch {
            let entry = error.parameter.flatMap { name in
                entries.first { $0.key == ByteString(name) }
            }
            let subject = error.parameter.map { "‘\($0)’ of ‘\(name)’" } ?? "‘\(name)’"
            problems.add(
                .invalidArguments, "\(subject) \(error.message)",
                at: entry.map { .key(inner, $0.key) } ?? path, entry?.value.place ?? place)
            return nil
        }
    }

    /// The arguments by name, each of its parameter's type and within its range; nil if any is not,
    /// or one that is required is missing.
    private mutating func arguments(
        _ entries: [Document.Entry], for specification: FilterSpecification,
        at place: Document.Place, path: DocumentPath
    ) -> [String: FilterArgument]? {
        var arguments: [String: FilterArgument] = [:]
        var isWhole = true
        for entry in entries {
            let inner = DocumentPath.key(path, entry.key)
            guard let parameter = specification.parameter(named: entry.key)
            else {
                problems.add(
                    .unknownParameter,
                    "‘\(specification.name)’ has no parameter ‘\(entry.key.shortened)’", at: inner,
                    entry.place,
                    suggestion: Suggestion.nearest(
                        to: entry.key,
                        among: specification.parameters.lazy.map { ByteString($0.name) }))
                isWhole = false
                continue
            }
            let value = argument(entry.value, for: parameter, at: inner)
            isWhole = isWhole && value != nil
            arguments[parameter.name] = value
        }
        for parameter in specification.parameters
        where parameter.isRequired
            && !entries.contains(where: { $0.key == ByteString(parameter.name) })
        {
            problems.add(
                .missingParameter, "‘\(specification.name)’ needs ‘\(parameter.name)’", at: path,
                place)
            isWhole = false
        }
        return isWhole ? arguments : nil
    }

    private mutating func argument(
        _ node: Document.Node, for parameter: FilterParameter, at path: DocumentPath
    ) -> FilterArgument? {
        let what = "‘\(parameter.name)’"
        switch parameter.kind {
        case .number(let range): return number(node, range, what, at: path)
        case .integer(let range): return integer(node, range, what, at: path)
        case .oneOf(let numbers): return integer(node, among: numbers, what, at: path)
        case .image:
            guard let name = text(node, what, at: path, write: .text("logo")) else { return nil }
            // Which image that is shows when all are known.
            mentions.append(
                ImageDraft.Reference(
                    name: name, role: .filter(path, number: mentionCount), place: node.place))
            mentionCount += 1
            return .text(name)
        case .choice(let words):
            return word(node, among: words, what, at: path).map { .text(ByteString($0)) }
        case .boolean:
            return boolean(node, what, at: path).map { .boolean($0) }
        case .colour:
            guard let text = text(node, what, at: path, write: .text("white")) else { return nil }
            if Colour(text) != nil { return .text(text) }
            problems.add(
                .unknownValue,
                "\(what) must be transparent, black, white, #rgb, #rrggbb or #rrggbbaa, "
                    + "found ‘\(text.shortened)’",
                at: path, node.place)
            return nil
        }
    }

    private mutating func number(
        _ node: Document.Node, _ range: ClosedRange<Double>, _ what: String, at path: DocumentPath
    ) -> FilterArgument? {
        let value: Double
        switch node.number {
        case .integer(let integer): value = Double(integer)
        case .number(let number): value = number
        default:
            let example = FilterForm.number(meantBy: node) ?? range.lowerBound
            wrongType(
                node, "\(what) must be a number", at: path,
                write: .value(.number(range.contains(example) ? example : range.lowerBound)))
            return nil
        }
        if range.contains(value) { return .number(value) }
        let rule = "\(range.lowerBound.briefly) to \(range.upperBound.briefly)"
        problems.add(
            .outOfRange, "\(what) must be \(rule), found \(value.briefly)", at: path, node.place)
        return nil
    }

    private mutating func integer(
        _ node: Document.Node, among numbers: [Int], _ what: String, at path: DocumentPath
    ) -> FilterArgument? {
        let rule = "\(what) must be \(numbers.map(String.init).joined(or: "or"))"
        switch node.number {
        case .integer(let value):
            if numbers.contains(value) { return .integer(value) }
            problems.add(.outOfRange, "\(rule), found \(value)", at: path, node.place)
        case .number(let value):
            if let whole = Int(exactly: value), numbers.contains(whole) { return .integer(whole) }
            problems.add(.outOfRange, "\(rule), found \(value.briefly)", at: path, node.place)
        default:
            let meant = FilterForm.number(meantBy: node).flatMap { Int(exactly: $0) }
            let example = numbers.first { $0 == meant } ?? numbers[0]
            wrongType(node, rule, at: path, write: .value(.integer(example)))
        }
        return nil
    }

    /// - Parameter example: what is shown where nobody can say which number was meant.
    mutating func integer(
        _ node: Document.Node, _ range: ClosedRange<Int>, _ what: String, at path: DocumentPath,
        example: Int? = nil
    ) -> FilterArgument? {
        let rule = "\(what) must be an integer of \(range.lowerBound) to \(range.upperBound)"
        switch node.number {
        case .integer(let value):
            if range.contains(value) { return .integer(value) }
            problems.add(.outOfRange, "\(rule), found \(value)", at: path, node.place)
        case .number(let value):
            // 800.0 is how some programs write 800.
            if let whole = Int(exactly: value), range.contains(whole) { return .integer(whole) }
            problems.add(.outOfRange, "\(rule), found \(value.briefly)", at: path, node.place)
        default:
            let meant = FilterForm.number(meantBy: node).flatMap { Int(exactly: $0) }
            let shown = meant.flatMap { range.contains($0) ? $0 : nil } ?? example
            wrongType(
                node, rule, at: path, write: .value(.integer(shown ?? max(1, range.lowerBound))))
        }
        return nil
    }
}
