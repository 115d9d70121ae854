import ArgumentParser
import DarkroomClient
import DarkroomCore
import DarkroomRun
import Foundation
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
        subcommands: [
            SubmitCommand.self, MakeCommand.self, CheckCommand.self, WaitCommand.self,
            CancelCommand.self, HoldCommand.self, ReleaseCommand.self, RetryCommand.self,
            RemoveCommand.self,
            ListCommand.self, ShowCommand.self, PageCommand.self, StatusCommand.self,
            WatchCommand.self,
            LogsCommand.self, PauseCommand.self, ResumeCommand.self, RecipesCommand.self,
            RunCommand.self, MergeCommand.self, VerifyCommand.self, FilterCommand.self,
        ])

    /// Runs the command, and ends the process with its exit code.
    static func start() -> Never {
        fillStandardStreams()
        // A write beyond the maximum size of a file (setrlimit(2)) is an error with a message. It must not end the process.
        signal(SIGXFSZ, SIG_IGN)
        SignalSources.letQuitEnd()
        // Before anything takes time, as the arguments of many pictures do. `EarlyStop` and the run handle the signals.
        if CommandLine.arguments.dropFirst().first == RunCommand.name { FolderRun.blockSignals() }
        do {
            try requireText()
            try ArgumentCheck(arguments: Array(CommandLine.arguments.dropFirst())).check()
            var command = try parseAsRoot()
            try command.run()
        } catch let error as ClientError {
            Console.complain(error)
            end(error.exit)
        } catch let code as ClientExit {
            end(code)
        } catch {
            exit(withError: error)
        }
        end(.success)
    }

    /// Ends the process without the finalisers of libraries. A picture that does not stop in time is still in work in
    /// another thread, which would crash in what they take down.
    private static func end(_ exit: ClientExit) -> Never {
        fflush(nil)
        Glibc._exit(exit.rawValue)
    }

    /// Opens what takes the place of closed standard streams, so that no other file gets their numbers. To use them still
    /// fails.
    private static func fillStandardStreams() {
        for (number, mode) in [
            (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
        ] where fcntl(number, F_GETFD) == -1 {
            // It gets the lowest free number.
            _ = open("/dev/null", mode)
        }
    }

    /// Refuses arguments that are not UTF-8: Swift would change them, and a manifest cannot contain them.
    private static func requireText() throws(ClientError) {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index],
                String(validatingCString: argument) == nil
            else { continue }
            throw ClientError(
                .rejected, code: "not-utf8",
                "\(FileName(String(cString: argument)).text): the name is not UTF-8",
                remedy:
                    "A manifest is UTF-8 text and cannot name such a file. Rename it, or give it a second name with ln."
            )
        }
    }
}

/// The options of every command that uses a spool.
struct SpoolOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The spool's root folder. If not given: DARKROOM_SPOOL, then the key spool of \(SpoolLocation.configuration), then \(SpoolLocation.standard).",
            valueName: "dir"), completion: .directory)
    var spool: String?

    func open() throws(ClientError) -> SpoolFolder {
        try SpoolFolder(path: SpoolLocation.path(option: spool))
    }

    /// The same with an absolute path, for programs with another current folder.
    func openAbsolute() throws(ClientError) -> SpoolFolder {
        try SpoolFolder(
            path: URL(filePath: SpoolLocation.path(option: spool)).standardizedFileURL.path)
    }
}
