import ArgumentParser
import DarkroomClient
import DarkroomCore
import Foundation
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

            Exit status: those of journalctl, and 64 the command line is wrong, 66 no such batch, 69 there is no journal, \
            74 a batch cannot be read, 77 no permission.
            """)

    @Argument(help: "The ID of the batch.", completion: SpoolCompletion.all)
    var id: String

    @OptionGroup var spool: SpoolOptions

    @Flag(name: .shortAndLong, help: "Follow the journal: show new records as they arrive.")
    var follow = false

    @Argument(help: "Further options of journalctl, after --.")
    var options: [String] = []

    func run() throws {
        let folder = try spool.open()
        var fields = ["DARKROOM_BATCH=\(id)"]
        // Another spool of this machine may have a batch with this ID.
        if let daemon = try? DaemonProcessHandle(of: folder), let unit = daemon.unit {
            fields.append("_SYSTEMD_UNIT=\(unit)")
        }
        if try folder.summary(of: id) == nil {
            let error = folder.noSuchBatch(id)
            // The journal keeps the records of removed batches.
            guard Self.hasRecords(fields) else { throw error }
            Console.complain(error)
        }
        try Self.replaceProcess(
            by: ["journalctl"] + (follow ? ["--follow"] : []) + options + fields)
    }

    /// Whether the journal has a record with these fields that the user may read.
    private static func hasRecords(_ fields: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["journalctl", "--quiet", "--lines=1", "--output=cat"] + fields
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        // The handle owns this descriptor and closes it.
        let copy = Descriptor(owning: dup(output.fileHandleForReading.fileDescriptor))
        let text = try? copy.whole(upTo: FileLimit.answer, path: "journalctl")
        process.waitUntilExit()
        return text?.isEmpty == false
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
