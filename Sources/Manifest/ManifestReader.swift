import DarkroomCore
import DarkroomPicture

/// Creates a manifest from the bytes of its file, or lists all its problems.
///
/// darkroom-manifest(5) and `etc/manifest.schema.json` describe the schema. All work is linear in the bytes, the images
/// and their references, and nothing recurses deeper than `Document.maximumHeight`.
package enum ManifestReader {
    /// Reads a manifest. Images without filters get those of the manifest or, if it has none, `defaultFilters`.
    ///
    /// - Parameter stop: checked from time to time. When it is set, this ends soon with any error, which the caller
    ///   ignores.
    package static func read(
        _ bytes: [UInt8], format: ManifestFormat, limits: ManifestLimits = ManifestLimits(),
        defaultFilters: [Filter], recipes: RecipeBook = RecipeBook(),
        finder: SourceFinder = .none, stop: CancellationFlag? = nil
    ) throws(ManifestRejection) -> Manifest {
        guard bytes.count <= limits.bytes else {
            throw ManifestRejection(problems: [
                ManifestProblem(
                    .tooLarge,
                    "\(Units.bytes(bytes.count)); the limit is \(Units.bytes(limits.bytes))",
                    place: .none)
            ])
        }
        let defaults = Defaults(filters: defaultFilters, recipes: recipes, finder: finder)
        var draft = try draft(bytes, format, limits, defaults, stop)
        let manifest = try draft.manifest(stop)
        FaultPoint.manifestRead.pass()
        return manifest
    }

    /// Creates a manifest from a document that is read already, whatever its size is.
    static func read(
        _ root: Document.Node, format: ManifestFormat, limits: ManifestLimits,
        recipes: RecipeBook, finder: SourceFinder
    ) throws(ManifestRejection) -> Manifest {
        var reader = ValueReader(notation: format)
        let defaults = Defaults(filters: [], recipes: recipes, finder: finder)
        var draft = draft(root, format, limits, defaults, &reader)
        return try draft.manifest(nil)
    }

    /// The sources of the images of a manifest, as they are written; none if it is no document. Those that an alias
    /// repeats have the place of the first.
    package static func sources(
        in bytes: [UInt8], _ format: ManifestFormat, limits: ManifestLimits
    ) -> [WrittenSource] {
        guard let root = try? format.read(bytes, NodeBudget(images: limits.images)) else {
            return []
        }
        let defaults = Defaults(filters: [], recipes: RecipeBook(), finder: .none)
        var reader = ValueReader(notation: format)
        reader.writtenSources = []
        _ = draft(root, format, limits, defaults, &reader)
        return reader.writtenSources ?? []
    }

    /// What a manifest gets besides what it says itself.
    private struct Defaults {
        let filters: [Filter]
        let recipes: RecipeBook
        let finder: SourceFinder
    }

    /// A manifest whose references between images are not resolved yet.
    fileprivate struct Draft {
        var images: [ImageDraft] = []
        /// All but its images.
        var rest = Manifest(images: [])
        var problems: ProblemList
        let format: ManifestFormat
    }

    /// The document is released here, before names are resolved, because it takes several times the memory of the file.
    private static func draft(
        _ bytes: [UInt8], _ format: ManifestFormat, _ limits: ManifestLimits,
        _ defaults: Defaults, _ stop: CancellationFlag?
    ) throws(ManifestRejection) -> Draft {
        let root = try format.document(bytes, NodeBudget(images: limits.images, stop: stop))
        var reader = ValueReader(notation: format, stop: stop)
        return draft(root, format, limits, defaults, &reader)
    }

    static let keys: [ByteString] = [
        "images", "recipe", "filters", "autoOrient", "damaged", "strict", "pages", "output",
        "variants",
        "priority", "qualityOfService", "page", "deliver",
    ]

    private static func draft(
        _ root: Document.Node, _ format: ManifestFormat, _ limits: ManifestLimits,
        _ defaults: Defaults, _ reader: inout ValueReader
    ) -> Draft {
        let isPropertyList = format == .plist
        if isPropertyList, case .map(let map) = root.value, isPlainDictionary(map) {
            var images = ImageListReader(
                limits: limits, recipes: defaults.recipes, finder: defaults.finder,
                defaultValue: ImageSettings(
                    filters: FilterDrafts(filters: defaults.filters, isDefault: true)))
            images.read(root, at: .root, sorted: true, with: &reader)
            return Draft(images: images.drafts, problems: reader.problems, format: format)
        }
        guard
            let map = reader.map(
                root, keys: keys, of: "a manifest", at: .root,
                write: .map("images", .list([.source])))
        else { return Draft(problems: reader.problems, format: format) }
        if case .list? = map["images"]?.value { reader.listsImages = true }
        let recipe = map["recipe"].flatMap {
            reader.recipe($0, at: .key(.root, "recipe"), of: defaults.recipes)
        }
        let settings = settings(in: map, recipe, &reader, limits, defaults)
        let priority: Priority? = reader.word(in: map, "priority", at: .root)
        let qualityOfService: QualityOfServiceName? = reader.word(
            in: map, "qualityOfService", at: .root)
        let wantsPage = reader.boolean(in: map, "page", at: .root)
        var images = ImageListReader(
            limits: limits, recipes: defaults.recipes, finder: defaults.finder,
            defaultValue: settings)
        if let node = map["images"] {
            images.read(node, at: .key(.root, "images"), sorted: isPropertyList, with: &reader)
        } else {
            reader.problems.add(.missingKey, "a manifest needs ‘images’", at: .root, root.place)
        }
        if let words = refusedRecipe(of: images.drafts, limits) {
            reader.problems.add(.deliveryNotAllowed, words, at: .root, root.place)
        }
        let rest = Manifest(
            images: [], priority: priority ?? recipe?.priority ?? .normal,
            qualityOfService: qualityOfService ?? .default,
            wantsPage: wantsPage ?? recipe?.wantsPage,
            recipes: reader.usedRecipes.values.sorted { $0.name < $1.name },
            found: images.sources.record, unknownSources: images.sources.unknown,
            uncountedSources: images.sources.uncounted, urlsWithOnePage: images.urlsWithOnePage)
        return Draft(images: images.drafts, rest: rest, problems: reader.problems, format: format)
    }

    /// Why an image must not be delivered where its recipe says; nil if each may.
    private static func refusedRecipe(
        of images: [ImageDraft], _ limits: ManifestLimits
    ) -> String? {
        guard let rules = limits.delivery else { return nil }
        var permitted: Delivery?
        for delivery in images.lazy.compactMap(\.settings.delivery)
        where delivery.isOfRecipe && delivery !== permitted {
            if let words = rules.problem(with: delivery, of: limits.owner) {
                return "the recipe has ‘deliver’, but \(words)"
            }
            // Most images share it.
            permitted = delivery
        }
        return nil
    }

    private static func settings(
        in map: Document.Map, _ recipe: Recipe?, _ reader: inout ValueReader,
        _ limits: ManifestLimits, _ defaults: Defaults
    ) -> ImageSettings {
        var settings = ImageSettings(
            filters: FilterDrafts(filters: defaults.filters, isDefault: true))
        settings.output.profile = limits.profile
        if let recipe { settings = settings.applying(recipe) }
        if let filters = map["filters"] {
            reader.refuseFilters(filters, at: .key(.root, "filters"), defaults.recipes)
            settings.filters = reader.filters(
                filters, limit: limits.filters, at: .key(.root, "filters"))
        }
        settings.readRules(map, at: .root, &reader)
        if let pages = map["pages"] {
            settings.pages =
                reader.pageRule(pages, at: .key(.root, "pages"), isOfImage: false)
                ?? settings.pages
        }
        if let node = map["deliver"] {
            let path = DocumentPath.key(.root, "deliver")
            settings.delivery = reader.delivery(node, at: path)
            if let delivery = settings.delivery,
                let words = limits.delivery?.problem(with: delivery, of: limits.owner)
            {
                reader.problems.add(.deliveryNotAllowed, words, at: path, node.place)
            }
        }
        if let variants = map["variants"] {
            let context = ValueReader.VariantsContext(
                output: settings.output, limit: limits.filters, recipes: defaults.recipes)
            settings.variants =
                reader.variants(variants, context, at: .key(.root, "variants")) ?? []
        }
        return settings
    }

    /// Whether a property list is only a dictionary from names to URLs, as in the tutorials on operations, and not a
    /// manifest whose `images` is missing or misspelt.
    private static func isPlainDictionary(_ map: Document.Map) -> Bool {
        map["images"] == nil
            && (map.entries.isEmpty
                || map.entries.contains { $0.value.text != nil && !keys.contains($0.key) })
    }
}

extension ManifestReader.Draft {
    fileprivate mutating func manifest(
        _ stop: CancellationFlag?
    ) throws(ManifestRejection) -> Manifest {
        // Each of these takes a fraction of the time of the images.
        func goOn() throws(ManifestRejection) {
            if stop?.isSet == true { throw ManifestRejection(problems: [.interrupted]) }
        }
        try goOn()
        if InheritedFormats.areIn(images) { InheritedFormats.decide(of: &images, &problems) }
        var names = NameTable(naming: &images, problems: &problems)
        if OutputNaming.isNeeded(images) { OutputNaming.decide(of: &images, &problems) }
        try goOn()
        let dependencies = Dependencies(
            of: images, in: format, names: &names,
            isComplete: !rest.hasUnknownSources, problems: &problems)
        try problems.throwIfAny()
        try goOn()
        var variantOf: ByteString?
        var manifest = rest
        manifest.images = images.enumerated().map { index, draft in
            if draft.variant?.first ?? index == index { variantOf = draft.variantsName }
            return draft.image(at: index, dependencies, variantOf: variantOf)
        }
        manifest.usesDefaultFilters = images.contains { $0.settings.filters.isDefault }
        return manifest
    }
}
