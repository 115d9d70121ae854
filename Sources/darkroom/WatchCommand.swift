import ArgumentParser
import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomSpool
import Glibc

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show the progress of batches until they end.",
        discussion: """
            Without an ID, all unfinished batches are watched. Progress goes to standard error; standard output gets a \
            line for each batch that has ended. Ctrl-C ends the command; the batches go on.

            Exit status: 0 completed, 3 completed with errors, 4 cancelled, 65 rejected; of several batches the worst. \
            64 the command line is wrong, 66 no such batch, 77 no permission, 130 interrupted.

            With --finished, the command shows nothing. For each batch that ends, it runs a program (--exec) or sends a \
            POST request (--post): at least once, one after the other, in the order of the ends. A file, the cursor, \
            remembers what was called. Standard output gets a line for each call that succeeded. Exit status: 0 after \
            SIGTERM, 130 after another signal, 73 if the cursor cannot be created, 75 if another process uses it, 78 if \
            the cursor or the key is wrong.

            Examples:
              darkroom watch
              darkroom watch holiday
              darkroom watch holiday --progress plain 2>progress.log
              darkroom watch holiday --json
              darkroom watch --finished --exec /usr/local/bin/tell-everybody
              darkroom watch --finished --post https://example.org/hook --key-file hook.key
            """)

    @Argument(
        help: ArgumentHelp("IDs of batches.", valueName: "id"),
        completion: SpoolCompletion.unfinished)
    var ids: [String] = []

    @OptionGroup var spool: SpoolOptions
    @OptionGroup var color: ColorOptions

    @OptionGroup var progress: ProgressOptions

    @Flag(
        help:
            "Print JSON Lines: one object for each change, then a summary."
    )
    var json = false

    @OptionGroup(title: "Options for --finished") var finished: NotifyOptions

    func validate() throws { try finished.check(ids: ids, json: json) }

    func run() throws {
        if finished.finished { return try finished.run(spool) }
        let folder = try spool.open()
        let watched = ids.isEmpty ? try BatchList(of: folder, .init()).rows.map(\.batch.id) : ids
        guard !watched.isEmpty else {
            if json { try Console.lines([WatchSession.summary([], exit: .success)]) }
            return Console.complain("No batch is unfinished.")
        }
        // The same ID twice is watched once.
        var known: Set<ByteString> = []
        let unique = watched.filter { known.insert(ByteString($0)).inserted }
        var session = try WatchSession(
            unique, in: folder, progress: json ? .json : progress.mode,
            stream: json ? STDOUT_FILENO : STDERR_FILENO, color: color.color)
        session.results = json ? nil : STDOUT_FILENO
        do {
            let exit = ClientExit(ofWorst: try session.run().map(\.state))
            if json { try Console.lines([WatchSession.summary(session.states, exit: exit)]) }
            throw exit
        } catch let error as ClientError where json && error.exit == .interrupted {
            try Console.lines([WatchSession.summary(session.states, exit: error.exit)])
            Console.complain(error)
            throw error.exit
        }
    }
}
