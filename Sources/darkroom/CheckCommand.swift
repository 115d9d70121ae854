import ArgumentParser
import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check manifests: print all errors with their places.",
        discussion: """
            Reads each manifest as darkroomd does, with the limits of the daemon that works on the spool. Pictures are \
            opened only with --sources. A folder is checked as if it were in the inbox: it has one manifest and its \
            pictures, or pictures and a recipe.

            --sources reads the header of each picture, with the daemon's rules for hosts and folders, and fetches at \
            most 64 KiB of each. It prints what will become of each image: its size, the size of its result and the \
            memory that it needs, or why it would fail. Damage after the header is not found. Other files than \
            manifests, and folders without a manifest and a recipe, are pictures then, as for darkroom submit.

            Examples:
              darkroom check holiday.yaml
              generate-manifest | darkroom check -
              darkroom check holiday/
              darkroom check --sources holiday.yaml
              darkroom check --sources *.jpg --filter crop:width=4000,height=3000,x=0,y=0

            Exit status: 0 all are right, 64 the command line is wrong, 65 a manifest has errors or an image would fail, \
            66 a file does not exist, 75 all failures may pass (a server does not answer), 77 no permission.
            """)

    @Argument(
        help: ArgumentHelp(
            "Manifests, or folders with pictures; - is standard input. With --sources also pictures: files or URLs.",
            valueName: "file"),
        completion: .file())
    var files: [String] = []

    @Flag(help: "Look at the headers of the pictures, and tell what would fail.")
    var sources = false

    @OptionGroup var pictures: PictureOptions
    @OptionGroup var list: PictureListOption

    @Option(
        help: ArgumentHelp(
            "With --sources: show progress: tty is drawn again, plain has lines.",
            valueName: "how"))
    var progress = ReadingProgressOptions.Choice.auto

    @Flag(help: "Print JSON Lines: one object for each manifest and each image, then a summary.")
    var json = false

    @OptionGroup var spool: SpoolOptions

    /// The patterns and folders among the sources of a manifest.
    private struct Patterns {
        let count: Int
        /// Those that only the daemon can look up. Their images are not counted.
        let unknown: Int
        /// The files that the others mean.
        let files: Int

        init?(_ manifest: Manifest) {
            count = manifest.found.patterns.count + manifest.unknownSources
            guard count > 0 else { return nil }
            unknown = manifest.unknownSources
            files = manifest.found.patterns.reduce(0) { $0 + $1.files.count }
        }

        var json: JSONObject { ["count": count, "unknown": unknown, "files": files] }

        /// `2 patterns or folders mean 10 files, 1 can only be looked up by the daemon`.
        var words: String {
            var parts: [String] = []
            let known = count - unknown
            let kinds = ("pattern or folder", "patterns or folders")
            if known > 0 {
                parts.append(
                    "\(Words.count(known, kinds.0, kinds.1)) \(known == 1 ? "means" : "mean") "
                        + Words.count(files, "file"))
            }
            if unknown > 0 {
                parts.append(
                    "only the daemon can look up \(Words.count(unknown, kinds.0, kinds.1))")
            }
            return parts.joined(separator: "; ")
        }
    }

    func validate() throws { try list.require(files) }

    func run() throws {
        let report = try? spool.open().queue()
        let rules = ManifestRules(report)
        let inputs = try inputs(rules, report)
        var look: SourcesCheck?
        if sources {
            if report == nil {
                Console.complain(
                    "No darkroomd has reported its settings; the usual ones are assumed.")
            }
            Interruption.advise("The check is not complete.", erasesLine: true)
            look = SourcesCheck(SourceRules(report), json: json, progress: progress.mode)
        }
        // What this user may not read, the daemon may.
        let roots = report?.limits.readableRoots ?? []
        var local = LocalSources(roots: roots, view: nil)
        local.ignored = report?.limits.ignoredNames ?? .standard
        let seen = report.map { SourceRoots($0.limits) }
        var worst = ClientExit.success
        var rejected = 0
        for input in inputs {
            let exit = try check(input, rules, local, seen, &look)
            if exit != .success { rejected += 1 }
            worst = .worst(worst, exit)
        }
        // Failures that may pass matter only if there are no others.
        if let exit = look?.total.exit, exit == .rejected || worst == .success {
            worst = .worst(worst, exit)
        }
        let summary: JSONObject = ["manifests": inputs.count, "rejected": rejected]
        try Console.conclude(worst, json: json ? JSONObject(summary, with: look?.total) : nil)
    }

    private enum Input {
        case path(String)
        /// The manifest of pictures on the command line.
        case made(ManifestFile)
    }

    /// The first file that is not a picture. With `--sources`, a folder that the inbox would not take is one of pictures,
    /// as for `darkroom submit`.
    private func firstManifest(_ rules: ManifestRules) throws(ClientError) -> String? {
        for file in files {
            if ManifestArgument.isManifest(file) { return file }
            guard PictureTree.isFolder(file) else { continue }
            if sources, try !FolderForecast.isJob(file, rules) { continue }
            return file
        }
        return nil
    }

    private func inputs(
        _ rules: ManifestRules, _ report: QueueReport?
    ) throws(ClientError) -> [Input] {
        let manifest = try firstManifest(rules)
        guard sources, manifest == nil else {
            let remedy =
                sources
                ? manifest.map(ManifestArgument.hasItsOwn) ?? "" : "to check them, add --sources"
            try pictures.refuse(list: list.list, remedy: remedy)
            return files.map { .path($0) }
        }
        let job = try pictures.job(.init(files: files, list: list.list), priority: nil, report)
        return [.made(ManifestFile(try job.manifest(), shown: "the manifest"))]
    }

    /// What the daemon would say about a manifest.
    private struct Answer {
        let shown: String
        let outcome: Swift.Result<Manifest, ManifestRejection>
        var pictures: SentPictures?
        /// Which of two files is taken.
        var note: String?

        init(
            _ input: Input, _ rules: ManifestRules, _ local: LocalSources, _ roots: SourceRoots?
        ) throws(ClientError) {
            if case .path(let path) = input, PictureTree.isFolder(path) {
                let folder = try FolderForecast(
                    path: path, rules, finders: local.finderMaker(guesses: true))
                (shown, outcome, pictures) = (folder.shown, folder.outcome, folder.pictures)
                return
            }
            let file: ManifestFile
            var near: NearbySources?
            switch input {
            case .made(let made): file = made
            case .path(let path):
                file = try ManifestFile(path: path, limits: rules.limits)
                near = NearbySources(beside: SubmitRun.folder(of: path), roots: roots)
            }
            shown = file.shown
            let finder = local.finder(guesses: true)
            let read = file.check(rules, finder: near?.finder(before: finder) ?? finder)
            guard let near, case .success(let manifest) = read else {
                outcome = read
                return
            }
            let placement = try near.placement(
                of: manifest.namesRelativeFiles ? file.sources(rules) : [])
            note = placement.note
            outcome = .success(manifest.replacing(placement.changes))
        }
    }

    /// What somebody may have meant by a file that is not a manifest: a list of pictures, or a picture.
    private static func remedy(for path: String) -> String? {
        guard let list = try? PictureList(path: path) else { return "For pictures, add --sources." }
        // A manifest under another name.
        if list.rows.contains(where: { $0.source.hasPrefix("images:") }) { return nil }
        return "For a list of pictures: darkroom check --sources --from \(path.shellQuoted)"
    }

    /// The formats that the programs of this machine cannot write. The daemon may have others.
    private static func absences(_ manifest: Manifest) -> [String] {
        let formats = Set(manifest.images.filter(\.isPublished).map(\.output.format))
        return OutputFormat.allCases.filter(formats.contains).compactMap { format in
            format.absence.map { "\(format.title): \($0.message)" }
        }
    }

    private func check(
        _ input: Input, _ rules: ManifestRules, _ local: LocalSources, _ roots: SourceRoots?,
        _ look: inout SourcesCheck?
    ) throws -> ClientExit {
        let answer: Answer
        do {
            answer = try Answer(input, rules, local, roots)
        } catch {
            guard case .path(let path) = input else { throw error }
            var error = error
            if error.code == "not-a-manifest" { error.remedy = Self.remedy(for: path) }
            guard json else {
                Console.complain(error)
                return error.exit
            }
            try Console.json([
                "type": "manifest", "file": FileName(path).text, "message": error.message,
                "remedy": error.remedy,
            ])
            return error.exit
        }
        switch answer.outcome {
        case .success(let manifest):
            let forecast = try look?.check(manifest, of: answer.shown, sent: answer.pictures)
            let warnings = manifest.warnings + Self.absences(manifest)
            let uncounted = manifest.uncountedSources
            let patterns = Patterns(manifest)
            let images = manifest.images.count
            guard !json else {
                let told = warnings + [answer.note].compactMap(\.self)
                let result: JSONObject = [
                    "type": "manifest", "file": answer.shown, "images": images,
                    "patterns": patterns?.json,
                    "uncounted": uncounted > 0 ? uncounted : nil,
                    "warnings": told.isEmpty ? nil : told,
                ]
                // Its count of images is that of the manifest.
                try Console.json(JSONObject(result, with: forecast))
                return .success
            }
            let words = forecast?.words ?? Words.count(images, "image")
            var line = patterns.map { images == 0 ? $0.words : "\(words); \($0.words)" } ?? words
            if uncounted > 0 {
                line +=
                    "; only the daemon can count the pages of \(Words.count(uncounted, "source"))"
            }
            try Console.sentence("\(answer.shown): \(line)", keeping: [answer.shown])
            for warning in warnings { Console.problem("\(answer.shown): warning: \(warning)") }
            if let note = answer.note { Console.problem("\(answer.shown): note: \(note)") }
            return .success
        case .failure(let rejection):
            let refused = RefusedManifest(shown: answer.shown, problems: rejection.problems)
            if json { try Console.json(refused.line) } else { refused.complain() }
            return .rejected
        }
    }
}
