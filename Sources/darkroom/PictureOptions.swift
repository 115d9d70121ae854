import ArgumentParser
import DarkroomClient
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

/// What to do with pictures that are named on the command line.
struct PictureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use the filters and the format of a recipe. darkroom recipes lists them.",
            valueName: "name"),
        completion: RecipeCompletion.names)
    var recipe: String?

    @Option(
        name: .customLong("filter"),
        help: ArgumentHelp(
            "A filter: NAME, NAME=VALUE or NAME:KEY=VALUE,KEY=VALUE. The option may be repeated; the filters are applied in this order. Without it, pictures are only converted. darkroom-manifest(5) lists the filters.",
            valueName: "filter"),
        completion: .list(FilterCatalog.all.map(\.name)))
    var filters: [String] = []

    @Option(
        name: .customLong("watermark"),
        help: ArgumentHelp(
            "Lay this picture over the lower right corner of each picture. It is an image of the batch without an output.",
            valueName: "logo"),
        completion: .file())
    var watermarks: [String] = []

    @Option(
        help: ArgumentHelp(
            "The format of the results: png or jpeg. If not given: png.", valueName: "format"),
        completion: .list(OutputFormat.allCases.map(\.rawValue)))
    var format: String?

    @Option(
        help: ArgumentHelp("The quality of JPEG results, 1 to 100.", valueName: "number"))
    var quality: Int?

    @Option(
        help: ArgumentHelp(
            "What becomes of damaged pictures: fail, or keep what can be read of them, with a warning. If not given: fail.",
            valueName: "rule"),
        completion: .list(DamagedRule.allCases.map(\.rawValue)))
    var damaged: String?

    /// Whether any of the options is given.
    var isEmpty: Bool {
        recipe == nil && filters.isEmpty && watermarks.isEmpty && format == nil && quality == nil
            && damaged == nil
    }

    /// The pictures with these options.
    ///
    /// - Parameters:
    ///   - page: whether the daemon makes a page.
    ///   - report: the daemon's last report, if there is one.
    ///   - usualFormat: the format of the results if the options have none.
    ///   - mayBeGone: whether the files need not exist any more.
    func job(
        _ files: [String], priority: Priority?, page: Bool = false, _ report: QueueReport?,
        usualFormat: OutputFormat? = nil, mayBeGone: Bool = false
    ) throws(ClientError) -> PictureJob {
        if recipe != nil, !filters.isEmpty || !watermarks.isEmpty {
            throw ClientError(
                .usage, code: "bad-option",
                "--recipe has filters of its own; leave out --filter and --watermark")
        }
        var job = PictureJob([])
        job.recipe = recipe
        job.filters = try filters.map { text throws(ClientError) in try FilterText(text) }
        job.format = try chosenFormat() ?? usualFormat
        if let damaged { job.damaged = try Words.choice(damaged, of: "--damaged") }
        job.quality = try checkedQuality(job.format)
        job.priority = priority
        job.wantsPage = page ? true : nil
        job.roots = report.map { SourceRoots($0.limits) }
        for file in files {
            if ManifestArgument.isManifest(file) {
                throw ClientError(
                    .usage, code: "not-a-picture",
                    "\(FileName(file).text): it is a manifest, not a picture")
            }
            job.pictures.append(try source(file, mayBeGone))
        }
        guard watermarks.count <= 1 else {
            throw ClientError(
                .usage, code: "bad-option",
                "--watermark may be given once. For more pictures, write --filter watermark:from=FILE,gravity=northWest"
            )
        }
        if let watermark = watermarks.first {
            job.watermark = try PictureSource(watermark, mayBeGone: mayBeGone)
        }
        return job
    }

    /// A number that is no file belongs to the filter before it.
    private func source(
        _ file: String, _ mayBeGone: Bool
    ) throws(ClientError) -> PictureSource {
        do {
            return try PictureSource(file, mayBeGone: mayBeGone)
        } catch {
            guard error.exit == .missing, Double(file) != nil,
                let filter = filters.last(where: { !$0.contains("=") && !$0.contains(":") })
            else { throw error }
            throw ClientError(
                error.exit, code: error.code, error.message,
                remedy: "Did you mean --filter \(filter)=\(file)?")
        }
    }

    private func chosenFormat() throws(ClientError) -> OutputFormat? {
        guard let format else { return nil }
        let word = ByteString(format).asciiLowercased.string
        return try Words.choice(word, of: "--format", ["jpg": .jpeg])
    }

    private func checkedQuality(_ format: OutputFormat?) throws(ClientError) -> Int? {
        guard let quality else { return nil }
        guard format == .jpeg || format == nil && recipe != nil else {
            throw ClientError(
                .usage, code: "bad-option", "--quality is for JPEG: add --format jpeg")
        }
        guard OutputOptions.qualities.contains(quality) else {
            throw ClientError(
                .usage, code: "bad-option", "--quality \(quality): write a number from 1 to 100")
        }
        return quality
    }
}

/// The option of commands that make or submit manifests.
struct PriorityOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The priority: \(Words.list(Priority.allCases.map(\.rawValue), "or")).",
            valueName: "priority"),
        completion: .list(Priority.allCases.map(\.rawValue)))
    var priority: String?

    func value() throws(ClientError) -> Priority? {
        guard let priority else { return nil }
        return try Words.choice(priority, of: "--priority")
    }
}

/// The option of commands that make or submit manifests for a daemon.
struct PageOption: ParsableArguments {
    @Flag(
        help:
            "Have the daemon make a page of the batch, beside its results; the key page of the manifest."
    )
    var page = false
}

extension Words {
    /// The value with this name, or an error that names the nearest one.
    static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ word: String, of option: String, _ others: [String: Choice] = [:]
    ) throws(ClientError) -> Choice {
        if let choice = Choice(rawValue: word) ?? others[word] { return choice }
        let names = Choice.allCases.map(\.rawValue)
        let hint =
            Suggestion.nearest(to: word, among: names).map { "; did you mean ‘\($0)’?" }
            ?? ": write \(list(names, "or"))"
        throw ClientError(
            .usage, code: "unknown-value", "\(option) \(FileName(word).text): unknown\(hint)")
    }
}

/// What an argument of `submit` means.
enum ManifestArgument {
    /// Whether it is a manifest, by its name. A URL always names a picture.
    static func isManifest(_ argument: String) -> Bool {
        if argument == ManifestFile.standardInput { return true }
        return !argument.contains("://") && ManifestFormat(fileName: argument) != nil
    }
}
