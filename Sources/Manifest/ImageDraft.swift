import DarkroomCore
import DarkroomFetch
import DarkroomPicture

/// The settings that a manifest may have for all images, and each image for itself.
package struct ImageSettings: Sendable {
    package var filters: FilterDrafts { didSet { hasDefaultFilters = false } }
    /// Whether nothing has given it filters, so that it has those of the configuration.
    package private(set) var hasDefaultFilters = true
    package var autoOrient = true
    package var damaged = DamagedRule.fail
    package var isStrict = false
    package var pages = PageRule.first
    package var output = OutputOptions()
    /// Empty without `variants`.
    package var variants: [VariantDraft] = []
    package var delivery: Delivery?

    /// Reads the keys that mean the same for a manifest and for an image, and need nothing else.
    mutating func readRules(
        _ map: Document.Map, at path: DocumentPath, _ reader: inout ValueReader
    ) {
        autoOrient = reader.boolean(in: map, "autoOrient", at: path) ?? autoOrient
        damaged = reader.word(in: map, "damaged", at: path) ?? damaged
        isStrict = reader.boolean(in: map, "strict", at: path) ?? isStrict
        if let node = map["output"] {
            output = reader.output(node, over: output, at: .key(path, "output"))
        }
    }
}

/// An image of a manifest, before names are resolved.
package struct ImageDraft: Sendable {
    /// Empty until it is derived, if the manifest gives no name.
    package var name: ByteString = ""
    package var source: ByteString?
    /// The page of a source with several pages, from 1.
    package var page: Int?
    /// The place of its own `pages`; nil if the manifest or a recipe says it.
    package var pagesPlace: Document.Place?
    package var from: Reference?
    package var after: [Reference] = []
    package var settings: ImageSettings
    package var isPublished = true
    /// Its place among the variants of an image; nil if it is not a variant.
    package var variant: Manifest.Image.Variant?
    /// Whether the variants are in the image, and not in the manifest or in a recipe.
    package var variantsAreOwn = false
    /// What is appended to a name that is derived: the number of the page, then the suffix of the variant.
    package var suffix: ByteString = ""
    /// The end of `suffix`, or of a given name, that a page and a variant have.
    var pageSuffix: ByteString = ""
    var variantSuffix: ByteString = ""
    /// Of a variant: the given name of the image, or empty.
    var givenName: ByteString = ""
    /// The path of its output; nil without a template.
    package var file: OutputName?
    /// The path of the image, for problems that are found when all images are known.
    package let path: DocumentPath
    package let place: Document.Place
    /// The place of the name, or of the image if it has no name.
    package var namePlace: Document.Place

    package init(settings: ImageSettings, path: DocumentPath, place: Document.Place) {
        self.settings = settings
        self.path = path
        self.place = place
        namePlace = place
    }

    /// Whether it stands for an image for each page of its source. One that is not published is only there for other
    /// images, by its name, so the rule of the manifest does not concern it.
    package var wantsAllPages: Bool {
        settings.pages == .all && page == nil && from == nil
            && (isPublished || pagesPlace != nil)
    }

    /// All references to other images: `from`, the overlays of filters, `after`.
    package var references: [Reference] {
        (from.map { [$0] } ?? []) + settings.filters.mentions + after
    }

    package struct Reference: Sendable, Equatable {
        package let name: ByteString
        package let role: Role
        package let place: Document.Place

        package enum Role: Sendable, Equatable {
            case from
            /// The index in `after`.
            case after(Int)
            /// A parameter of a filter at this path. Images that share a list of filters share the reference, which its
            /// number identifies.
            case filter(DocumentPath, number: Int)
        }
    }

    /// The file name of the output without a template; the image must have a name.
    package var outputFile: ByteString {
        Manifest.Image.outputFile(named: name, settings.output.format)
    }

    package func path(of reference: Reference) -> DocumentPath {
        switch reference.role {
        case .from: .key(path, "from")
        case .after(let item): .index(.key(path, "after"), item)
        case .filter(let path, _): path
        }
    }
}

extension ImageDraft {
    /// The image, when it has a name and its references are resolved.
    ///
    /// - Parameters:
    ///   - index: its place in the manifest.
    ///   - variantOf: the name of the image of whose variants it is one.
    func image(
        at index: Int, _ dependencies: Dependencies, variantOf: ByteString?
    ) -> Manifest.Image {
        let origin =
            dependencies.origin(of: index).map { Manifest.Origin.image($0) }
            ?? .source(SourceReference(source ?? ""))
        return Manifest.Image(
            name: name, origin: origin, page: page, after: dependencies.after(of: index),
            overlays: dependencies.overlays(of: index), filters: settings.filters.filters,
            autoOrient: settings.autoOrient, damaged: settings.damaged,
            isStrict: settings.isStrict, output: settings.output, isPublished: isPublished,
            variant: variant, variantOf: variantOf, file: file, delivery: settings.delivery)
    }
}

/// Which pages of a source with several pages become images: `pages`.
package enum PageRule: String, Sendable, CaseIterable {
    /// The first one, with a warning that there are others.
    case first
    /// An image for each page.
    case all
}

/// A list of filters before the names in it are resolved.
package struct FilterDrafts: Sendable, Equatable {
    package var filters: [Filter]
    /// The images that the filters name, one entry for each reference.
    package var mentions: [ImageDraft.Reference] = []
    /// Whether they are those of the configuration, because the manifest has none.
    package var isDefault = false
}
