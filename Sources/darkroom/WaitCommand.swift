import ArgumentParser
import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomSpool

struct WaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until batches have ended.",
        discussion: """
            Prints nothing without --json. The exit status tells how the batches ended; for several ones, it is the highest.

            Examples:
              darkroom wait holiday && echo done
              darkroom wait --timeout 10min $(darkroom submit *.yaml)

            Exit status: 0 completed, 3 completed with errors, 4 cancelled, 64 the command line is wrong, 65 the manifest \
            was rejected, 66 no such batch, 75 the time is over, 77 no permission.
            """)

    @Argument(
        help: ArgumentHelp("IDs of batches.", valueName: "id"),
        completion: SpoolCompletion.unfinished)
    var ids: [String]

    @Option(
        help: ArgumentHelp(
            "Wait at most this long: seconds, or a time such as 90s, 10min or 2h.",
            valueName: "time"))
    var timeout: String?

    @Flag(help: "Print JSON Lines: one object for each batch, then a summary.")
    var json = false

    @OptionGroup var spool: SpoolOptions

    func validate() throws { _ = try seconds() }

    private func seconds() throws -> Double? {
        guard let timeout else { return nil }
        guard let seconds = Quantity.seconds(timeout), seconds >= 0 else {
            throw ValidationError("--timeout \(timeout): write a time such as 90s, 10min or 2h")
        }
        return seconds
    }

    func run() throws {
        let folder = try spool.open()
        let deadline = try seconds().map { Clock.uptime + $0 }
        let names = ids.map(\.shellQuoted).joined(separator: " ")
        Interruption.advise("To wait again: darkroom wait \(names)")
        let obstacle = try DaemonState(of: folder).absence
        var worst = ClientExit.success
        for id in ids {
            do {
                worst = .worst(worst, try wait(id, in: folder, until: deadline, obstacle))
            } catch {
                if json { try Console.json(error.problem(id: id)) }
                Console.complain(error)
                worst = .worst(worst, error.exit)
            }
        }
        try Console.conclude(worst, json: json ? ["batches": ids.count] : nil)
    }

    private func wait(
        _ id: String, in folder: SpoolFolder, until deadline: Double?, _ obstacle: String?
    ) throws(ClientError) -> ClientExit {
        if let obstacle, try folder.summary(of: id)?.state.isFinal == false {
            Console.complain("\(FileName(id).text) has not ended, and \(obstacle)")
        }
        guard let batch = try BatchWait.end(of: id, in: folder, until: deadline) else {
            throw ClientError(
                .tryAgain, code: "not-ended", "\(FileName(id).text) has not ended yet")
        }
        if json { try Console.json(.ended(id, batch.state, batch.counts)) }
        return ClientExit(of: batch.state)
    }
}
