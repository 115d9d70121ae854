import ArgumentParser
import DarkroomClient
import DarkroomCore

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one batch: counts, times, what it waits for, what failed and why.",
        discussion: """
            Examples:
              darkroom show holiday
              darkroom show holiday --failed
              darkroom show holiday --images --json | jq -r '.images[].output.file'
            """)

    @Argument(help: "The ID of the batch.", completion: BatchCompletion.all)
    var id: String

    @OptionGroup var spool: SpoolOptions
    @OptionGroup var color: ColorOptions

    @Flag(help: "List all images.")
    var images = false

    @Flag(help: "List all failed images, with the reason and whether a retry helps.")
    var failed = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if images, failed { throw ValidationError("--images and --failed cannot be used together") }
    }

    func run() throws {
        let details = try BatchDetails(
            of: id, in: spool.open(), images: images ? .all : failed ? .failed : .firstFailed)
        try Console.lines(json ? [details.json] : details.lines(on: color.output))
    }
}
