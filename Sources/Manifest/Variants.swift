import DarkroomCore
import DarkroomPicture

/// One of several pictures that are made of an image: `variants` of a manifest, an image or a recipe.
///
/// An image with variants is not an image of the manifest itself. Each variant is one: it has its own name, state,
/// output and error. Its filters are those of the image, followed by its own. So it is what a separate image with these
/// filters would be, and has the same bytes. `Manifest.Image.variant` says which images belong together; the source of
/// these is read and decoded once, see `PictureVariants`.
package struct VariantDraft: Sendable, Equatable {
    /// Where its name comes from.
    package enum Naming: Sendable, Equatable {
        /// It is appended to the name of the image.
        case suffix(ByteString)
        case name(ByteString)
    }

    package let naming: Naming
    /// nil if it has no `filters`.
    package let filters: FilterDrafts?
    /// nil if it has no `output`.
    package let output: OutputChanges?
    /// The place of `suffix` or `name`.
    package let place: Document.Place

    static let keys: [ByteString] = ["suffix", "name", "filters", "output"]

    /// The maximum number in a list. Each has a thread while the picture is processed.
    package static let most = 32
}

extension Manifest.Image {
    /// The place of an image among the variants of one image. They follow each other in the manifest.
    package struct Variant: Sendable, Equatable {
        /// The index of the first of them.
        package var first: Int
        package let count: Int
        /// How many of the filters at the beginning are those of the image, and so the same for each of them.
        package let commonFilters: Int

        package var indices: Range<Int> { first..<first + count }
    }
}

extension ImageDraft {
    /// The variants of the image as images of their own, or the image if it has none. One that is not published is only
    /// there for other images, so the variants of the manifest do not concern it. The filters of the configuration are
    /// for a variant without any, as they are for an image without any.
    func expanded(at index: Int, _ joined: inout JoinedFilters) -> [ImageDraft] {
        let variants = settings.variants
        guard isPublished, !variants.isEmpty else { return [self] }
        return variants.enumerated().map { number, variant in
            var image = self
            image.givenName = name
            switch variant.naming {
            case .name(let name): image.name = name
            case .suffix(let suffix):
                image.variantSuffix = suffix
                if name.isEmpty {
                    image.suffix = "\(image.suffix)\(suffix)"
                } else {
                    image.name = ImageName.adding(suffix, to: name)
                }
            }
            if variantsAreOwn { image.namePlace = variant.place }
            image.settings.filters =
                settings.hasDefaultFilters
                ? variant.filters ?? settings.filters
                : joined.filters(
                    settings.filters, variant.filters ?? FilterDrafts(filters: []), number: number)
            if let output = variant.output {
                image.settings.output = output.applied(to: settings.output)
            }
            image.variant = Manifest.Image.Variant(
                first: index, count: variants.count,
                commonFilters: settings.hasDefaultFilters ? 0 : settings.filters.filters.count)
            return image
        }
    }
}

/// The filters of images followed by those of their variants. Images that share both share the result too, because a
/// manifest may have a million of them.
struct JoinedFilters {
    private var known: [Int: (common: FilterDrafts, own: FilterDrafts, both: FilterDrafts)] = [:]

    mutating func filters(
        _ common: FilterDrafts, _ own: FilterDrafts, number: Int
    ) -> FilterDrafts {
        if own.filters.isEmpty { return common }
        if common.filters.isEmpty { return own }
        if let known = known[number], known.common.isSame(as: common), known.own.isSame(as: own) {
            return known.both
        }
        let both = FilterDrafts(
            filters: common.filters + own.filters, mentions: common.mentions + own.mentions)
        known[number] = (common, own, both)
        return both
    }
}

extension FilterDrafts {
    /// Whether it has the same memory.
    fileprivate func isSame(as other: FilterDrafts) -> Bool {
        filters.withUnsafeBufferPointer { mine in
            other.filters.withUnsafeBufferPointer { $0.baseAddress == mine.baseAddress }
        }
    }
}

extension ValueReader {
    /// Who has the list: what its filters may refer to, and what its outputs change.
    struct VariantsContext {
        var output = OutputOptions()
        let limit: Int
        let recipes: RecipeBook
        /// Whether it is in a recipe, so that filters cannot name an image.
        var isRecipe = false
    }

    private static let variantForm = ManifestSnippet.map([
        ManifestSnippet.Entry(key: "suffix", value: .text("-800")),
        ManifestSnippet.Entry(key: "filters", value: .map("resize", .value(.integer(800)))),
    ])

