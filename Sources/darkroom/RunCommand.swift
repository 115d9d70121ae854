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
            whether all results are there, makes missing ones again, and ends. It does not look whether a source has \
            changed: for that, name another folder. Ctrl-C finishes the pictures in work; a second one does not wait for \
            them.

            With --shard, the command works on one part of the manifest, so that several machines share the work in one \
            folder. The first shard decides into how many parts. darkroom merge puts their results together.

            Local paths begin where the manifest is, and any file may be read. No configuration file is read without \
            --config.

            Examples:
              darkroom run trip.yaml -o out/
              darkroom run photos/*.jpg --filter thumbnail=1600 --format jpeg -o small/
              darkroom run trip.yaml -o out/ --retry
              darkroom run trip.yaml -o out/ --jobs 2 --memory 1GiB
              darkroom run trip.yaml -o out/ --shard 3/16

            Exit codes: 0 completed, 3 completed with errors, 64 the command line is wrong, 65 the manifest has errors \
            or the folder has a run of another one or other shards, 66 a file does not exist, 73 the folder cannot be \
            written, 74 the disk is full or broken, 75 stopped before the end or the folder is in use, 77 a file may not be \
            read, 78 the configuration is wrong.
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

    @Option(
        help: ArgumentHelp(
            "Work on one part of the manifest: its number, from 1, and their count, such as 3/16; auto in a job of Slurm, auto/16 in one of Kubernetes.",
            valueName: "i/n"))
    var shard: String?

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
        do {
            try work()
        } catch let error as ClientError where json {
            try Console.json(Refusal(error))
            throw error
        }
    }

    private func work() throws {
        let loaded = try engine.load()
        let job = try RunPreparation(self, loaded).job()
        try raiseDescriptorLimit()
        let run: FolderRun
        do {
            run = try FolderRun(job, loaded, log: engine.log())
        } catch {
            throw ClientError(
                error, isOfPictures: !files.contains(where: ManifestArgument.isManifest))
        }
        if let shard = run.shard, !quiet { Self.warn(of: job.manifest, shard) }
        throw try RunSession(run, self).run()
    }

    /// Says it if shards cannot share the work, because most images need each other.
    private static func warn(of manifest: Manifest, _ shard: Shard) {
        guard manifest.images.contains(where: { !$0.needs.isEmpty || !$0.after.isEmpty }) else {
            return
        }
        let total = manifest.images.count
        let largest = ShardAssignment(of: manifest, count: shard.count).largestGroup
        guard shard.count > 1, largest > 2, largest > total / 2 else { return }
        Console.complain(
            "\(largest) of \(Words.count(total, "image")) need each other (from, after, or a picture laid over them), so one shard has them all"
        )
    }

    /// `--json`, if the run does not begin.
    private struct Refusal: Encodable {
        let type = "error"
        let code: String
        let message: String
        let exit: Int32

        init(_ error: ClientError) {
            code = error.code
            message = error.message
            exit = error.exit.rawValue
        }
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
    /// - Parameter isOfPictures: whether the manifest was made of pictures and options.
    init(_ error: RunError, isOfPictures: Bool = false) {
        let exit: ClientExit
        var message = error.message
        var remedy: String?
        switch error {
        case .inUse: exit = .tryAgain
        case .otherManifest(let folder, _):
            exit = .rejected
            if isOfPictures {
                message =
                    "\(folder) has a run of other pictures, of another order of them, or with other options"
            }
            remedy = "Name another folder with -o, or remove this one."
        case .otherBase, .otherShards:
            exit = .rejected
            remedy = "Name another folder with -o, or remove this one."
        case .noShard: exit = .usage
        case .noRun, .notMerged: exit = .missing
        case .notDivided: exit = .rejected
        case .changing, .unfinished: exit = .tryAgain
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
        self.init(exit, code: error.code, message, remedy: remedy)
    }
}
