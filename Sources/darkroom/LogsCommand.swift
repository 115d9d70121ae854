import ArgumentParser
import DarkroomClient
import DarkroomCore
import Glibc

struct LogsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "Show the journal of one batch.",
        discussion: """
            This runs journalctl with the field DARKROOM_BATCH. Members of the group systemd-journal may read the \
            journal; others see only their own records.

            Examples:
              darkroom logs holiday
              darkroom logs holiday -f
              darkroom logs holiday -- --output cat --priority warning
            """)

    @Argument(help: "The ID of the batch.", completion: BatchCompletion.all)
    var id: String

    @OptionGroup var spool: SpoolOptions

    @Flag(name: .shortAndLong, help: "Follow the journal: show new records as they arrive.")
    var follow = false

    @Argument(help: "Further options of journalctl, after --.")
    var options: [String] = []

    func run() throws {
        let folder = try spool.open()
        if try folder.summary(of: id) == nil {
            // The journal keeps the records of removed batches.
            let error = folder.noSuchBatch(id)
            Console.complain(error)
        }
        var words = ["journalctl"] + (follow ? ["--follow"] : []) + options
        words.append("DARKROOM_BATCH=\(id)")
        if let unit = Self.unit(of: folder) { words.append("_SYSTEMD_UNIT=\(unit)") }
        try Self.replaceProcess(by: words)
    }

    /// Another spool of this machine may have a batch with this ID.
    private static func unit(of spool: SpoolFolder) -> String? {
        guard let daemon = try? DaemonProcessHandle(of: spool) else { return nil }
        return daemon.unit
    }

    private static func replaceProcess(by words: [String]) throws -> Never {
        var arguments = words.map { strdup($0) } + [nil]
        execvp("journalctl", &arguments)
        let error = errno
        throw ClientError(
            .noDaemon, code: "no-journal",
            error == ENOENT
                ? "journalctl is not installed, so there is no journal of systemd to show."
                : "journalctl cannot be run: \(String(cString: strerror(error))).",
            remedy: "Without systemd, the daemon writes its records to its standard error.")
    }
}
