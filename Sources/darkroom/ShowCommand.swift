import ArgumentParser
import DarkroomClient
import DarkroomCore

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one batch: counts, times, what it waits for, what failed and why.",
        usage: "darkroom show [<options>] <id|dir>",
        discussion: """
            Examples:
              darkroom show holiday
              darkroom show holiday --failed
              darkroom show holiday --warnings
              darkroom show holiday --images --json | jq -r '.images[].output.file'
              darkroom show out/ --failed
              darkroom show out/ --srcset

            A name with a slash is that of a folder of darkroom run or darkroom merge. Another one is an ID if there is \
            such a batch, otherwise a folder.

            Exit status: 0 success, 64 the command line is wrong, 66 there is no such batch or folder, 74 it cannot be \
            read, 77 no permission.
            """)

    @Argument(
        help: ArgumentHelp(
            "The ID of a batch, or a folder of results.", valueName: "id|dir"),
        completion: SpoolCompletion.all)
    var id: String

    @OptionGroup var spool: SpoolOptions
    @OptionGroup var color: ColorOptions

    @Flag(help: "List all images.")
    var images = false

    @Flag(help: "List all failed images, with the reason and whether a retry helps.")
    var failed = false

    @Flag(help: "List all images with warnings, and the warnings.")
    var warnings = false

    @Flag(
        help:
            "Print the value of the attribute srcset of HTML for each image, one line for each format of its results; with --json, the content of sizes.json."
    )
    var srcset = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        let lists = [
            ("--images", images), ("--failed", failed), ("--warnings", warnings),
            ("--srcset", srcset),
        ].filter(\.1).map(\.0)
        guard lists.count < 2 else {
            throw ValidationError("\(Words.list(lists, "and")) cannot be used together")
        }
    }

    private var listed: BatchDetails.Images {
        if images { return .all }
        return failed ? .failed : warnings ? .warned : .firstFailed
    }

    func run() throws {
        let details = try details(listed)
        if srcset {
            try details.sourceSets(asJSON: json) { text throws(ClientError) in
                try Console.text(text)
            }
        } else if json {
            try details.json { text throws(ClientError) in try Console.text(text) }
        } else {
            try details.lines(on: color.output) { lines throws(ClientError) in
                try Console.lines(lines)
            }
        }
    }

    private func details(_ images: BatchDetails.Images) throws(ClientError) -> BatchDetails {
        let folder = RunPreparation.trimmed(id)
        if id.contains("/") { return try BatchDetails(ofRunIn: folder, images: images) }
        do throws(ClientError) {
            let details = try BatchDetails(of: id, in: spool.open(), images: images)
            ResultFolder.tellOfFolder(id)
            return details
        } catch {
            guard error.exit == .missing else { throw error }
            guard PictureTree.isFolder(id) else {
                throw error.code == "no-such-batch" ? error : ResultFolder.noSpool(id, error)
            }
            try ResultFolder.requireResults(folder, noBatch: error)
            return try BatchDetails(ofRunIn: folder, images: images)
        }
    }
}
