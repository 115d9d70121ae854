import ArgumentParser
import DarkroomClient
import DarkroomConfiguration
import DarkroomCore
import DarkroomManifest
import DarkroomRun

struct RunCommand: ParsableCommand {
    static let name = "run"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Filter the pictures of a manifest into a folder, without a daemon.",
        discussion: """
            A file that ends in \(ManifestFormat.fileExtensionList("or")) is a manifest; - is a manifest on standard \
            input. All others are pictures, as for darkroom submit. The folder gets the results and a status.json, the \
            same as darkroomd would write.

            If the command is killed or stopped, the same command continues where it was. If everything is done, it looks \
            at each image: what is new or has changed is made, such as an image whose source or filters are others now, \
            or whose output is missing. All others stand. The manifest may have changed. A source is read only if its \
            file does not look the same; --check reads all sources and outputs. Outputs that no image has any more are \
            listed, and --prune removes them. darkroom plan tells all this beforehand. Ctrl-C finishes the pictures in \
            work; a second one does not wait for them.

            With --shard, the command works on one part of the manifest, so that several machines share the work in one \
            folder. The first shard decides into how many parts. darkroom merge puts their results together, and then \
            another count may be given. Run again, a shard makes what has changed; the manifest may have changed if no \
            other shard works. What no image has any more is removed by darkroom merge --prune.

            Local paths begin where the manifest is, and any file may be read. No configuration file is read without \
            --config.

            Examples:
              darkroom run trip.yaml -o out/
              darkroom run photos/*.jpg --filter thumbnail=1600 --format jpeg -o small/
              darkroom run photos/ --sizes 400,800 -o small/
              darkroom run --from urls.txt --header @token.txt -o out/
              darkroom run trip.yaml -o out/ --page-dir out-page/
              darkroom run trip.yaml -o out/ --retry
              darkroom run photos/ --sizes 400,800 -o small/ --prune
              darkroom run trip.yaml -o out/ --jobs 2 --memory 1GiB
              darkroom run trip.yaml -o out/ --shard 3/16

            Exit status: 0 completed, 3 completed with errors, 64 the command line is wrong, 65 the manifest has errors, \
            the folder has a run of another one, with other settings or other shards, or a file of the run was changed, \
            66 a file does not exist, 71 /proc is not mounted, 73 the folder cannot be written, 74 the disk is full or broken, 75 stopped before the \
            end or the folder is in use, 77 a file may not be read or the run is another user's, 78 the configuration is \
            wrong.
            """)

    @OptionGroup var arguments: RunArguments

    @Option(
        help: ArgumentHelp(
            "Work on one part of the manifest: its number, from 1, and their count, such as 3/16; auto in a job of Slurm, auto/16 in one of Kubernetes.",
            valueName: "i/n"))
    var shard: String?

    @OptionGroup var page: PageDirOptions

    @OptionGroup var progress: ProgressOptions
    @OptionGroup var color: ColorOptions

    @Flag(
        name: .shortAndLong,
        help: "Show no progress, and nothing on success; the exit status tells how it ended.")
    var quiet = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if shard != nil { try arguments.refusePruning() }
        if page.isGiven, shard != nil {
            throw ValidationError("--page-dir is for all shards: use it with darkroom merge")
        }
    }

    func run() throws {
        try ProcessLimits.prepare()
        let earlyStop = EarlyStop { [json] signal, hasBegun in
            let name = signal.signalName
            let error = ClientError(
                .tryAgain, code: "stopped",
                hasBegun
                    ? "stopped by \(name), at once" : "stopped by \(name) before anything was done",
                remedy: hasBegun ? "The same command continues." : nil)
            if json { try? Console.json(error.json) }
            Console.complain(error)
        }
        var loaded = try arguments.engine.load()
        let prefetch = shard == nil ? StatusPrefetch(of: arguments.output) : nil
        var job = try RunPreparation.job(arguments, shard: shard, &loaded)
        job.prefetch = prefetch
        let page = try page.page(
            folders: [job.base], defaultFilters: loaded.configuration.defaultFilters)
        earlyStop.begin()
        let run: FolderRun
        do {
            run = try FolderRun(job, loaded, log: arguments.engine.log())
        } catch {
            throw ClientError(error, isOfPictures: arguments.isOfPictures)
        }
        if let shard = run.shard, !quiet { Self.warn(of: job.manifest, shard) }
        throw try RunSession(work: run, command: self, page: page).run()
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
}
