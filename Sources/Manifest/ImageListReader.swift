import DarkroomCore
import DarkroomPicture

/// Reads the images of a manifest, a list or a map, one by one.
package struct ImageListReader {
    /// In bytes of UTF-8; longer than any server accepts.
    package static let maximumSource = 8192

    let limits: ManifestLimits
    let recipes: RecipeBook
    /// The settings of images that do not have their own.
    private let defaultValue: ImageSettings
    package private(set) var drafts: [ImageDraft] = []
    var sources: SourceLookup
    /// The URLs that have one image although all pages are wanted.
    var urlsWithOnePage = 0
    /// Lists of filters that have been read, for images that share one by an alias.
    var filterLists: [ObjectIdentifier: FilterDrafts] = [:]
    /// The same for lists of variants, each with the output that it changes.
    var variantLists: [ObjectIdentifier: (output: OutputOptions, read: [VariantDraft]?)] = [:]
    private var joined = JoinedFilters()
    /// Whether there is a problem because of too many images.
    var isOverLimit = false
    /// Whether pages of a file cannot be images because they cannot have names. Such a problem is told once: counting takes
    /// time.
    var hasPagesProblem = false

    package init(
        limits: ManifestLimits, recipes: RecipeBook = RecipeBook(),
        finder: SourceFinder = .none, defaultValue: ImageSettings
    ) {
        self.limits = limits
        self.recipes = recipes
        sources = SourceLookup(finder)
        self.defaultValue = defaultValue
    }

    /// Reads the value of `images`. With `sorted`, a map is read in the order of its keys' bytes.
    package mutating func read(
        _ node: Document.Node, at path: DocumentPath, sorted: Bool, with reader: inout ValueReader
    ) {
        switch node.value {
        case .list(let list):
            guard admits(list.items.count, node, at: path, &reader) else { return }
            drafts.reserveCapacity(list.items.count)
            for (index, item) in list.items.enumerated() {
                if reader.stop?.isSet == true { return }
                readImage(item, of: nil, at: .index(path, index), &reader)
            }
        case .map(let map):
            guard admits(map.entries.count, node, at: path, &reader) else { return }
            readEntries(of: map, at: path, sorted: sorted, &reader)
        default:
            reader.wrongType(
                node, "‘images’ must be a list of images or a map of names", at: path,
                write: .list([Self.sourceForm(node)]))
        }
    }

    private func admits(
        _ count: Int, _ node: Document.Node, at path: DocumentPath, _ reader: inout ValueReader
    ) -> Bool {
        if count == 0 {
            reader.problems.add(.noImages, "the manifest names no image", at: path, node.place)
        } else if count > limits.images {
            reader.problems.add(
                .tooManyImages, "\(count) images; the limit is \(limits.images)", at: path,
                node.place)
        } else {
            return true
        }
        return false
    }

    /// - Parameter entry: in a map of images, the one whose key is the name; nil in a list.
    private mutating func readImage(
        _ node: Document.Node, of entry: Document.Entry?, at path: DocumentPath,
        _ reader: inout ValueReader
    ) {
        let place = node.place
        var draft = ImageDraft(settings: defaultValue, path: path, place: entry?.place ?? place)
        if let entry {
            draft.name = entry.key
            Self.check(entry.key, entry.place, at: path, &reader)
        }
        if let source = node.text {
            draft.source = Self.source(source, node, at: path, &reader)
            return add(draft, isNamed: entry != nil, at: path, place, &reader)
        }
        let sourcePath = DocumentPath.key(path, "source")
        guard case .map = node.value else {
            reader.wrongType(node, "an image must be a map or a source", at: path, write: .source)
            // Others may name it.
            if entry != nil { add(draft, isNamed: true, at: sourcePath, place, &reader) }
            return
        }
        let keys = entry == nil ? Self.keys : Self.keysBesideName
        guard
            let map = reader.map(node, keys: keys, of: "an image", at: path, write: .source)
        else { return }
        guard entry == nil else {
            read(map, into: &draft, &reader)
            return add(draft, isNamed: true, at: sourcePath, place, &reader)
        }
        if let name = map["name"] {
            draft.namePlace = name.place
            let inner = DocumentPath.key(path, "name")
            if let text = reader.text(
                name, "‘name’", at: inner, write: Self.textForm(name, "photo"))
            {
                draft.name = text
                Self.check(text, name.place, at: inner, &reader)
            }
        } else if map["source"] == nil, map["from"] != nil {
            reader.problems.add(.missingKey, "an image with ‘from’ needs a ‘name’", at: path, place)
        }
        read(map, into: &draft, &reader)
        add(
            draft, isNamed: map["name"] != nil, at: sourcePath, map["source"]?.place ?? place,
            &reader)
    }

    /// Adds an image, or one for each file that its source means.
    private mutating func add(
        _ draft: ImageDraft, isNamed: Bool, at path: DocumentPath, _ place: Document.Place,
        _ reader: inout ValueReader
    ) {
        let pattern: SourcePattern
        do throws(SourcePattern.Fault) {
            guard let source = draft.source, draft.from == nil,
                let found = try SourcePattern(source)
            else {
                return addPages(
                    of: draft, isNamed: isNamed, isFound: false, at: path, place, &reader)
            }
            pattern = found
        } catch {
            return reader.problems.add(.badSource, "a source that \(error.words)", at: path, place)
        }
        let shown = pattern.text.shortened
        guard !isNamed else {
            return reader.problems.add(
                .conflictingKeys,
                "‘\(shown)’ means several pictures, which are named after their files; list it under ‘images’ "
                    + "without a name", at: path, place)
        }
        guard !draft.settings.hasNamedVariants else {
            return reader.problems.add(
                .conflictingKeys,
                "‘\(shown)’ means several pictures, so their variants need a ‘suffix’ and not a ‘name’",
                at: path, place)
        }
        guard let finding = sources.find(pattern, limit: limits.images) else {
            return reader.problems.add(
                .tooManyPatterns,
                "more than \(SourceLookup.mostPatterns) different patterns and folders", at: path,
                place)
        }
        switch finding {
        case .files(let files):
            guard files.count <= limits.images - drafts.count else {
                return reader.problems.add(
                    .tooManyImages,
                    "with the files of ‘\(shown)’, there are \(drafts.count + files.count) images; "
                        + "the limit is \(limits.images)", at: path, place)
            }
            for file in files {
                if reader.stop?.isSet == true { return }
                var image = draft
                image.source = file
                addPages(of: image, isNamed: false, isFound: true, at: path, place, &reader)
            }
        case .nothing(let reason):
            reader.problems.add(.noPictures, "‘\(shown)’ means no file: \(reason)", at: path, place)
        case .tooMany:
            reader.problems.add(
                .tooManyImages,
                "‘\(shown)’ means too many files; the limit is \(limits.images) images", at: path,
                place)
        case .unknown: break
        }
    }

    /// Adds an image, or its variants.
    ///
    /// - Parameter isFound: whether a pattern or a folder means its source, which the manifest does not name.
    mutating func append(
        _ draft: ImageDraft, isNamed: Bool, isFound: Bool, at path: DocumentPath,
        _ place: Document.Place, _ reader: inout ValueReader
    ) {
        var images = draft.expanded(at: drafts.count, &joined)
        let hasVariants = images[0].variant != nil
        if let fault = Self.decideFormats(of: &images, isFound: isFound) {
            reader.problems.add(.formatNotWritten, fault, at: path, place)
        }
        guard drafts.count + images.count <= limits.images else {
            if !isOverLimit {
                reader.problems.add(
                    .tooManyImages,
                    "with their \(hasVariants ? "variants" : "files and pages"), there are more images than the limit of \(limits.images)",
                    at: path, place)
            }
            isOverLimit = true
            return
        }
        guard hasVariants else { return drafts.append(images[0]) }
        for image in images {
            let count = image.settings.filters.filters.count
            if count > limits.filters {
                reader.problems.add(
                    .tooManyFilters,
                    "\(count) filters of an image and its variant; the limit is \(limits.filters)",
                    at: draft.path, image.namePlace)
            }
            // The names of variants themselves have been checked.
            if isNamed, image.name != draft.name, ImageName.fault(of: draft.name) == nil {
                Self.check(image.name, image.namePlace, at: draft.path, &reader)
            }
        }
        drafts += images
    }

    private mutating func readEntries(
        of map: Document.Map, at path: DocumentPath, sorted: Bool, _ reader: inout ValueReader
    ) {
        let entries = sorted ? map.entries.sorted { $0.key < $1.key } : map.entries
        var names: Set<ByteString> = []
        for entry in entries {
            if reader.stop?.isSet == true { return }
            let inner = DocumentPath.key(path, entry.key)
            guard names.insert(entry.key).inserted else {
                reader.repeatedKey(entry, at: inner)
                continue
            }
            readImage(entry.value, of: entry, at: inner, &reader)
        }
    }

    private static func sourceForm(_ node: Document.Node) -> ManifestSnippet {
        guard let form = ManifestSnippet.value(of: node), case .value(.text) = form else {
            return .source
        }
        return form
    }
}
