import DarkroomCore
import DarkroomPicture

extension ValueReader {
    /// The filters of a list, or a single filter without a list; filters with problems are left out.
    package mutating func filters(
        _ node: Document.Node, limit: Int, at path: DocumentPath
    ) -> FilterDrafts {
        mentions = []
        if Self.isFilter(node) {
            let filter = filter(node, at: path)
            return FilterDrafts(filters: filter.map { [$0] } ?? [], mentions: mentions)
        }
        guard case .list(let list) = node.value else {
            let advice = filterAdvice(at: path) {
                .list(FilterCorrection.filters(meantBy: node) ?? [FilterCorrection.example])
            }
            problems.add(
                .wrongType,
                "‘filters’ must be a list, found \(node.words)\(advice(node))", at: path, node.place
            )
            return FilterDrafts(filters: [])
        }
        guard list.items.count <= limit else {
            problems.add(
                .tooManyFilters, "\(list.items.count) filters; the limit is \(limit)", at: path,
                node.place)
            return FilterDrafts(filters: [])
        }
        var filters: [Filter] = []
        filters.reserveCapacity(list.items.count)
        for (index, item) in list.items.enumerated() {
            if let filter = filter(item, at: .index(path, index)) { filters.append(filter) }
        }
        return FilterDrafts(filters: filters, mentions: mentions)
    }

    /// A filter is a name, or a map of one name to its parameters.
    private mutating func filter(_ node: Document.Node, at path: DocumentPath) -> Filter? {
        if let name = node.text {
            return filter(named: name, at: node.place, [], path: path, in: path)
        }
        guard case .map(let map) = node.value else {
            wrongType(
                node, "a filter must be a name or a map of one name", at: path,
                write: FilterCorrection.example)
            return nil
        }
        guard let entry = map.entries.first, map.entries.count == 1 else {
            refuseKeys(of: map, node, at: path)
            return nil
        }
        if FilterCatalog.specification(named: entry.key) == nil, FilterCorrection.named(map) != nil
        {
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
            if let entries = Self.shortForm(entry.value, of: specification) {
                return filter(
                    named: entry.key, at: entry.place, entries, path: inner, in: inner,
                    isShort: true)
            }
            let advice = filterAdvice(at: inner) {
                FilterCorrection.parameters(of: specification, from: entry.value)
            }
            problems.add(
                .wrongType,
                "the parameters of ‘\(entry.key.shortened)’ must be a map, "
                    + "found \(entry.value.words)\(advice(entry.value))",
                at: inner, entry.value.place)
            return nil
        }
        checkRepeatedKeys(parameters, at: inner)
        return filter(named: entry.key, at: entry.place, parameters.entries, path: inner, in: inner)
    }

    /// The correction for a node, including one for an image that is named by its source.
    private func filterAdvice(
        at path: DocumentPath, _ form: @escaping () -> ManifestSnippet
    ) -> (Document.Node) -> String {
        { [notation, listsImages] node in
            Self.advice(form(), notation, at: path)
                + (OverlaySource.first(in: node).map {
                    OverlaySource.advice($0, notation, isListed: listsImages)
                } ?? "")
        }
    }

    /// Adds the problem of a map with no key or several keys, or of a map whose key means that its value is the name.
    private mutating func refuseKeys(
        of map: Document.Map, _ node: Document.Node, at path: DocumentPath
    ) {
        let (notation, listsImages) = (notation, listsImages)
        func advice() -> String {
            let forms = FilterCorrection.filters(meantBy: node) ?? [FilterCorrection.example]
            let source = OverlaySource.first(in: node).map {
                OverlaySource.advice($0, notation, isListed: listsImages)
            }
            if forms.count == 1 {
                return Self.advice(forms[0], notation, at: path) + (source ?? "")
            }
            let items = forms.map { "‘\($0.written(in: notation))’" }
            return "; write an item for each: " + items.joined(separator: ", ") + (source ?? "")
        }
        let count = map.entries.count
        let found = count == 1 ? "the key ‘\(map.entries[0].key.shortened)’" : "\(count) keys"
        problems.add(
            .wrongType,
            "a filter must be a map of one name to its parameters, found \(found)\(advice())",
            at: path, node.place)
    }

