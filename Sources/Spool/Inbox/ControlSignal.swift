import Glibc

/// A signal that controls the whole daemon; `ControlCommand` controls single batches.
///
/// `all` is the table of the signals; a test compares the manual page with it. Root and the user that runs the daemon
/// may send all of them.
package struct ControlSignal: Sendable {
    package enum Command: Sendable { case pause, resume, reload, stop }

    package let command: Command
    package let number: CInt
    package let name: String
    /// One sentence about the effect, with which the manual begins.
    package let summary: String

    package static let all = [
        ControlSignal(
            command: .pause, number: SIGUSR1, name: "SIGUSR1",
            summary: "Pauses the daemon: running operations finish, and no further download or "
                + "filter begins."),
        ControlSignal(
            command: .resume, number: SIGUSR2, name: "SIGUSR2", summary: "Ends a pause."),
        ControlSignal(
            command: .reload, number: SIGHUP, name: "SIGHUP",
            summary: "Reloads the configuration and the file of downloads.headers."),
        ControlSignal(
            command: .stop, number: SIGTERM, name: "SIGTERM",
            summary: "Stops the daemon: no further manifest is taken, and no further download or "
                + "filter begins."),
        ControlSignal(
            command: .stop, number: SIGINT, name: "SIGINT",
            summary: "Stops the daemon like SIGTERM, for Ctrl-C in a terminal."),
    ]
}
