import ArgumentParser

struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause the daemon: running work ends, nothing further begins.",
        discussion: """
            Manifests are still taken. The daemon stays paused until darkroom resume, also after a restart. Only root \
            and the user that runs the daemon may do this (exit code 77).

            Example:
              sudo darkroom pause

            Exit codes: 0 done, 64 the command line is wrong, 66 there is no spool, 69 no daemon is running, 71 /proc is \
            not mounted, 74 the daemon cannot be told, 75 it has not obeyed in time, 77 no permission.
            """)

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var spool: SpoolOptions

    func run() throws { try DaemonControl.pause.run(on: spool.open(), json: json) }
}

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let a paused daemon continue.",
        discussion: """
            A daemon that waits for a disk tries again at once. Only root and the user that runs the daemon may do \
            this (exit code 77).

            Example:
              sudo darkroom resume

            Exit codes: 0 done, 64 the command line is wrong, 66 there is no spool, 69 no daemon is running, 71 /proc is \
            not mounted, 74 the daemon cannot be told, 75 it has not obeyed in time, 77 no permission.
            """)

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var spool: SpoolOptions

    func run() throws { try DaemonControl.resume.run(on: spool.open(), json: json) }
}
