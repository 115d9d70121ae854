import ArgumentParser
import DarkroomCore
import DarkroomManifest

struct SubmitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Submit manifests, or pictures with filters, and print their IDs.",
        discussion: """
            Files that end in \(ManifestFormat.fileExtensionList("or")) are manifests; - is a manifest on standard \
            input. All others are pictures, which go together into one manifest. Every manifest is checked first, and \
            nothing is submitted if one has errors.

            Prints the ID of each batch. The other commands take it.

            Examples:
              darkroom submit holiday.yaml
              darkroom submit photos/*.jpg --filter thumbnail=1600 --format jpeg
              darkroom submit photos/*.jpg --filter sepia=0.8 --watermark logo.png --watch
              darkroom submit photos/ --sizes 400,800 --watermark logo.png:scale=0.2
              darkroom submit --from list.csv --format jpeg
              darkroom submit photos.plist --wait && echo done
              darkroom submit --copy ~/Pictures/*.jpg --filter thumbnail=1600
              id=$(darkroom submit --hold later.yaml)

            Exit status: 0 submitted, 64 the command line is wrong, 65 a manifest has errors, 66 a file does not exist, \
            69 no daemon is running, 75 no name is free in the inbox, 77 no permission. With --wait and --watch also 3 completed with errors, 4 cancelled, \
            130 interrupted.
            """)

    @Argument(
        help: ArgumentHelp(
            "Manifests, or pictures: files, URLs or folders.", valueName: "file"),
        completion: .file())
    var files: [String] = []

    @OptionGroup var pictures: PictureOptions
    @OptionGroup var list: PictureListOption
    @OptionGroup var priority: PriorityOption
    @OptionGroup var page: PageOption

    @Option(
        help: ArgumentHelp(
            "Give the manifest this name, which becomes the ID; a number is added if it is taken.",
            valueName: "name"))
    var name: String?

    @Flag(help: "Hold the batch: no image begins before darkroom release.")
    var hold = false

    @Flag(
        help:
            "Send the local pictures along, so that the daemon need not be able to read them where they are."
    )
    var copy = false

    @Flag(help: "Wait until the batches have ended; the exit status tells how.")
    var wait = false

    @Flag(
        help:
            "Show the progress on standard error until the batches have ended; the exit status tells how."
    )
    var watch = false

    @OptionGroup var progress: ProgressOptions
    @OptionGroup var color: ColorOptions

    @Flag(help: "Submit also if no daemon is running, or if it cannot read or find a picture.")
    var anyway = false

    @Flag(help: "Print JSON Lines: one object for each batch, then a summary.")
    var json = false

    @OptionGroup var spool: SpoolOptions

    @Option(help: .hidden)
    var header: [String] = []

    func validate() throws {
        guard header.isEmpty else {
            throw ValidationError(
                "--header: the daemon downloads, with the headers of downloads.headers in its configuration. darkroom run downloads by itself and takes --header"
            )
        }
        try list.require(files)
    }

    var waitsForEnds: Bool { wait || watch }

    func run() throws { try SubmitRun(self).run() }
}
