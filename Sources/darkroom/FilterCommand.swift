import ArgumentParser
import DarkroomClient
import DarkroomConfiguration
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomRun
import Glibc

struct FilterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "filter",
        abstract: "Filter one picture from standard input to standard output.",
        discussion: """
            Nothing is written before the picture is complete: a failure leaves no part of a picture. With -o, an \
            existing file is replaced on success and not changed on failure. Without --format, the ending of this file \
            chooses the format.

            Examples:
              darkroom filter --filter sepia=0.8 --format jpeg <in.png >out.jpg
              curl -s https://example.com/a.jpg | darkroom filter --filter mono >a.png
              darkroom filter photo.jpg --filter thumbnail=1600 -o small.jpg
              darkroom filter photo.jpg -o photo.png
              darkroom filter --source-page 2 scan.tiff -o second.png

            Exit status: 0 filtered, 3 the picture cannot be filtered, 64 the command line is wrong, 65 the options would be rejected, 66 a file \
            does not exist, 71 /proc is not mounted, 73 the file of the result cannot be created, 74 the disk is full or broken, 77 a file may not be read, \
            78 the configuration is wrong.
            """)

    @Argument(
        help: ArgumentHelp(
            "The picture; - is standard input. If not given: standard input.", valueName: "file"),
        completion: .file())
    var file: String?

    @OptionGroup var pictures: PictureOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write the result into this file; - is standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "With -o: print one JSON object about the result.")
    var json = false

    @OptionGroup var engine: EngineOptions

    private static let needsFile =
        "--json needs -o FILE: without it, standard output has the picture"

    func validate() throws {
        if json, target == nil { throw ValidationError(Self.needsFile) }
    }

    private func report(_ filtered: SinglePicture.Filtered, _ output: String) -> JSONObject {
        let warnings: [JSONObject] = filtered.warnings.map {
            // The picture, or one that is laid over it.
            ["picture": $0.picture, "message": $0.text]
        }
        let report = filtered.report
        return [
            "type": "filter", "output": output, "format": report.format.rawValue,
            "width": report.width, "height": report.height, "bytes": report.bytes,
            "quality": report.chosen?.quality, "ssim": report.chosen?.ssim,
            "warnings": warnings.isEmpty ? nil : warnings, "exit": ClientExit.success.rawValue,
        ]
    }

    private var isInput: Bool { file == nil || file == ManifestFile.standardInput }

    /// The file of the result; nil for standard output.
    private var target: String? { output == "-" ? nil : output }

    func run() throws {
        // A closed pipe is an error of a write, which ends the command quietly.
        signal(SIGPIPE, SIG_IGN)
        let loaded = try engine.load()
        try refuseUnusable()
        let picture = SinglePicture(try manifest(loaded), loaded)
        guard let target else {
            Self.tell(try filterToOutput(picture, STDOUT_FILENO).warnings)
            return
        }
        let filtered =
            try Self.isSpecial(target)
            ? filterToSpecial(picture, target) : filterToFile(picture, target)
        Self.tell(filtered.warnings)
        if json { try Console.json(report(filtered, target)) }
    }

    private static func tell(_ warnings: [SinglePicture.Warning]) {
        for warning in warnings { Console.problem("\(warning.picture): warning: \(warning.text)") }
    }

    private func filterToFile(
        _ picture: SinglePicture, _ target: String
    ) throws(ClientError) -> SinglePicture.Filtered {
        let result = try asClientError(.cannotCreate, ResultFile(path: target))
        let filtered = try check(
            picture.filter(input(), named: name, to: result.file, named: target))
        try asClientError(.ioError, result.publish())
        return filtered
    }

    /// Whether it is a device, a pipe or a socket, which no file may replace.
    private static func isSpecial(_ path: String) -> Bool {
        stat(path: path)?.isRegularFile == false
    }

    /// Writes the complete picture into a device or a pipe, as into standard output.
    private func filterToSpecial(
        _ picture: SinglePicture, _ path: String
    ) throws(ClientError) -> SinglePicture.Filtered {
        let file: Descriptor
        do {
            file = try Descriptor(opening: path, O_WRONLY | O_NOCTTY)
        } catch {
            throw ClientError(
                .cannotCreate, code: "cannot-open",
                "-o \(path.shellQuoted): opening it: \(error.errno)")
        }
        if json, Self.isStandardOutput(file) { throw .badOption(Self.needsFile) }
        return try filterToOutput(picture, file.number)
    }

    /// Whether a file is the device or the pipe that is standard output, under another name.
    private static func isStandardOutput(_ file: borrowing Descriptor) -> Bool {
        guard let one = stat(of: file.number), let other = stat(of: STDOUT_FILENO)
        else { return false }
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino
    }

    private func refuseUnusable() throws(ClientError) {
        if let target, target.isEmpty || target.hasSuffix("/") || PictureTree.isFolder(target) {
            throw ClientError(
                .cannotCreate, code: "not-a-file",
                "-o \(target.shellQuoted): it is a folder. Name a file in it")
        }
        if isInput, isatty(STDIN_FILENO) == 1 {
            throw ClientError(
                .usage, code: "terminal",
                "Standard input is a terminal. Name a picture, or write <picture.png")
        }
        if target == nil, isatty(STDOUT_FILENO) == 1 {
            throw ClientError(
                .usage, code: "terminal",
                "Standard output is a terminal. Name a file with -o, or write >picture.png")
        }
    }

    /// The manifest that `submit` would make of these options.
    private func manifest(_ loaded: ConfigurationLoader.Loaded) throws -> Manifest {
        var job = try pictures.job(.init(files: []), priority: nil, nil, usualFormat: usualFormat())
        if isInput, job.format == .source {
            throw ClientError.badOption(
                "--format source is told by the name of a file, and standard input has none: write"
                    + " \(Words.list(OutputFormat.allCases.map(\.rawValue), "or"))")
        }
        job.pictures = [try isInput ? .standardInput : PictureSource(file ?? "")]
        guard job.pictures[0].path != nil else {
            throw ClientError(
                .usage, code: "not-a-file",
                "\(FileName(file ?? "").text): filter reads files. darkroom run downloads pictures."
            )
        }
        guard job.pages != .all else {
            throw ClientError.badOption(
                "--pages all makes several pictures, and filter writes one. Choose a page with --source-page, or let "
                    + "darkroom run write all of them")
        }
        guard job.outputName == nil else {
            throw ClientError.badOption(
                "--output-name is for commands that write several pictures. Name the result with -o"
            )
        }
        let text = ManifestFile(try job.manifest(), shown: "the picture")
        // It writes its result to one place, whatever the recipe says.
        var rules = loaded.manifestRules
        rules.limits.delivery = nil
        let manifest = try text.manifest(rules)
        guard manifest.images.allSatisfy({ $0.variant == nil }) else {
            let cause =
                pictures.sizes.isEmpty
                ? "--recipe \(FileName(pictures.recipe ?? "").text): it has variants"
                : "--sizes makes several pictures"
            throw ClientError.badOption(
                "\(cause), and filter writes one picture. darkroom run writes all of them")
        }
        if let format = manifest.images.last?.output.format, let absence = format.absence {
            throw ClientError(
                .completedWithErrors, code: absence.code, "\(format.title): \(absence.message)")
        }
        return manifest
    }

    /// The format that the extension of the result's file means; nil if it means none, or an option says it.
    ///
    /// - Throws: if the file has the extension of another format, and no option says which one it gets.
    private func usualFormat() throws(ClientError) -> OutputFormat? {
        guard let target, pictures.output.format == nil, pictures.recipe == nil else { return nil }
        let name = ByteString(target).asciiLowercased.string
        let format = OutputFormat.allCases.first { $0.endings.contains(where: name.hasEnding) }
        guard format == nil, PictureFileExtensions.match(name) else { return format }
        throw .badOption(
            "-o \(target.shellQuoted): results are"
                + " \(Words.list(OutputFormat.allCases.map(\.title), "or")). Let the name end in"
                + " \(Words.list(OutputFormat.allCases.map { $0.endings[0] }, "or")), or add"
                + " --format"
        )
    }

    private var name: String { isInput ? "standard input" : FileName(file ?? "").text }

    private func input() throws(ClientError) -> Descriptor {
        try asClientError(
            isInput
                ? .standardInput(shown: name) : Descriptor(opening: file ?? "", shown: name))
    }

    private func check(
        _ result: Result<SinglePicture.Filtered, Failure>
    ) throws(ClientError) -> SinglePicture.Filtered {
        do {
            return try result.get()
        } catch {
            // A result that cannot be written is not the picture's fault: it may be larger than ulimit -f allows.
            let isOfPicture =
                error.storageFailure == nil && error.code != PictureError.Code.writeFailed.rawValue
            throw ClientError(
                isOfPicture ? .completedWithErrors : .ioError, code: error.code,
                "\(error.message) [\(error.code)]")
        }
    }

    /// Standard output gets the picture when it is complete.
    private func filterToOutput(
        _ picture: SinglePicture, _ output: CInt
    ) throws(ClientError) -> SinglePicture.Filtered {
        let result = try asClientError(UnnamedFile.make())
        let filtered = try check(
            picture.filter(input(), named: name, to: result.file, named: "standard output"))
        lseek(result.number, 0, SEEK_SET)
        while true {
            let piece = try asClientError(
                result.readAll(upTo: (1 << 20) - 1, path: "the temporary file"))
            if piece.isEmpty { return filtered }
            try Console.write(bytes: piece, to: output)
        }
    }
}
