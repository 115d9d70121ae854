import DarkroomCore
import DarkroomPicture

/// The correct form of filters, made from an incorrect one. It keeps the values; a placeholder replaces a value that
/// cannot be kept.
enum FilterCorrection {
    static let example: ManifestSnippet = .placeholder(.text("FILTER"))
    /// The maximum length of a text, and the maximum number of entries, that this code analyses.
    private static let longest = 400
    private static let mostEntries = 64

    /// The filters that a value means which is not a list: `mono, sepia`, or a map of several; nil if this is not
    /// clear.
    static func filters(meantBy node: Document.Node) -> [ManifestSnippet]? {
        if let text = node.text { return filters(in: text) }
        guard case .map(let map) = node.value else { return nil }
        return filters(in: map)
    }

    /// `sepia, mono`, `sepia mono` or `sepia 0.8`.
    private static func filters(in text: ByteString) -> [ManifestSnippet]? {
        guard text.utf8.count <= longest else { return nil }
        var forms: [ManifestSnippet] = []
        for piece in text.utf8.split(whereSeparator: { ",;|+>\n".utf8.contains($0) }) {
            let isGap: (UInt8) -> Bool = { " :=()".utf8.contains($0) }
            let words = piece.split(whereSeparator: isGap)
            guard let first = words.first,
                let specification = specification(meantBy: ByteString(decoding: first))
            else { return nil }
            let others = words.dropFirst().map {
                Self.specification(meantBy: ByteString(decoding: $0))
            }
            if others.contains(where: { $0 == nil }) {
                let rest = words.dropFirst().map { String(decoding: $0, as: UTF8.self) }
                let value = Document.Node(
                    .plain(ByteString(rest.joined(separator: " "))), at: .none)
                forms.append(form(of: specification, from: value))
            } else {
                forms.append(form(of: specification))
                forms += others.compactMap { $0 }.map { form(of: $0) }
            }
        }
        return forms.isEmpty ? nil : forms
    }

    private struct Part {
        let specification: FilterSpecification
        let value: Document.Node
        /// Parameters beside the name.
        var beside: [Document.Entry] = []
    }

    private static func filters(in map: Document.Map) -> [ManifestSnippet]? {
        guard map.entries.count <= mostEntries else { return nil }
        if let form = named(map) { return [form] }
        var parts: [Part] = []
        for entry in map.entries {
            // The usual reason for several keys: the parameters are not indented further than the name.
            let last = parts.indices.last
            let isBeside = last.map {
                parts[$0].value.isNull
                    && parts[$0].specification.parameter(named: entry.key) != nil
            }
            if let last, isBeside == true {
                parts[last].beside.append(entry)
            } else if let specification = FilterCatalog.specification(named: entry.key) {
                parts.append(Part(specification: specification, value: entry.value))
            } else if let last, parts[last].specification.parameter(meantBy: entry.key) != nil {
                parts[last].beside.append(entry)
            } else if let specification = specification(meantBy: entry.key) {
                parts.append(Part(specification: specification, value: entry.value))
            } else {
                return nil
            }
        }
        if parts.isEmpty { return nil }
        return parts.map { part in
            if part.beside.isEmpty { return form(of: part.specification, from: part.value) }
            var entries = part.beside
            if case .map(let map) = part.value.value { entries = map.entries + entries }
            return form(of: part.specification, entries)
        }
    }

    /// `{name: sepia, intensity: 0.8}`, as in other programs.
    static func named(_ map: Document.Map) -> ManifestSnippet? {
        guard map.entries.count <= mostEntries,
            let name = map.entries.first(where: { nameKeys.contains($0.key) }),
            let text = name.value.text, let specification = specification(meantBy: text)
        else { return nil }
        var entries: [Document.Entry] = []
        for entry in map.entries where entry.key != name.key {
            if specification.parameter(named: entry.key) == nil,
                case .map(let inner) = entry.value.value
            {
                entries += inner.entries
            } else {
                entries.append(entry)
            }
        }
        return form(of: specification, entries)
    }

    private static let nameKeys: [ByteString] = [
        "name", "filter", "type", "kind", "effect", "operation",
    ]

    private static func specification(meantBy name: ByteString) -> FilterSpecification? {
        if let exact = FilterCatalog.specification(named: name) { return exact }
        return Suggestion.meant(by: name, among: FilterCatalog.all.lazy.map(\.name))
            .flatMap { FilterCatalog.specification(named: ByteString($0)) }
    }

    /// The name, or a map from it to parameters.
    private static func form(
        of specification: FilterSpecification, _ entries: [Document.Entry] = []
    ) -> ManifestSnippet {
        filter(specification, parameters(of: specification, entries))
    }

    private static func form(
        of specification: FilterSpecification, from node: Document.Node
    ) -> ManifestSnippet {
        node.isNull
            ? form(of: specification)
            : filter(specification, parameters(of: specification, from: node))
    }

    private static func filter(
        _ specification: FilterSpecification, _ parameters: ManifestSnippet
    ) -> ManifestSnippet {
        if case .map(let entries) = parameters, entries.isEmpty {
            return .text(ByteString(specification.name))
        }
        return .map(specification.name, parameters)
    }
}
