import ArgumentParser
import CDarkroomEntry
import DarkroomClient
import DarkroomCore
import DarkroomRun
import Glibc

/// The command line for people and scripts.
///
/// The result goes to standard output; progress and complaints go to standard error. A command ends with a `ClientExit`,
/// which it throws as a `ClientError` if there is something to say.
struct DarkroomCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "darkroom",
        abstract:
            "Submit pictures to darkroomd and see what becomes of them, or filter them without a daemon.",
        version: "darkroom \(Release.version)",
        subcommands: CommandTable.rows.map(\.type))

    static func start() -> Never {
        let arguments = mainArguments()
        // Before anything takes time, as the arguments of many pictures do. `EarlyStop` and the run handle the signals.
        let isRun = arguments.first.map { String(cString: $0) } == RunCommand.name
        Inheritance.settle(blocking: isRun ? FolderRun.signalsToBlock : [])
        if isRun { FolderRun.blockSignals() }
        // A write beyond the maximum size of a file (setrlimit(2)) is an error with a message. It must not end the process.
        signal(SIGXFSZ, SIG_IGN)
        SignalSources.letQuitEnd()
        var json = false
        do {
            let texts = try texts(of: arguments)
            json = ClientError.isWantedAsJSON(by: texts)
            try ArgumentCheck(arguments: texts).check()
            var command = try parseAsRoot(texts)
            if CommandTable.row(of: command)?.needsProc == true {
                try asClientError(.systemError, MissingProcFolder.check())
            }
            try ProcessLimits.requireFiles()
            if json, !handlesSignals(command) { Interruption.tellPrograms() }
            try command.run()
        } catch let error as ClientError {
            if json { try? Console.json(error.json) }
            Console.complain(error)
            end(error.exit)
        } catch let code as ClientExit {
            end(code)
        } catch let refusal as RefusedManifest {
            if json { try? Console.json(refusal.json) }
            refusal.complain()
            end(.rejected)
        } catch {
            if json, !exitCode(for: error).isSuccess {
                let usage = ClientError(.usage, code: "usage", message(for: error))
                let exit: JSONObject = ["exit": exitCode(for: error).rawValue]
                try? Console.json(JSONObject(exit, with: usage.json))
            }
            tell(error)
            fflush(nil)
            Console.end(exitCode(for: error).rawValue)
        }
        end(.success)
    }

    /// Whether a command finishes something after a signal, and tells of it in its own object.
    private static func handlesSignals(_ command: any ParsableCommand) -> Bool {
        command is RunCommand || (command as? VerifyCommand)?.again == true
    }

    /// Prints help, the version, a completion script or an error of the command line.
    private static func tell(_ error: any Error) {
        let text = fullMessage(for: error)
        guard !text.isEmpty else { return }
        guard !exitCode(for: error).isSuccess else {
            try? Console.write(text + "\n", to: STDOUT_FILENO)
            return
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            Console.write(String(line), wrappedFor: STDERR_FILENO)
        }
    }

    /// Ends the process without the finalisers of libraries. A picture that does not stop in time is still in work in
    /// another thread, which would crash in what they take down.
    private static func end(_ exit: ClientExit) -> Never {
        fflush(nil)
        Console.end(exit.rawValue)
    }

    /// The arguments after the program's name, as main() got them: Swift reads them from /proc.
    private static func mainArguments() -> [UnsafeMutablePointer<CChar>] {
        var count: CInt = 0
        guard let values = darkroom_entry_arguments(&count), count > 1 else { return [] }
        return (1..<Int(count)).compactMap { values[$0] }
    }

    /// Refuses arguments that are not UTF-8: Swift would change them, and a manifest cannot contain them.
    private static func texts(
        of arguments: [UnsafeMutablePointer<CChar>]
    ) throws(ClientError) -> [String] {
        try arguments.map { (argument) throws(ClientError) -> String in
            if let text = String(validatingCString: argument) { return text }
            throw ClientError(
                .rejected, code: "not-utf8",
                "\(FileName(String(cString: argument)).text): the name is not UTF-8",
                remedy:
                    "A manifest is UTF-8 text and cannot name such a file. Rename it, or give it a second name with ln."
            )
        }
    }
}
