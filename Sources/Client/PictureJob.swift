import DarkroomCore
import DarkroomManifest
import DarkroomPicture

/// Pictures and what to do with all of them: a manifest that nobody has to write.
package struct PictureJob: Sendable {
    package var pictures: [PictureSource]
    package var recipe: String?
    package var filters: [FilterText] = []
    /// Laid over each picture, after the other filters.
    package var watermark: WatermarkText?
    package var damaged: DamagedRule?
    /// The page of each picture; nil for what `pages` says.
    package var sourcePage: Int?
    /// Which pages become images; nil for what a recipe says.
    package var pages: PageRule?
    package var isStrict = false
    /// Each picture gets a result of each of these sizes.
    package var sizes: [SizeText] = []
    package var format: FormatChoice?
    /// The further keys of the output.
    package var output: [ManifestValue.Entry] = []
    /// The paths of the results; nil for the names of the pictures.
    package var outputName: NameTemplate?
    package var priority: Priority?
    /// Whether the daemon makes a page; nil for what its configuration says.
    package var wantsPage: Bool?
    /// Where the daemon reads local pictures, if this is known.
    package var roots: SourceRoots?
    /// The name of the folder or of the list that has the pictures, for the name of the manifest; nil if they are named
    /// one by one.
    package var title: String?

    package init(_ pictures: [PictureSource]) { self.pictures = pictures }

    /// The manifest. Without filters it has an empty list: somebody who names none at a terminal wants pictures of
    /// another format, not the filters that the daemon has for manifests without a list.
    ///
    /// A filter may refer to a picture by its file or URL. Such a picture becomes an image of its own, without filters,
    /// which is not published.
    package func manifest() throws(ClientError) -> ManifestValue {
        var names = ImageNames()
        for picture in pictures where picture.isNamed { try names.take(picture.imageName) }
        let own = imageNames(&names)
        let images = zip(own, pictures).map { image(named: $0, $1) }
        var layers = Layers(names: names)
        let filters = try filterValues(&layers)
        let logos = layers.images.map { image(named: $0, $1, isLogo: true) }
        return .map([
            "priority": priority.map { .text($0.rawValue) }, "page": wantsPage.map { .boolean($0) },
            "recipe": recipe.map { .text($0) },
            "filters": recipe == nil || !filters.isEmpty ? .list(filters) : nil,
            "damaged": damaged.map { .text($0.rawValue) },
            "strict": isStrict ? .boolean(true) : nil,
            "pages": pages.map { .text($0.rawValue) }, "output": wholeOutput,
            "variants": sizes.isEmpty ? nil : .list(sizes.map(\.variant)),
            "images": .list(logos + images),
        ])
    }

    /// The names of the images. Of two pictures with the same, the one in fewer folders has it, so that a picture that
    /// comes into a folder within the named one takes no name away.
    private func imageNames(_ names: inout ImageNames) -> [ByteString] {
        var own = pictures.map(\.imageName)
        let depths = Dictionary(
            grouping: pictures.indices.filter { !pictures[$0].isNamed },
            by: { pictures[$0].folders.count })
        for depth in depths.keys.sorted() {
            for index in depths[depth] ?? [] { own[index] = names.add(own[index]) }
        }
        return own
    }

    private func filterValues(_ layers: inout Layers) throws(ClientError) -> [ManifestValue] {
        var values: [ManifestValue] = []
        for filter in filters {
            values.append(
                try filter.value { (text) throws(ClientError) in try layers.name(of: text) })
        }
        if let watermark {
            let name = ManifestValue.text(layers.name(of: watermark.picture))
            values.append(.map("watermark", .map([.init("from", name)] + watermark.parameters)))
        }
        return values
    }

    private var wholeOutput: ManifestValue? {
        let entries =
            ManifestValue.entries(["format": format.map { .text($0.rawValue) }]) + output
            + ManifestValue.entries(["name": outputName.map { .text($0.with(folders: [])) }])
        return entries.isEmpty ? nil : .map(entries)
    }

    /// A picture within a named folder has its own path: a manifest has its absolute path, which tells more folders.
    private func output(of picture: PictureSource) -> ManifestValue? {
        guard let outputName, !picture.folders.isEmpty, outputName.contains(.folder) else {
            return nil
        }
        return .map(["name": .text(outputName.with(folders: picture.folders))])
    }

    private func image(
        named name: ByteString, _ picture: PictureSource, isLogo: Bool = false
    ) -> ManifestValue {
        let source = roots.map { picture.seen(in: $0) } ?? picture
        return .map([
            "name": .text(name.string), "source": .text(source.source),
            "page": isLogo ? nil : sourcePage.map { .integer($0) },
            "filters": isLogo ? .list([]) : nil, "publish": isLogo ? .boolean(false) : nil,
            "output": isLogo ? nil : output(of: picture),
        ])
    }
}

/// The names of the images of a manifest, each with an output file of its own in every format: the name, with an ending
/// if it has none of the format.
private struct ImageNames {
    private var taken: Set<ByteString> = []
    /// The names without an extension that would have the file of a taken name.
    private var stems: Set<ByteString> = []
    private var numbers = NameNumbering()

    mutating func add(_ wanted: ByteString) -> ByteString {
        var name = wanted
        if isTaken(wanted) {
            let (taken, stems) = (taken, stems)
            name = numbers.name(for: wanted) { Self.isTaken($0, taken, stems) }
        }
        insert(name)
        return name
    }

    /// Takes a name that somebody has chosen.
    mutating func take(_ name: ByteString) throws(ClientError) {
        guard !isTaken(name) else {
            throw ClientError(
                .rejected, code: "duplicate-name",
                "the name ‘\(name.string.visible)’ is given to two pictures, or their results would have one file name"
            )
        }
        insert(name)
    }

    private mutating func insert(_ name: ByteString) {
        taken.insert(name)
        stems.formUnion(Self.stems(of: name))
    }

    private func isTaken(_ name: ByteString) -> Bool { Self.isTaken(name, taken, stems) }

    private static func isTaken(
        _ name: ByteString, _ taken: Set<ByteString>, _ stems: Set<ByteString>
    ) -> Bool {
        taken.contains(name) || stems.contains(name)
            || Self.stems(of: name).contains(where: taken.contains)
    }

    private static func stems(of name: ByteString) -> [ByteString] {
        let text = name.string
        return OutputFormat.allCases.compactMap { format in
            let ending = format.endings[0]
            guard text.utf8.count > ending.utf8.count,
                text.utf8.reversed().starts(with: ending.utf8.reversed())
            else { return nil }
            let stem = ByteString(text.dropLast(utf8: ending.utf8.count))
            return Manifest.Image.outputFile(named: stem, format) == name ? stem : nil
        }
    }
}

/// The pictures that filters lay over others, each once.
private struct Layers {
    private(set) var images: [(name: ByteString, source: PictureSource)] = []
    var names: ImageNames

    /// The name of the image of a picture that a filter refers to.
    mutating func name(of text: String) throws(ClientError) -> String {
        name(of: try PictureSource(text))
    }

    mutating func name(of picture: PictureSource) -> String {
        if let known = images.first(where: { $0.source == picture }) { return known.name.string }
        let name = names.add(picture.imageName)
        images.append((name, picture))
        return name.string
    }
}
