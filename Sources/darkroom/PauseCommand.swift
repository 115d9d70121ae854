import ArgumentParser
import DarkroomClient

struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause the daemon: running work ends, nothing further begins.",
        discussion: """
            Manifests are still taken. The daemon stays paused until darkroom resume, also after a restart. Only root \
            and the user that runs the daemon may do this (exit code 77).

            Example:
              sudo darkroom pause
            """)

    @OptionGroup var spool: SpoolOptions

    func run() throws { try DaemonControl.pause.run(on: spool.open()) }
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
            """)

    @OptionGroup var spool: SpoolOptions

    func run() throws { try DaemonControl.resume.run(on: spool.open()) }
}
