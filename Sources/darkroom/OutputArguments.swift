import ArgumentParser
import DarkroomClient
import DarkroomCore
import DarkroomPicture

/// How the results of pictures that are named on the command line are written.
struct OutputArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write the results in this format: \(Words.list(OutputFormat.allCases.map(\.rawValue), "or")); or source, for that of each picture by its extension. If not given: png, also for JPEG pictures; thumbnails of photographs are smaller in jpeg.",
            valueName: "format"),
        completion: .list(FormatChoice.words))
    var format: String?

    @Option(
        help: ArgumentHelp(
            "Set the quality of \(Self.titles(.quality)) results, 1 to 100. If not given: 85; 75 for AVIF.",
            valueName: "number"))
    var quality: Int?

    @Option(
        help: ArgumentHelp(
            "Limit each \(Self.titles(.maxBytes)) result to this many bytes, such as 200KiB: its quality is chosen by trials; --quality is then the highest one.",
            valueName: "size"))
    var maxBytes: String?

    @Option(
        help: ArgumentHelp(
            "Give each \(Self.titles(.target)) result the lowest quality with which it has this similarity (SSIM) to the filtered picture, 0.5 to 1, such as 0.98.",
            valueName: "number"))
    var ssim: Double?

    @Flag(
        help: ArgumentHelp("Keep exactly the filtered pixels in \(Self.titles(.lossless)) results.")
    )
    var lossless = false

    @Option(
        help: ArgumentHelp(
            "Set the effort for \(Self.titles(.effort)) results, from 0, the fastest, to 10, the smallest.",
            valueName: "number"))
    var effort: Int?

    @Option(
        help: ArgumentHelp(
            "Set the bits per sample: 8, 10 or 12 for AVIF, at most 8 or 16 for TIFF and JPEG XL.",
            valueName: "bits"))
    var depth: Int?

    @Option(
        help: ArgumentHelp(
            "Set the resolution of colour in AVIF results: 4:2:0, a half, or 4:4:4, the whole.",
            valueName: "chroma"),
        completion: .list(PictureOutput.Chroma.allCases.map(\.rawValue)))
    var chroma: String?

    @Option(
        help: ArgumentHelp(
            "Set the compression: \(Words.list(PictureOutput.PNGCompression.allCases.map(\.rawValue), "or")) for PNG; \(Words.list(PictureOutput.TIFFCompression.allCases.map(\.rawValue), "or")) for TIFF.",
            valueName: "word"),
        completion: .list(
            PictureOutput.PNGCompression.allCases.map(\.rawValue)
                + PictureOutput.TIFFCompression.allCases.map(\.rawValue)))
    var compression: String?

    @Option(
        help: ArgumentHelp(
            "Set the colour space of the results: \(OutputProfile.allCases.filter { $0 != .keep }.map(\.rawValue).joined(separator: ", ")), or keep for that of each picture.",
            valueName: "space"),
        completion: .list(OutputProfile.allCases.map(\.rawValue)))
    var profile: String?

    @Option(
        help: ArgumentHelp(
            "Keep this of the metadata, such as copyright,-gps: all, or some of \(Words.list(MetadataChoice.Item.allCases.map(\.rawValue), "and")); -gps leaves out where the picture was taken. If not given: none.",
            valueName: "list"),
        completion: .list(
            ["none", "all", "all,-gps"] + MetadataChoice.Item.allCases.map(\.rawValue)))
    var metadata: String?

    private static func titles(_ option: OutputOption) -> String {
        Words.list(option.formats.map(\.title), "and")
    }

    /// The options that are given, of those that only some formats have.
    private var given: [OutputOption] {
        let all: [OutputOption?] = [
            quality.map { _ in .quality }, maxBytes.map { _ in .maxBytes },
            ssim.map { _ in .target }, lossless ? .lossless : nil, effort.map { _ in .effort },
            depth.map { _ in .depth }, chroma.map { _ in .chroma },
            compression.map { _ in .compression },
        ]
        return all.compactMap(\.self)
    }

    /// The first one that is given: `--format`.
    var firstOption: String? {
        format.map { _ in "--format" } ?? given.first?.argument
            ?? profile.map { _ in "--profile" }
            ?? metadata.map { _ in "--metadata" }
    }

    /// Checks them, and adds them to what is done with the pictures.
    ///
    /// - Parameter usualFormat: the format of the results if the options have none.
    func apply(to job: inout PictureJob, usualFormat: OutputFormat?) throws(ClientError) {
        job.format = try chosenFormat() ?? usualFormat.map(FormatChoice.format)
        // A recipe may say the format, or each source.
        let choice = job.format ?? (job.recipe == nil ? .format(.png) : nil)
        let format = choice?.format
        if let format {
            for option in given where !option.formats.contains(format) {
                throw .badOption(
                    "\(option.argument) is for \(Self.titles(option)): add --format"
                        + " \(option.formats[0].rawValue)")
            }
        }
        let quality = try Self.checked("quality", quality, OutputOptions.qualities)
        let maxBytes = try checkedBudget()
        let ssim = try checkedSimilarity()
        let effort = try Self.checked("effort", effort, OutputOptions.efforts)
        let depth = try checkedDepth(choice)
        let metadata = try checkedMetadata()
        let chroma = try Self.word(chroma, as: PictureOutput.Chroma.self, of: "--chroma")
        let profile = try Self.word(profile, as: OutputProfile.self, of: "--profile")
        job.output = ManifestValue.entries([
            "quality": quality.map { .integer($0) },
            "maxBytes": maxBytes.map { .text(Quantity.text(bytes: $0)) },
            "target": ssim.map { .map("ssim", .number($0)) },
            "lossless": lossless ? .boolean(true) : nil, "effort": effort.map { .integer($0) },
            "depth": depth.map { .integer($0) }, "chroma": chroma.map { .text($0) },
            "compression": try checkedCompression(choice).map { .text($0) },
            "profile": profile.map { .text($0) },
            "metadata": metadata.isEmpty ? nil : .list(metadata.map { .text($0) }),
        ])
    }

    /// A word of manifests; nil if it is not given.
    private static func word<Choice: RawRepresentable<String> & CaseIterable>(
        _ word: String?, as _: Choice.Type, of option: String
    ) throws(ClientError) -> String? {
        guard let word else { return nil }
        let choice: Choice = try Words.choice(word, of: option)
        return choice.rawValue
    }

    private func chosenFormat() throws(ClientError) -> FormatChoice? {
        guard let format else { return nil }
        let word = ByteString(format).asciiLowercased.string
        return try Words.choice(word, of: "--format", FormatChoice.aliases)
    }

    /// Each source may have a format of its own. The reader of manifests says which formats have no compression.
    private func checkedCompression(_ choice: FormatChoice?) throws(ClientError) -> String? {
        let isOfTIFF = compression.flatMap { PictureOutput.TIFFCompression(rawValue: $0) } != nil
        if choice?.format == .tiff || choice == .source && isOfTIFF {
            return try Self.word(
                compression, as: PictureOutput.TIFFCompression.self, of: "--compression")
        }
        guard choice?.format == .png || choice == .source else { return compression }
        return try Self.word(
            compression, as: PictureOutput.PNGCompression.self, of: "--compression")
    }

    private static func checked(
        _ name: String, _ value: Int?, _ range: ClosedRange<Int>
    ) throws(ClientError) -> Int? {
        guard let value, !range.contains(value) else { return value }
        throw .badOption(
            "--\(name) \(value): write a number from \(range.lowerBound) to \(range.upperBound)")
    }

    private func checkedBudget() throws(ClientError) -> Int? {
        guard let maxBytes else { return nil }
        try refuseLossless(.maxBytes)
        if let bytes = Quantity.bytes(maxBytes), OutputOptions.budgets.contains(bytes) {
            return bytes
        }
        let correction = Quantity.correctedSize(maxBytes).map { "; did you mean \($0)?" } ?? ""
        throw .badOption(
            "--max-bytes \(FileName(maxBytes).text): write a number of bytes such as 200000, 200KiB or"
                + " 1.5MiB\(correction)")
    }

    private func checkedSimilarity() throws(ClientError) -> Double? {
        guard let ssim else { return nil }
        try refuseLossless(.target)
        let range = OutputOptions.similarities
        if range.contains(ssim) { return ssim }
        throw .badOption(
            "--ssim \(ssim): write a number from \(range.lowerBound.briefly) to"
                + " \(range.upperBound.briefly), such as 0.98")
    }

    private func refuseLossless(_ option: OutputOption) throws(ClientError) {
        guard lossless else { return }
        throw .badOption("\(option.argument) chooses a quality, and --lossless has none")
    }

    private func checkedMetadata() throws(ClientError) -> [String] {
        guard let metadata else { return [] }
        let words = try metadata.split(separator: ",", omittingEmptySubsequences: false).map {
            (word) throws(ClientError) -> MetadataChoice.Word in
            try Words.choice(String(word), of: "--metadata")
        }
        if let mismatch = MetadataChoice.mismatch(of: words) {
            throw .badOption("--metadata \(metadata): it \(mismatch)")
        }
        return words.map(\.rawValue)
    }

    private func checkedDepth(_ choice: FormatChoice?) throws(ClientError) -> Int? {
        guard let depth, let choice else { return depth }
        let depths = choice.format.map(OutputOption.depths) ?? OutputOption.allDepths
        if depths.contains(depth) { return depth }
        throw .badOption("--depth \(depth): write \(Words.list(depths.map { "\($0)" }, "or"))")
    }
}

extension OutputOption {
    /// On the command line.
    fileprivate var argument: String {
        switch self {
        case .maxBytes: "--max-bytes"
        case .target: "--ssim"
        default: "--\(rawValue)"
        }
    }
}
