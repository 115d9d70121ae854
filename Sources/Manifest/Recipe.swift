import DarkroomCore
import DarkroomPicture

/// Settings with a name, to which manifests refer: `recipe: web`.
///
/// What a recipe has replaces the defaults: those of the manifest for a recipe of an image, those of the configuration
/// for a recipe of the manifest. What stands beside `recipe` replaces what the recipe has.
package struct Recipe: Sendable, Equatable {
    package let name: String
    /// The text of its file. The status of each batch that uses it contains it, so that a restart and a retry get the
    /// same recipe, whatever has become of the file.
    package let text: String
    /// Of the text, in hexadecimal.
    package let sha256: String
    /// nil if the recipe does not have this key, like all of these.
    package private(set) var filters: [Filter]?
    package private(set) var damaged: DamagedRule?
    package private(set) var isStrict: Bool?
    package private(set) var pages: PageRule?
    package private(set) var output: OutputChanges?
    package private(set) var variants: [VariantDraft]?
    package private(set) var priority: Priority?
    package private(set) var wantsPage: Bool?
    package private(set) var delivery: Delivery?

    static let keys: [ByteString] = [
        "filters", "damaged", "strict", "pages", "output", "variants", "priority", "page",
        "deliver",
    ]

    /// Reads a recipe.
    ///
    /// - Parameter limit: the maximum number of its filters.
    package init(
        named name: String, text: String, limit: Int = ManifestLimits().filters
    ) throws(ManifestRejection) {
        self.name = name
        self.text = text
        let bytes = Array(text.utf8)
        sha256 = SHA256Digest.hex(of: bytes)
        let node = try ManifestFormat.yaml.document(bytes, NodeBudget(images: 0))
        var reader = ValueReader(notation: .yaml)
        reader.isOfRecipe = true
        let map = reader.map(
            node, keys: Self.keys, foreign: ["images"], of: "a recipe", at: .root,
            write: .map("filters", .list([FilterCorrection.example])))
        if let node = map?["filters"] {
            filters = reader.filtersWithoutImages(node, limit: limit, at: .key(.root, "filters"))
        }
        damaged = reader.word(in: map, "damaged", at: .root)
        isStrict = reader.boolean(in: map, "strict", at: .root)
        pages = map?["pages"].flatMap {
            reader.pageRule($0, at: .key(.root, "pages"), isOfImage: false)
        }
        output = map?["output"].map { reader.outputChanges($0, at: .key(.root, "output")) }
        if let node = map?["variants"] {
            let context = ValueReader.VariantsContext(
                output: (output ?? OutputChanges()).applied(to: OutputOptions()), limit: limit,
                recipes: RecipeBook(), isRecipe: true)
            variants = reader.variants(node, context, at: .key(.root, "variants"))
        }
        priority = reader.word(in: map, "priority", at: .root)
        wantsPage = reader.boolean(in: map, "page", at: .root)
        delivery = map?["deliver"].flatMap { reader.delivery($0, at: .key(.root, "deliver")) }
        try reader.problems.throwIfAny()
    }

    /// Whether a text may be a name: 1 to 100 letters and digits of ASCII, `-`, `_` and `.`, which is not the first.
    package static func isName(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".")
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "-_.".utf8.contains($0) }
    }
}

/// Some options of an output. Each replaces the same one of another output.
package struct OutputChanges: Sendable, Equatable {
    private let options: OutputOptions
    private let keys: Set<ByteString>

    init(_ options: OutputOptions = OutputOptions(), keys: Set<ByteString> = []) {
        self.options = options
        self.keys = keys
    }

    func applied(to former: OutputOptions) -> OutputOptions {
        var result = former
        if keys.contains("format") { result.takeFormat(of: options) }
        if keys.contains("name") { result.name = options.name }
        if keys.contains("profile") { result.profile = options.profile }
        if keys.contains("metadata") || keys.contains("exif") { result.metadata = options.metadata }
        for option in OutputOption.allCases where keys.contains(ByteString(option.rawValue)) {
            switch option {
            case .quality: result.quality = options.quality
            case .maxBytes: result.maxBytes = options.maxBytes
            case .target: result.ssim = options.ssim
            case .progressive: result.progressive = options.progressive
            case .lossless: result.lossless = options.lossless
            case .effort: result.effort = options.effort
            case .depth: result.depth = options.depth
            case .chroma: result.chroma = options.chroma
            case .compression:
                result.compression = options.compression
                result.tiffCompression = options.tiffCompression
            }
        }
        return result
    }
}

