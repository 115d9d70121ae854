import DarkroomCore
import DarkroomPicture

extension ValueReader {
    static let outputKeys =
        ["format"] + OutputOption.allCases.map { ByteString($0.rawValue) }
        + ["profile", "metadata", "exif", "name"]

    private static let quality = FilterParameter.integer(
        "quality", OutputOptions.qualities, required: false)
    private static let effort = FilterParameter.integer(
        "effort", OutputOptions.efforts, required: false)
    private static let depth = FilterParameter.integer("depth", 8...16, required: false)
    private static let ssim = FilterParameter.number("ssim", OutputOptions.similarities)

    /// A text that is no format. The message says which formats there are, and not only that it must be a map.
    private mutating func unknownFormat(
        _ text: ByteString, _ rule: String, _ node: Document.Node, at path: DocumentPath
    ) {
        let meant = Suggestion.meant(by: text, among: FormatChoice.words)
        let kind = OutputFormat.unwritten(text.string)
        let none = text == "false" ? "; for no file, write ‘publish: false’ instead" : nil
        let advice =
            none ?? kind.map { "; darkroom does not write \($0)" }
            ?? meant.map { Self.advice(.text(ByteString($0)), notation, at: path) } ?? ""
        problems.add(
            .unknownValue, "\(rule), found ‘\(text.shortened)’\(advice)", at: path, node.place,
            suggestion: kind == nil ? meant : nil)
    }

    private static let formatWords = Words.list(FormatChoice.words, "or")

    /// The format with this name, or with another name for it, such as `jpg`.
    private static func format(_ text: ByteString) -> FormatChoice? {
        FormatChoice(word: text.string)
    }

    private mutating func format(_ node: Document.Node, at path: DocumentPath) -> FormatChoice? {
        if let known = node.text.flatMap(Self.format) { return known }
        guard let text = node.text, OutputFormat.unwritten(text.string) != nil else {
            return word(node, "‘format’", at: path)
        }
        unknownFormat(text, "‘format’ must be \(Self.formatWords)", node, at: path)
        return nil
    }

    /// An `output`; a text is its format. Each of its keys replaces that of `defaultValue`.
    ///
    /// A given option must belong to the resulting format, or to any if the source tells the format. An option from `defaultValue` that does not belong to it is
    /// ignored.
    package mutating func output(
        _ node: Document.Node, over defaultValue: OutputOptions, at path: DocumentPath
    ) -> OutputOptions {
        if let format = node.text.flatMap(Self.format) {
            var options = defaultValue
            options.choose(format, isShared: isOfRecipe)
            return options
        }
        if let text = node.text {
            unknownFormat(text, "‘output’ must be \(Self.formatWords), or a map", node, at: path)
            return defaultValue
        }
        guard
            let map = map(
                node, keys: Self.outputKeys, of: "‘output’", at: path,
                write: .map("format", .text(ByteString(OutputFormat.jpeg.rawValue))))
        else { return defaultValue }
        var options = defaultValue
        var isFormatKnown = true
        if let format = map["format"] {
            let word = self.format(format, at: .key(path, "format"))
            isFormatKnown = word != nil
            if let word { options.choose(word, isShared: isOfRecipe) }
        }
        var given: [OutputOption: (node: Document.Node, path: DocumentPath)] = [:]
        for option in OutputOption.allCases {
            let key = ByteString(option.rawValue)
            guard let node = map[key] else { continue }
            given[option] = (node, .key(path, key))
            guard isFormatKnown, !options.has(option) else { continue }
            problems.add(
                .conflictingKeys, "‘\(key)’ \(option.mismatch(with: options.format))",
                at: .key(path, key), node.place)
        }
        read(given, isFormatKnown && !options.isFormatOpen, into: &options)
        options.profile = word(in: map, "profile", at: path) ?? options.profile
        options.metadata = metadata(map, over: options.metadata, at: path)
        if let name = map["name"] {
            options.name = template(name, at: .key(path, "name")) ?? options.name
        }
        return options
    }