    /// - Parameter isShort: whether the parameters are a value without a name, so that the path of their problems is
    ///   that of the filter.
    private mutating func filter(
        named name: ByteString, at place: Document.Place, _ entries: [Document.Entry],
        path: DocumentPath, in inner: DocumentPath, isShort: Bool = false
    ) -> Filter? {
        guard let specification = FilterCatalog.specification(named: name) else {
            let notation = notation
            func meant() -> String? {
                Suggestion.meant(by: name, among: FilterCatalog.all.lazy.map(\.name))
            }
            // ‘sepia 0.8’
            func advice() -> String {
                guard meant() == nil,
                    let forms = FilterCorrection.filters(
                        meantBy: Document.Node(.text(name), at: place))
                else { return "" }
                return "; write "
                    + forms.map { "‘\($0.written(in: notation))’" }.joined(separator: ", ")
            }
            problems.add(
                .unknownFilter, "unknown filter ‘\(name.shortened)’\(advice())", at: path, place,
                suggestion: meant())
            return nil
        }
        guard
            let arguments = arguments(
                entries, for: specification, at: place, path: inner, isShort: isShort)
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
                at: entry.map { isShort ? path : .key(inner, $0.key) } ?? path,
                entry?.value.place ?? place)
            return nil
        }
    }

    /// The arguments by name, each with the type and within the range of its parameter; nil if one is invalid or if a
    /// required one is missing.
    private mutating func arguments(
        _ entries: [Document.Entry], for specification: FilterSpecification,
        at place: Document.Place, path: DocumentPath, isShort: Bool
    ) -> [String: FilterArgument]? {
        var arguments: [String: FilterArgument] = [:]
        var isWhole = true
        for entry in entries {
            let inner = isShort ? path : DocumentPath.key(path, entry.key)
            guard let parameter = specification.parameter(named: entry.key)
            else {
                problems.add(
                    .unknownParameter,
                    "‘\(specification.name)’ has no parameter ‘\(entry.key.shortened)’", at: inner,
                    entry.place,
                    suggestion: Suggestion.meant(
                        by: entry.key, among: specification.parameters.lazy.map(\.name)))
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
        case .number(let range): return number(node, range, parameter, at: path)
        case .integer(let range):
            return integer(node, range, parameter, at: path).map { .integer($0) }
        case .oneOf(let numbers):
            return integer(node, among: numbers, parameter, at: path).map { .integer($0) }
        case .image:
            guard
                let name = text(
                    node, what, at: path,
                    write: FilterCorrection.value(for: .image, node)
                        ?? FilterCorrection.placeholder(for: parameter))
            else { return nil }
            // The image is resolved when all images are known.
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
            return colour(node, parameter, at: path)
        }
    }

    private mutating func colour(
        _ node: Document.Node, _ parameter: FilterParameter, at path: DocumentPath
    ) -> FilterArgument? {
        let what = "‘\(parameter.name)’"
        func form() -> ManifestSnippet? { FilterCorrection.value(for: .colour, node) }
        guard let text = node.text else {
            wrongType(
                node, "\(what) must be text", at: path, isRequired: false,
                write: form() ?? FilterCorrection.placeholder(for: parameter))
            return nil
        }
        if Colour(text) != nil { return .text(text) }
        let notation = notation
        problems.add(
            .unknownValue,
            "\(what) must be transparent, black, white, #rgb, #rrggbb or #rrggbbaa, "
                + "found ‘\(text.shortened)’"
                + (form().map { Self.advice($0, notation, at: path) } ?? ""),
            at: path, node.place)
        return nil
    }
}
