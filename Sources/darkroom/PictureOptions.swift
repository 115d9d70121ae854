import ArgumentParser
import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import Glibc
import SystemPackage

/// What to do with pictures that are named on the command line.
struct PictureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use the filters and the format of a recipe. darkroom recipes lists them.",
            valueName: "name"),
        completion: SpoolCompletion.recipes)
    var recipe: String?

    @Option(
        name: .customLong("filter"),
        help: ArgumentHelp(
            "Apply a filter: NAME, NAME=VALUE or NAME:KEY=VALUE,KEY=VALUE. May be repeated; the filters are applied in this order. Without it, pictures are only converted. darkroom-manifest(5) lists the filters.",
            valueName: "filter"),
        completion: .list(FilterCatalog.all.map(\.name)))
    var filters: [String] = []

    @Option(
        name: .customLong("watermark"),
        help: ArgumentHelp(
            "Lay this picture over the lower right corner of each picture, or LOGO:KEY=VALUE,KEY=VALUE with the keys scale (a share of the width), margin (pixels), position (such as northWest), opacity. It is an image of the batch without an output.",
            valueName: "logo"),
        completion: .file())
    var watermarks: [String] = []

    @Option(
        help: ArgumentHelp(
            "Make a result of each of these sizes, such as 400,800,1600: widths, or boxes such as 400x300. Their names end in -400 and so on. No picture is enlarged. May be repeated.",
            valueName: "list"))
    var sizes: [String] = []

    @OptionGroup var output: OutputArguments

    @Option(
        help: ArgumentHelp(
            "Give the results paths by this template, such as '{name}-{sha8}.{ext}' or '{folder}/{stem}.{ext}', of \(Words.list(NameTemplate.Placeholder.allCases.map { "{\($0.rawValue)}" }, "and")). {folder} has the folders between a named folder and the picture.",
            valueName: "template"))
    var outputName: String?

    @Option(
        help: ArgumentHelp(
            "Use this page of each picture, a TIFF: 1 is the first. If not given: the first, with a warning if there are others.",
            valueName: "number"))
    var sourcePage: Int?

    @Option(
        help: ArgumentHelp(
            "Make images of these pages of a TIFF: all, or first. Their names end in -1, -2 and so on. A URL has one image, of its first page. If not given: first.",
            valueName: "rule"),
        completion: .list(PageRule.allCases.map(\.rawValue)))
    var pages: String?

    @Option(
        help: ArgumentHelp(
            "Treat damaged pictures by this rule: fail, or keep what can be read of them, with a warning. If not given: fail.",
            valueName: "rule"),
        completion: .list(DamagedRule.allCases.map(\.rawValue)))
    var damaged: String?

    @Flag(
        help:
            "Let pictures fail that would get a warning, such as for bytes after the end of a picture."
    )
    var strict = false

    /// Refuses the options of pictures beside a manifest. The error names the first one.
    ///
    /// - Parameters:
    ///   - list: the value of `--from`.
    ///   - remedy: what to do, if the options are to stay.
    func refuse(list: String?, remedy: String) throws(ClientError) {
        let given = [
            recipe.map { _ in "--recipe" }, filters.first.map { _ in "--filter" },
            watermarks.first.map { _ in "--watermark" }, sizes.first.map { _ in "--sizes" },
            output.firstOption, outputName.map { _ in "--output-name" },
            sourcePage.map { _ in "--source-page" },
            pages.map { _ in "--pages" }, damaged.map { _ in "--damaged" },
            strict ? "--strict" : nil,
            list.map { _ in "--from" },
        ]
        guard let option = given.compactMap(\.self).first else { return }
        throw .badOption("\(option) is for pictures; \(remedy)")
    }

    struct Input {
        /// Files, URLs and folders.
        var files: [String]
        var list: String?
        /// The folder of the results, whose pictures are no sources.
        var results: String?
        /// Whether the files need not exist any more.
        var mayBeGone = false
        /// The names that no folder has; nil for those of the daemon.
        var ignored: IgnoredNames?
    }

    /// The pictures with these options.
    ///
    /// - Parameters:
    ///   - page: whether the daemon makes a page.
    ///   - report: the daemon's last report, if there is one.
    ///   - usualFormat: the format of the results if the options have none.
    func job(
        _ input: Input, priority: Priority?, page: Bool = false, _ report: QueueReport?,
        usualFormat: OutputFormat? = nil
    ) throws(ClientError) -> PictureJob {
        if recipe != nil, !filters.isEmpty || !watermarks.isEmpty {
            throw .badOption("--recipe has filters of its own; leave out --filter and --watermark")
        }
        var job = PictureJob([])
        job.recipe = recipe
        job.filters = try filters.map { text throws(ClientError) in try FilterText(text) }
        job.sizes = try sizes.isEmpty ? [] : SizeText.list(sizes.joined(separator: ","))
        try output.apply(to: &job, usualFormat: usualFormat)
        job.outputName = try outputName.map { text throws(ClientError) in
            do throws(NameTemplate.Fault) {
                return try NameTemplate(text)
            } catch {
                throw .badOption("--output-name \(FileName(text).text): it \(error.words)")
            }
        }
        try addPages(to: &job)
        if let damaged { job.damaged = try Words.choice(damaged, of: "--damaged") }
        job.isStrict = strict
        job.priority = priority
        job.wantsPage = page ? true : nil
        job.roots = report.map { SourceRoots($0.limits) }
        let ignored = input.ignored ?? report?.limits.ignoredNames ?? .standard
        try add(input, ignoring: ignored, to: &job)
        guard watermarks.count <= 1 else {
            throw .badOption(
                "--watermark may be given once. For more pictures, write --filter watermark:from=FILE,gravity=northWest"
            )
        }
        if let watermark = watermarks.first {
            job.watermark = try WatermarkText(watermark, mayBeGone: input.mayBeGone)
        }
        return job
    }

    private func addPages(to job: inout PictureJob) throws(ClientError) {
        if let sourcePage {
            guard pages == nil else {
                throw .badOption("--source-page and --pages exclude each other")
            }
            guard (1...TIFFPages.most).contains(sourcePage) else {
                throw .badOption(
                    "--source-page \(sourcePage): write a number from 1 to \(TIFFPages.most)")
            }
            job.sourcePage = sourcePage
        }
        guard let pages else { return }
        if let number = Int(pages), number > 0 {
            throw .badOption("--pages \(number): write --source-page \(number) for one page")
        }
        job.pages = try Words.choice(pages, of: "--pages")
    }

    private func add(
        _ input: Input, ignoring ignored: IgnoredNames, to job: inout PictureJob
    ) throws(ClientError) {
        for file in input.files {
            if ManifestArgument.isManifest(file) {
                throw ClientError(
                    .usage, code: "not-a-picture",
                    "\(FileName(file).text): it is a manifest, not a picture")
            }
            if PictureList.isOne(file) {
                throw ClientError(
                    .usage, code: "not-a-picture",
                    "\(FileName(file).text): it is a list of pictures, not a picture",
                    remedy: "Name a list with --from: --from \(file.shellQuoted)")
            }
            if PictureTree.isOne(file) {
                let content = try PictureTree(file).content(
                    ignoring: ignored, without: input.results)
                job.pictures += content.pictures
                if let remark = content.remark { Console.complain(remark) }
            } else {
                job.pictures.append(try source(file, input.mayBeGone))
            }
        }
        if let list = input.list {
            job.pictures += try PictureList(path: list).pictures(mayBeGone: input.mayBeGone)
        }
        job.title = Self.title(input)
    }

    /// The name of the only folder, or of the list.
    private static func title(_ input: Input) -> String? {
        if let list = input.list, input.files.isEmpty {
            return list == ManifestFile.standardInput
                ? nil : SubmissionName.of(FileName(FilePath(list).lastComponent?.string ?? ""))
        }
        guard input.list == nil, input.files.count == 1, PictureTree.isOne(input.files[0])
        else { return nil }
        return input.files[0].realPath.flatMap { FilePath($0).lastComponent }.map {
            SubmissionName.usable($0.string)
        }
    }

    /// A number that is no file belongs to the filter before it.
    private func source(_ file: String, _ mayBeGone: Bool) throws(ClientError) -> PictureSource {
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
}

/// The option of commands that take many pictures.
struct PictureListOption: ParsableArguments {
    @Option(
        name: .customLong("from"),
        help: ArgumentHelp(
            "Take the pictures of a list, too: one file or URL a line, or CSV whose first line names the columns source and name; - is standard input.",
            valueName: "list"), completion: .file())
    var list: String?

    func require(_ files: [String]) throws {
        guard files.isEmpty, list == nil else { return }
        throw ValidationError("Missing expected argument '<file> ...'")
    }
}

/// The option of commands that make or submit manifests.
struct PriorityOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Give the batch this priority: \(Words.list(Priority.allCases.map(\.rawValue), "or")).",
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
        if Choice.self == FormatChoice.self, let kind = OutputFormat.unwritten(word) {
            throw ClientError(
                .usage, code: "unknown-value",
                "\(option) \(FileName(word).text): darkroom does not write \(kind): write \(list(names, "or"))"
            )
        }
        let hint =
            Suggestion.nearest(to: word, among: names).map { "; did you mean ‘\($0)’?" }
            ?? ": write \(list(names, "or"))"
        throw ClientError(
            .usage, code: "unknown-value", "\(option) \(FileName(word).text): unknown\(hint)")
    }
}
