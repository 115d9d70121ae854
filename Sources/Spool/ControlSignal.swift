import Glibc

/// A signal that controls a daemon as a whole; single batches have `ControlCommand`.
///
/// `all` is the one table of the signals; a test holds the manual page against it. Root and the user who runs the daemon
/// may send each of them.
package struct ControlSignal: Sendable {
    /// What a signal asks for.
    package enum Command: Sendable { case pause, resume, reload, stop }

    package let command: Command
    package let number: CInt
    package let name: String
    /// One sentence on what it does. The manual begins with it.
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
