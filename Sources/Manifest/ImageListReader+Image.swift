import DarkroomCore
import DarkroomPicture

extension ImageListReader {
    static let keys: [ByteString] = ["name"] + keysBesideName
    static let keysBesideName: [ByteString] = [
        "source", "page", "pages", "from", "after", "recipe", "filters", "autoOrient", "damaged",
        "strict",
        "output", "variants", "publish",
    ]

    /// Reads everything but the name.
    mutating func read(
        _ map: Document.Map, into draft: inout ImageDraft, _ reader: inout ValueReader
    ) {
        let path = draft.path
        let source = map["source"]
        let from = map["from"]
        if source == nil, from == nil {
            reader.problems.add(
                .missingKey, "an image needs a ‘source’ or a ‘from’", at: path, draft.place)
        } else if source != nil, let from {
            reader.problems.add(
                .conflictingKeys, "‘from’ and ‘source’ exclude each other", at: .key(path, "from"),
                from.place)
        }
        if let source {
            let inner = DocumentPath.key(path, "source")
            draft.source = reader.text(source, "‘source’", at: inner, write: .source)
                .flatMap { Self.source($0, source, at: inner, &reader) }
        }
        if let page = map["page"] {
            draft.page = Self.page(page, isOfSource: from == nil, at: .key(path, "page"), &reader)
        }
        if let from {
            draft.from = reader.text(
                from, "‘from’", at: .key(path, "from"), write: Self.textForm(from, "photo")
            )
            .map { ImageDraft.Reference(name: $0, role: .from, place: from.place) }
        }
        if let after = map["after"] {
            draft.after = Self.after(after, at: .key(path, "after"), &reader)
        }
        if let node = map["recipe"],
            let recipe = reader.recipe(node, at: .key(path, "recipe"), of: recipes)
        {
            draft.settings = draft.settings.applying(recipe)
        }
        readPages(map, into: &draft, &reader)
        if let list = map["filters"] {
            reader.refuseFilters(list, at: .key(path, "filters"), recipes)
            draft.settings.filters = filters(list, at: .key(path, "filters"), &reader)
        }
        draft.settings.readRules(map, at: path, &reader)
        draft.isPublished = reader.boolean(in: map, "publish", at: path) ?? true
        if let node = map["variants"] {
            let inner = DocumentPath.key(path, "variants")
            if !draft.isPublished {
                reader.problems.add(
                    .conflictingKeys, "an image with ‘publish: false’ has no variants", at: inner,
                    node.place)
            }
            draft.settings.variants = variants(node, of: draft, at: inner, &reader)
            draft.variantsAreOwn = true
        }
    }

    /// Reads `pages` after a recipe, which may have it too.
    private func readPages(
        _ map: Document.Map, into draft: inout ImageDraft, _ reader: inout ValueReader
    ) {
        guard let node = map["pages"] else { return }
        let path = DocumentPath.key(draft.path, "pages")
        draft.pagesPlace = node.place
        if let rule = reader.pageRule(node, at: path, isOfImage: true) {
            draft.settings.pages = rule
        }
        if map["from"] != nil {
            reader.problems.add(
                .conflictingKeys, "‘pages’ is of a ‘source’; an image with ‘from’ has one page",
                at: path, node.place)
        } else if map["page"] != nil {
            reader.problems.add(
                .conflictingKeys, "‘page’ and ‘pages’ exclude each other", at: path, node.place)
        }
    }

    private static let page = FilterParameter.integer("page", 1...TIFFPages.most, required: false)

    private static func page(
        _ node: Document.Node, isOfSource: Bool, at path: DocumentPath, _ reader: inout ValueReader
    ) -> Int? {
        guard isOfSource else {
            reader.problems.add(
                .conflictingKeys, "‘page’ is of a ‘source’; an image with ‘from’ has one page",
                at: path, node.place)
            return nil
        }
        return reader.integer(node, 1...TIFFPages.most, Self.page, at: path)
    }

    private mutating func variants(
        _ node: Document.Node, of draft: ImageDraft, at path: DocumentPath,
        _ reader: inout ValueReader
    ) -> [VariantDraft] {
        let context = ValueReader.VariantsContext(
            output: draft.settings.output, limit: limits.filters, recipes: recipes)
        guard case .list(let list) = node.value else {
            return reader.variants(node, context, at: path) ?? []
        }
        if let known = variantLists[ObjectIdentifier(list)], known.output == context.output {
            return known.read ?? []
        }
        let read = reader.variants(node, context, at: path)
        variantLists[ObjectIdentifier(list)] = (context.output, read)
        return read ?? []
    }

    private mutating func filters(
        _ node: Document.Node, at path: DocumentPath, _ reader: inout ValueReader
    ) -> FilterDrafts {
        let identity: ObjectIdentifier
        switch node.value {
        case .list(let list): identity = ObjectIdentifier(list)
        case .map(let map): identity = ObjectIdentifier(map)
        default: return reader.filters(node, limit: limits.filters, at: path)
        }
        if let known = filterLists[identity] { return known }
        let filters = reader.filters(node, limit: limits.filters, at: path)
        filterLists[identity] = filters
        return filters
    }

    private static func after(
        _ node: Document.Node, at path: DocumentPath, _ reader: inout ValueReader
    ) -> [ImageDraft.Reference] {
        let form = ManifestSnippet.value(of: node) ?? .text("photo")
        guard let list = reader.list(node, "‘after’", at: path, write: .list([form])) else {
            return []
        }
        return list.items.enumerated().compactMap { index, item in
            reader.text(
                item, "a name in ‘after’", at: .index(path, index), write: textForm(item, "photo")
            ).map { ImageDraft.Reference(name: $0, role: .after(index), place: item.place) }
        }
    }

    /// A number or a word as text; the example for any other value.
    static func textForm(_ node: Document.Node, _ example: ByteString) -> ManifestSnippet {
        switch node.value {
        case .integer(let value): .text("\(value)")
        case .boolean(let value): .text("\(value)")
        default: .text(example)
        }
    }
}
