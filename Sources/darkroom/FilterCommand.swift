import ArgumentParser
import DarkroomClient
import DarkroomConfiguration
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomRun
import Glibc
import SystemPackage

/// Filters one picture in a pipe.
struct FilterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "filter",
        abstract: "Filter one picture from standard input to standard output.",
        discussion: """
            Nothing is written before the picture is complete: a failure leaves no part of a picture. With -o, an \
            existing file is replaced on success and not changed on failure.

            Examples:
              darkroom filter --filter sepia=0.8 --format jpeg <in.png >out.jpg
              curl -s https://example.com/a.jpg | darkroom filter --filter resize=800 >a.png
              darkroom filter photo.jpg --filter thumbnail=1600 --format jpeg -o small.jpg

            Exit codes: 0 filtered, 3 the picture cannot be filtered, 64 the command line is wrong, 66 a file does not \
            exist, 73 the file of the result cannot be created, 74 the disk is full or broken, 78 the configuration is \
            wrong.
            """)

    @Argument(
        help: ArgumentHelp(
            "The picture; - or nothing for standard input.", valueName: "file"),
        completion: .file())
    var file: String?

    @OptionGroup var pictures: PictureOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write the result into this file.", valueName: "file"),
        completion: .file())
    var output: String?

    @OptionGroup var engine: EngineOptions

    private var isInput: Bool { file == nil || file == ManifestFile.standardInput }

    func run() throws {
        // A closed pipe is an error of a write, which ends the command quietly.
        signal(SIGPIPE, SIG_IGN)
        let loaded = try engine.load()
        try refuseTerminals()
        let picture = SinglePicture(try manifest(loaded), loaded)
        guard let output else { return try filterToOutput(picture) }
        let result: ResultFile
        do throws(PictureError) {
            result = try ResultFile(path: output)
        } catch {
            throw ClientError(.cannotCreate, code: error.code, error.message)
        }
        try check(picture.filter(input(), named: name, to: result.file, named: output))
        do throws(PictureError) {
            try result.publish()
        } catch {
            throw ClientError(.ioError, code: error.code, error.message)
        }
    }

    private func refuseTerminals() throws(ClientError) {
        if isInput, isatty(STDIN_FILENO) == 1 {
            throw ClientError(
                .usage, code: "terminal",
                "Standard input is a terminal. Name a picture, or write <picture.png")
        }
        if output == nil, isatty(STDOUT_FILENO) == 1 {
            throw ClientError(
                .usage, code: "terminal",
                "Standard output is a terminal. Name a file with -o, or write >picture.png")
        }
    }

    /// The manifest that `submit` would make of these options.
    private func manifest(_ loaded: ConfigurationLoader.Loaded) throws -> Manifest {
        var job = try pictures.job([], priority: nil, nil)
        job.pictures = [try isInput ? .standardInput : PictureSource(file ?? "")]
        guard job.pictures[0].path != nil else {
            throw ClientError(
                .usage, code: "not-a-file",
                "\(FileName(file ?? "").text): filter reads files. darkroom run downloads pictures."
            )
        }
        let text = ManifestFile(try job.manifest(), shown: "the picture")
        let rules = ManifestRules(
            limits: loaded.configuration.manifestLimits,
            defaultFilters: loaded.configuration.defaultFilters)
        switch text.check(rules) {
        case .success(let manifest): return manifest
        case .failure(let rejection):
            for problem in rejection.problems { Console.problem(text.line(of: problem)) }
            throw ClientExit.rejected
        }
    }

    private var name: String { isInput ? "standard input" : FileName(file ?? "").text }

    private func input() throws(ClientError) -> Descriptor {
        do {
            return Descriptor(
                owning: try retryingInterrupts {
                    isInput
                        ? dup(STDIN_FILENO)
                        : Glibc.open(file ?? "", O_RDONLY | O_CLOEXEC | O_NOCTTY)
                })
        } catch {
            throw ClientError(FileError("open", name, error))
        }
    }

    private func check(_ result: Result<PictureReport, Failure>) throws(ClientError) {
        guard case .failure(let failure) = result else { return }
        throw ClientError(
            failure.fault == nil ? .completedWithErrors : .ioError, code: failure.code,
            "\(failure.message) [\(failure.code)]")
    }

    /// Standard output gets the picture when it is complete.
    private func filterToOutput(_ picture: SinglePicture) throws(ClientError) {
        do {
            let result = try UnnamedFile.make()
            try check(
                picture.filter(input(), named: name, to: result.file, named: "standard output"))
            lseek(result.number, 0, SEEK_SET)
            while true {
                let piece = try result.readAll(upTo: (1 << 20) - 1, path: "the temporary file")
                if piece.isEmpty { return }
                try Console.write(bytes: piece, to: STDOUT_FILENO)
            }
        } catch let error as FileError {
            throw ClientError(error)
        } catch let error as ClientError {
            throw error
        } catch {
            preconditionFailure("an error of another type: \(error)")
        }
    }
}
