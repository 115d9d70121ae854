import ArgumentParser

/// A subcommand that tells the daemon to do something (`DaemonControl`).
protocol DaemonSubcommand: ParsableCommand {
    static var control: DaemonControl { get }
    static var abstract: String { get }
    static var remark: String { get }
    var json: Bool { get }
    var spool: SpoolOptions { get }
}

extension DaemonSubcommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: control.rawValue, abstract: abstract,
            discussion: """
                \(remark) Only root and the user that runs the daemon may do this (exit status 77).

                Example:
                  sudo darkroom \(control.rawValue)

                Exit status: 0 done, 64 the command line is wrong, 66 there is no spool, 69 no daemon is running, 71 /proc \
                is not mounted, 74 the daemon cannot be told, 75 it has not obeyed in time, 77 no permission.
                """)
    }

    func run() throws { try Self.control.run(on: spool.open(), json: json) }
}

struct PauseCommand: DaemonSubcommand {
    static let control = DaemonControl.pause
    static let abstract = "Pause the daemon: running work ends, nothing further begins."
    static let remark =
        "Manifests are still taken. The daemon stays paused until darkroom resume, also after a restart."

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var spool: SpoolOptions
}

struct ResumeCommand: DaemonSubcommand {
    static let control = DaemonControl.resume
    static let abstract = "Let a paused daemon continue."
    static let remark = "A daemon that waits for a disk tries again at once."

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var spool: SpoolOptions
}