    /// The variants of a list; nil if it has a problem.
    mutating func variants(
        _ node: Document.Node, _ context: VariantsContext, at path: DocumentPath
    ) -> [VariantDraft]? {
        guard let list = list(node, "‘variants’", at: path, write: .list([Self.variantForm])) else {
            return nil
        }
        guard !list.items.isEmpty else {
            problems.add(.noImages, "an empty list of variants; leave it out", at: path, node.place)
            return nil
        }
        guard list.items.count <= VariantDraft.most else {
            problems.add(
                .tooManyImages,
                "\(list.items.count) variants of an image; the limit is \(VariantDraft.most)",
                at: path, node.place)
            return nil
        }
        var variants: [VariantDraft] = []
        for (index, item) in list.items.enumerated() {
            let inner = DocumentPath.index(path, index)
            guard let variant = variant(item, context, at: inner) else { continue }
            if variants.contains(where: { $0.naming == variant.naming }) {
                let (word, text) = variant.naming.words
                problems.add(
                    .duplicateName, "the \(word) ‘\(text.shortened)’ is given to two variants",
                    at: inner, variant.place)
            }
            variants.append(variant)
        }
        return variants.count == list.items.count ? variants : nil
    }

    private mutating func variant(
        _ node: Document.Node, _ context: VariantsContext, at path: DocumentPath
    ) -> VariantDraft? {
        if case .map(let map) = node.value, let nested = map["variants"] {
            problems.add(
                .unknownKey,
                "a variant has no ‘variants’ of its own; list all of them side by side",
                at: .key(path, "variants"), nested.place)
            return nil
        }
        guard
            let map = map(
                node, keys: VariantDraft.keys, of: "a variant", at: path, write: Self.variantForm)
        else { return nil }
        let naming = naming(map, node, at: path)
        var filters: FilterDrafts?
        if let list = map["filters"] {
            let inner = DocumentPath.key(path, "filters")
            if context.isRecipe {
                filters = FilterDrafts(
                    filters: filtersWithoutImages(list, limit: context.limit, at: inner))
            } else {
                refuseFilters(list, at: inner, context.recipes)
                filters = self.filters(list, limit: context.limit, at: inner)
            }
        }
        let output = map["output"].map {
            outputChanges($0, over: context.output, at: .key(path, "output"))
        }
        guard let (naming, place) = naming else { return nil }
        return VariantDraft(naming: naming, filters: filters, output: output, place: place)
    }

    private mutating func naming(
        _ map: Document.Map, _ node: Document.Node, at path: DocumentPath
    ) -> (VariantDraft.Naming, Document.Place)? {
        switch (map["suffix"], map["name"]) {
        case (nil, nil):
            problems.add(
                .missingKey,
                "a variant needs a ‘suffix’ for the name of the image, or a ‘name’ of its own",
                at: path, node.place)
            return nil
        case (_?, let name?):
            problems.add(
                .conflictingKeys, "‘suffix’ and ‘name’ exclude each other", at: .key(path, "name"),
                name.place)
            return nil
        case (nil, let name?):
            let inner = DocumentPath.key(path, "name")
            guard let text = text(name, "‘name’", at: inner, write: .text("photo")) else {
                return nil
            }
            if let fault = ImageName.fault(of: text) {
                problems.add(
                    .badName, "the name ‘\(text.shortened)’ \(fault)", at: inner, name.place)
                return nil
            }
            return (.name(text), name.place)
        case (let suffix?, nil):
            let inner = DocumentPath.key(path, "suffix")
            // JSON and property lists have numbers that are not text.
            var number: ByteString?
            if case .integer(let value) = suffix.value { number = "\(value)" }
            guard let text = number ?? text(suffix, "‘suffix’", at: inner, write: .text("-800"))
            else { return nil }
            if let fault = ImageName.fault(ofSuffix: text) {
                problems.add(
                    .badName, "the suffix ‘\(text.shortened)’ \(fault)", at: inner, suffix.place)
                return nil
            }
            return (.suffix(text), suffix.place)
        }
    }
}

extension VariantDraft.Naming {
    fileprivate var words: (word: String, text: ByteString) {
        switch self {
        case .suffix(let text): ("suffix", text)
        case .name(let text): ("name", text)
        }
    }
}

extension ImageName {
    /// The problem of a suffix, as the end of a sentence that begins with it; nil for a valid one. An empty suffix keeps
    /// the name.
    static func fault(ofSuffix suffix: ByteString) -> String? {
        if suffix.isEmpty { return nil }
        guard suffix.utf8.count < maximumBytes else {
            return "has \(suffix.utf8.count) bytes; the limit of a name is \(maximumBytes)"
        }
        // Whatever it begins with, it is not the beginning of a name.
        return fault(of: "x\(suffix)")
    }

    /// A name with a suffix, which precedes the extension of a picture.
    static func adding(_ suffix: ByteString, to name: ByteString) -> ByteString {
        let ending = ending(of: name)
        guard !suffix.isEmpty, name.utf8.count > ending.utf8.count else {
            return "\(name)\(suffix)"
        }
        return "\(name.string.dropLast(utf8: ending.utf8.count))\(suffix)\(ending)"
    }

    /// The extension of a picture as the name has it; empty without one.
    static func ending(of name: ByteString) -> ByteString {
        let known = OutputFormat.allCases.flatMap(\.endings).first(where: name.string.hasEnding)
        return ByteString(name.utf8.suffix(known?.utf8.count ?? 0))
    }
}
