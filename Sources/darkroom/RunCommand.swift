import ArgumentParser
import DarkroomClient
import DarkroomConfiguration
import DarkroomCore
import DarkroomManifest
import DarkroomRun
import Foundation

/// Works on a manifest, or on pictures with filters, without a daemon.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Filter the pictures of a manifest into a folder, without a daemon.",
        discussion: """
            A file that ends in \(ManifestFormat.fileExtensionList("or")) is a manifest; - is a manifest on standard \
            input. All others are pictures, as for darkroom submit. The folder gets the results and a status.json, the \
            same as darkroomd would write.

            If the command is killed or stopped, the same command continues where it was. If everything is done, it looks \
            whether all results are there, makes missing ones again, and ends. Ctrl-C finishes the pictures in work; a \
            second one does not wait for them.

            Local paths begin where the manifest is, and any file may be read. No configuration file is read without \
            --config.

            Examples:
              darkroom run trip.yaml -o out/
              darkroom run photos/*.jpg --filter thumbnail=1600 --format jpeg -o small/
              darkroom run trip.yaml -o out/ --retry
              darkroom run trip.yaml -o out/ --jobs 2 --memory 1GiB

            Exit codes: 0 completed, 3 completed with errors, 64 the command line is wrong, 65 the manifest has errors \
            or the folder has a run of another one, 66 a file does not exist, 73 the folder cannot be written, 74 the \
            disk is full or broken, 75 stopped before the end or the folder is in use, 78 the configuration is wrong.
            """)

    @Argument(
        help: ArgumentHelp(
            "A manifest, or pictures: files or URLs.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup var pictures: PictureOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The folder of the results. It is created if it does not exist.", valueName: "dir"),
        completion: .directory)
    var output: String

    @Flag(help: "Repeat the images that have failed in an earlier run.")
    var retry = false

    @OptionGroup var engine: EngineOptions
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var color: ColorOptions

    @Flag(
        name: .shortAndLong,
        help: "Show no progress, and nothing on success; the exit code tells how it ended.")
    var quiet = false

    @Flag(help: "Print one JSON object at the end.")
    var json = false

    func validate() throws {
        if output.isEmpty { throw ValidationError("--output: write a path") }
    }

    func run() throws {
        let loaded = try engine.load()
        let job = try RunPreparation(self, loaded).job()
        try raiseDescriptorLimit()
        let run: FolderRun
        do {
            run = try FolderRun(job, loaded, log: engine.log())
        } catch {
            throw ClientError(error)
        }
        throw try RunSession(run, self).run()
    }

    private func raiseDescriptorLimit() throws(ClientError) {
        do {
            try DescriptorLimit.raise()
        } catch {
            throw ClientError(.ioError, code: error.code, error.message)
        }
    }
}

extension ClientError {
    init(_ error: RunError) {
        let exit: ClientExit
        var remedy: String?
        switch error {
        case .inUse: exit = .tryAgain
        case .otherManifest, .otherBase:
            exit = .rejected
            remedy = "Name another folder with -o, or remove this one."
        case .inTheWay:
            exit = .cannotCreate
            remedy = "Name another folder with -o."
        case .outputChanged:
            exit = .cannotCreate
            remedy = "Move it away. Then the same command makes it again."
        case .unusable, .unreadable: exit = .cannotCreate
        case .cannotCreate: exit = .cannotCreate
        case .file, .failure: exit = .ioError
        }
        self.init(exit, code: error.code, error.message, remedy: remedy)
    }
}