    private mutating func template(_ node: Document.Node, at path: DocumentPath) -> NameTemplate? {
        guard
            let text = text(
                node, "‘name’ of ‘output’", at: path, write: .text("{name}-{width}.{ext}"))
        else { return nil }
        do throws(NameTemplate.Fault) {
            return try NameTemplate(text.string)
        } catch {
            problems.add(
                error.isOfPlaceholder ? .unknownValue : .badName,
                "the template ‘\(text.shortened)’ \(error.words)", at: path, node.place,
                suggestion: error.suggestion)
            return nil
        }
    }

    /// The options of some formats. If the format is not known, any value of any format is right.
    private mutating func read(
        _ given: [OutputOption: (node: Document.Node, path: DocumentPath)], _ isFormatKnown: Bool,
        into options: inout OutputOptions
    ) {
        if let (node, path) = given[.quality] {
            options.quality =
                integer(node, OutputOptions.qualities, Self.quality, at: path) ?? options.quality
        }
        readSearch(given, into: &options)
        if let (node, path) = given[.progressive] {
            options.progressive = boolean(node, "‘progressive’", at: path) ?? options.progressive
        }
        if let (node, path) = given[.lossless] {
            options.lossless = boolean(node, "‘lossless’", at: path) ?? options.lossless
        }
        if let (node, path) = given[.effort] {
            options.effort =
                integer(node, OutputOptions.efforts, Self.effort, at: path) ?? options.effort
        }
        if let (node, path) = given[.depth] {
            let depths = OutputOption.depths(of: options.format)
            let values = isFormatKnown && !depths.isEmpty ? depths : OutputOption.allDepths
            if let value = integer(node, among: values, Self.depth, at: path) {
                options.depth = value
            }
        }
        if let (node, path) = given[.chroma] {
            options.chroma = word(node, "‘chroma’", at: path) ?? options.chroma
        }
        refuseSearch(given, in: options)
        if let (node, path) = given[.compression] {
            readCompression(node, isFormatKnown, at: path, into: &options)
        }
    }

    /// What the quality is chosen by.
    private mutating func readSearch(
        _ given: [OutputOption: (node: Document.Node, path: DocumentPath)],
        into options: inout OutputOptions
    ) {
        if let (node, path) = given[.maxBytes] {
            options.maxBytes =
                bytes(node, "‘maxBytes’", OutputOptions.budgets, at: path) ?? options.maxBytes
        }
        guard let (node, path) = given[.target],
            let map = map(
                node, keys: ["ssim"], of: "‘target’", at: path,
                write: .map("ssim", .value(.number(0.98))))
        else { return }
        guard let similarity = map["ssim"] else {
            problems.add(.missingKey, "‘target’ needs ‘ssim’", at: path, node.place)
            return
        }
        if case .number(let value) = number(
            similarity, OutputOptions.similarities, Self.ssim, at: .key(path, "ssim"))
        {
            options.ssim = value
        }
    }

    /// A lossless result has no quality. What a default says of it has no effect then.
    private mutating func refuseSearch(
        _ given: [OutputOption: (node: Document.Node, path: DocumentPath)],
        in options: OutputOptions
    ) {
        guard options.lossless, options.has(.lossless) else { return }
        for option in [OutputOption.maxBytes, .target] {
            guard let (node, path) = given[option], options.has(option) else { continue }
            problems.add(
                .conflictingKeys,
                "‘\(option.rawValue)’ chooses the quality, but this output is lossless", at: path,
                node.place)
        }
    }

    /// Its words depend on the format.
    private mutating func readCompression(
        _ node: Document.Node, _ isFormatKnown: Bool, at path: DocumentPath,
        into options: inout OutputOptions
    ) {
        let what = "‘compression’"
        let ofPNG = type(of: options.compression).allCases.map(\.rawValue)
        let ofTIFF = type(of: options.tiffCompression).allCases.map(\.rawValue)
        if !isFormatKnown {
            guard let word = word(node, among: ofPNG + ofTIFF, what, at: path) else { return }
            options.compression = .init(rawValue: word) ?? options.compression
            options.tiffCompression = .init(rawValue: word) ?? options.tiffCompression
        } else if options.format == .tiff {
            options.tiffCompression = word(node, what, at: path) ?? options.tiffCompression
        } else {
            options.compression = word(node, what, at: path) ?? options.compression
        }
    }
}