/// The recipes that manifests may use.
package struct RecipeBook: Sendable, Equatable {
    private var recipes: [ByteString: Recipe] = [:]
    /// Whether manifests must not have filters of their own.
    package var isOnly = false
    /// The recipe of a folder with pictures and without a manifest; nil if such a folder must name one.
    package var ofFolders: String?
    /// Whether there are no others. A client that does not know the recipes of a daemon leaves the check to it.
    package var isComplete = true

    package init(_ recipes: [Recipe] = []) {
        for recipe in recipes { self.recipes[ByteString(recipe.name)] = recipe }
    }

    /// These recipes under the same rules.
    package func holding(_ recipes: [Recipe]) -> RecipeBook {
        var book = self
        book.recipes = RecipeBook(recipes).recipes
        return book
    }

    package subscript(name: ByteString) -> Recipe? {
        name.utf8.count <= 100 ? recipes[name] : nil
    }

    /// Sorted by their names.
    package var all: [Recipe] { recipes.values.sorted { $0.name < $1.name } }

    func nearest(to name: ByteString) -> String? {
        Suggestion.nearest(to: name, among: recipes.keys.sorted())
    }

    /// The end of the message that there is no recipe with this name: which ones there are, if none is similar.
    func hint(to name: ByteString) -> String {
        if nearest(to: name) != nil { return "" }
        let names = all.map(\.name)
        if names.isEmpty { return "; there are no recipes" }
        return names.count <= 10 ? "; the recipes are \(Words.list(names, "and"))" : ""
    }
}

extension ImageSettings {
    /// These settings with those that the recipe has.
    func applying(_ recipe: Recipe) -> ImageSettings {
        var settings = self
        if let filters = recipe.filters { settings.filters = FilterDrafts(filters: filters) }
        if let damaged = recipe.damaged { settings.damaged = damaged }
        if let isStrict = recipe.isStrict { settings.isStrict = isStrict }
        if let pages = recipe.pages { settings.pages = pages }
        if let output = recipe.output { settings.output = output.applied(to: settings.output) }
        if let variants = recipe.variants { settings.variants = variants }
        if let delivery = recipe.delivery { settings.delivery = delivery }
        return settings
    }
}

extension ValueReader {
    /// The recipe with the name in a `recipe`; nil if there is none, which is a problem unless other recipes exist.
    mutating func recipe(
        _ node: Document.Node, at path: DocumentPath, of book: RecipeBook
    ) -> Recipe? {
        guard let name = text(node, "‘recipe’", at: path, write: .text("web")) else { return nil }
        if let recipe = book[name] {
            usedRecipes[recipe.name] = recipe
            return recipe
        }
        guard book.isComplete else { return nil }
        problems.add(
            .unknownRecipe, "there is no recipe ‘\(name.shortened)’\(book.hint(to: name))",
            at: path, node.place, suggestion: book.nearest(to: name))
        return nil
    }

    /// Adds a problem for filters, if only recipes may have any.
    mutating func refuseFilters(_ node: Document.Node, at path: DocumentPath, _ book: RecipeBook) {
        guard book.isOnly else { return }
        let notation = notation
        func advice() -> String {
            guard let name = book.all.first?.name else { return "" }
            let form = ManifestSnippet.text(ByteString(name))
            return "; write ‘\(form.written(in: notation, key: "recipe"))’ or another recipe"
        }
        problems.add(
            .filtersNotAllowed,
            "recipes.only of the configuration allows only the filters of recipes\(advice())",
            at: path, node.place)
    }

    /// A list of filters that is not in a manifest, so that they cannot name an image.
    mutating func filtersWithoutImages(
        _ node: Document.Node, limit: Int, at path: DocumentPath
    ) -> [Filter] {
        let drafts = filters(node, limit: limit, at: path)
        for mention in drafts.mentions {
            guard case .filter(let path, _) = mention.role else { continue }
            problems.add(
                .unknownImage,
                "‘\(mention.name.shortened)’ names an image, but only a manifest has images",
                at: path, mention.place)
        }
        return drafts.filters
    }

    /// The options that an `output` has. They must be right over those of `base`.
    mutating func outputChanges(
        _ node: Document.Node, over base: OutputOptions = OutputOptions(), at path: DocumentPath
    ) -> OutputChanges {
        let options = output(node, over: base, at: path)
        var given: Set<ByteString> = ["format"]
        if case .map(let map) = node.value { given = Set(map.entries.map(\.key)) }
        return OutputChanges(options, keys: given)
    }
}
