import DarkroomCore
import DarkroomPicture

extension ValueReader {
    static let outputKeys: [ByteString] = [
        "format", "quality", "progressive", "compression", "exif",
    ]

    private static let quality = FilterParameter.integer(
        "quality", OutputOptions.qualities, required: false)

    /// `output: jpeg` means a format.
    private static func outputForm(_ node: Document.Node) -> ManifestSnippet {
        let format = node.text.flatMap { text in
            Suggestion.nearest(
                to: text, among: OutputFormat.allCases.map { ByteString($0.rawValue) })
        }
        return .map("format", .text(ByteString(format ?? OutputFormat.jpeg.rawValue)))
    }

    /// The format with this name. `jpg` is another name of `jpeg`.
    private static func format(_ text: ByteString) -> OutputFormat? {
        text == "jpg"
            ? .jpeg : OutputFormat.allCases.first { ByteString($0.rawValue) == text }
    }

    /// An `output`; a text is its format. Each of its keys replaces that of `defaultValue`.
    ///
    /// A given option must belong to the resulting format. An option from `defaultValue` that does not belong to it is
    /// ignored.
    package mutating func output(
        _ node: Document.Node, over defaultValue: OutputOptions, at path: DocumentPath
    ) -> OutputOptions {
        if let format = node.text.flatMap(Self.format) {
            var options = defaultValue
            options.format = format
            return options
        }
        guard
            let map = map(
                node, keys: Self.outputKeys, of: "‘output’", at: path,
                write: Self.outputForm(node))
        else { return defaultValue }
        var options = defaultValue
        var isFormatKnown = true
        if let format = map["format"] {
            let word: OutputFormat? =
                format.text.flatMap(Self.format)
                ?? word(format, "‘format’", at: .key(path, "format"))
            isFormatKnown = word != nil
            options.format = word ?? options.format
        }
        func option(
            _ key: ByteString, of format: OutputFormat, _ reader: inout Self
        ) -> Document.Node? {
            guard let node = map[key] else { return nil }
            if isFormatKnown, options.format != format {
                reader.problems.add(
                    .conflictingKeys,
                    "‘\(key)’ is an option of \(format.rawValue), but the format here is "
                        + options.format.rawValue,
                    at: .key(path, key), node.place)
            }
            return node
        }
        if let quality = option("quality", of: .jpeg, &self),
            let value = integer(
                quality, OutputOptions.qualities, Self.quality, at: .key(path, "quality"))
        {
            options.quality = value
        }
        if let progressive = option("progressive", of: .jpeg, &self) {
            options.progressive =
                boolean(progressive, "‘progressive’", at: .key(path, "progressive"))
                ?? options.progressive
        }
        if let compression = option("compression", of: .png, &self) {
            options.compression =
                word(compression, "‘compression’", at: .key(path, "compression"))
                ?? options.compression
        }
        if let exif = map["exif"] {
            options.keepsExif =
                boolean(exif, "‘exif’", at: .key(path, "exif")) ?? options.keepsExif
        }
        return options
    }
}
