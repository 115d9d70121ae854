import DarkroomCore
import DarkroomPicture

extension ValueReader {
    static let outputKeys: [ByteString] = [
        "format", "quality", "progressive", "compression", "exif",
    ]

    private static let quality = FilterParameter.integer(
        "quality", OutputOptions.qualities, required: false)

    /// A text that is no format. The message says which formats there are, and not only that it must be a map.
    private mutating func unknownFormat(
        _ text: ByteString, _ rule: String, _ node: Document.Node, at path: DocumentPath
    ) {
        let formats = OutputFormat.allCases.map(\.rawValue)
        let meant = Suggestion.meant(by: text, among: formats.lazy.map { ByteString($0) })
        let kind = OutputFormat.unwritten(text.string)
        let none = text == "false" ? "; for no file, write ‘publish: false’ instead" : nil
        let advice =
            none ?? kind.map { "; darkroom does not write \($0)" }
            ?? meant.map { Self.advice(.text(ByteString($0)), notation, at: path) } ?? ""
        problems.add(
            .unknownValue, "\(rule), found ‘\(text.shortened)’\(advice)", at: path, node.place,
            suggestion: kind == nil ? meant : nil)
    }

    private static let formatWords = OutputFormat.allCases.map(\.rawValue).joined(or: "or")

    /// The format with this name. `jpg` is another name of `jpeg`.
    private static func format(_ text: ByteString) -> OutputFormat? {
        text == "jpg"
            ? .jpeg : OutputFormat.allCases.first { ByteString($0.rawValue) == text }
    }

    /// The value of `format`.
    private mutating func format(
        _ node: Document.Node, at path: DocumentPath
    ) -> OutputFormat? {
        if let known = node.text.flatMap(Self.format) { return known }
        guard let text = node.text, OutputFormat.unwritten(text.string) != nil else {
            return word(node, "‘format’", at: path)
        }
        unknownFormat(text, "‘format’ must be \(Self.formatWords)", node, at: path)
        return nil
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
        if let text = node.text {
            unknownFormat(
                text, "‘output’ must be \(Self.formatWords), or a map", node, at: path)
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
