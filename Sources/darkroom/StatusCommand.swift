import ArgumentParser
import DarkroomClient

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract:
            "Show whether a daemon works on the spool, what it does, and which files it does not take.",
        discussion: """
            The first word is the state: running, paused, waiting (the disk refuses writes), stopping, stopped or \
            killed.

            Examples:
              darkroom status
              darkroom status --json | jq -r .state
              darkroom status --json | jq -r '.inbox.files[] | .name + ": " + .message'

            Exit status: 0 a daemon works on the spool, 64 the command line is wrong, 66 there is no spool, 69 no daemon is \
            running, 74 a report cannot be read, 77 no permission.
            """)

    @OptionGroup var spool: SpoolOptions
    @OptionGroup var color: ColorOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let overview = try SpoolOverview(of: spool.open())
        try Console.lines(json ? [overview.json] : overview.lines(on: color.output))
        if !overview.daemon.isPresent { throw ClientExit.noDaemon }
    }
}
