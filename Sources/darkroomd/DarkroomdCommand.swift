import ArgumentParser
import CDarkroomEntry
import DarkroomConfiguration
import DarkroomCore
import DarkroomDaemon
import DarkroomSelfTest
import Glibc
import Logging

struct DarkroomdCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "darkroomd",
        abstract: "Process the manifests in the inbox of a spool: download and filter pictures.",
        discussion: """
            A manifest is a JSON, YAML or property list file that lists pictures and filters. Write it to \
            SPOOL/tmp and rename it into SPOOL/inbox. The results and a status.json appear in \
            SPOOL/outbox/NAME.

            Examples:
              darkroomd --spool /tmp/spool
              darkroomd --config ./darkroomd.yaml --set filters.concurrency=2
              darkroomd --check-config --config /etc/darkroom/darkroomd.yaml
              sudo -u darkroom darkroomd --self-test /var/spool/darkroom

            Signals:
              USR1 pauses, USR2 resumes, HUP reloads the configuration, TERM and INT stop.

            Exit status:
              0   stopped by a signal
              64  the command line is wrong
              71  a system error other than those below, at the start or later
              74  the disk of the spool is full or has errors, at the start
              75  another daemon works on the spool
              77  the current user does not have the permissions to work on the spool
              78  the configuration is wrong
              --self-test: 0 no problem, 1 a problem, 74 or 77 the folder cannot be used.

            Manual: darkroomd(8), darkroomd.yaml(5), darkroom-manifest(5), darkroom-status(5).
            """,
        version: "darkroomd \(Release.version)")

    @Option(
        help: ArgumentHelp("Use the spool in this root folder.", valueName: "dir"),
        completion: .directory)
    var spool: String?

    @Option(
        help: ArgumentHelp(
            "Read this configuration file. If not given: \(ConfigurationLoader.standardPath), if it exists.",
            valueName: "file"), completion: .file())
    var config: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Set a key of the configuration; overrides the file and the environment. May be repeated.",
            valueName: "key=value"))
    var settings: [String] = []

    @Option(
        help: ArgumentHelp(
            "Log from this level on: \(Words.list(Logger.Level.allCases.map(\.rawValue), "or")).",
            valueName: "level"), completion: .list(Logger.Level.allCases.map(\.rawValue)))
    var logLevel: String?

    @Flag(help: "Check the configuration, print the keys that are set, and exit.")
    var checkConfig = false

    @Flag(help: "With --check-config: also print the keys with default values.")
    var all = false

    @Option(
        help: ArgumentHelp(
            "Test the file system of this spool, with daemons that are killed during their work, and exit. The "
                + "spool itself is not changed and may be in use.",
            valueName: "spool"), completion: .directory)
    var selfTest: String?

    @Option(
        help: ArgumentHelp(
            "With --self-test: kill this often at a random moment, in addition to once after each step. If not given: 30.",
            valueName: "number"))
    var kills: Int?

    @Flag(help: "With --self-test: keep its folder if it finds a problem.")
    var keep = false

    func validate() throws {
        if let kills, !(0...1_000_000).contains(kills) {
            throw ValidationError("--kills \(kills): write a number from 0 to 1000000")
        }
        if selfTest == nil, kills != nil || keep {
            throw ValidationError("--kills and --keep need --self-test SPOOL")
        }
        if selfTest != nil, checkConfig {
            throw ValidationError("--self-test and --check-config cannot be used together")
        }
        if all, !checkConfig { throw ValidationError("--all needs --check-config") }
        for (option, path) in [("--spool", spool), ("--config", config), ("--self-test", selfTest)]
        where path?.isEmpty == true {
            throw ValidationError("\(option): write a path")
        }
        for setting in settings where !setting.contains("=") {
            throw ValidationError("--set \(setting): write KEY=VALUE")
        }
    }

    static func start() -> Never {
        do {
            var command = try readCommandLine()
            try command.run()
            end(.success)
        } catch let code as ArgumentParser.ExitCode {
            end(code)
        } catch {
            let code = exitCode(for: error)
            let text = Array((fullMessage(for: error) + "\n").utf8)
            if text.count > 1 {
                _ = StandardStream.write(text, to: code.isSuccess ? STDOUT_FILENO : STDERR_FILENO)
            }
            end(code)
        }
    }

    /// Ends the process without the finalisers of libraries. A picture that does not stop in time is still in work in
    /// another thread, which would crash in what they take down.
    private static func end(_ code: ArgumentParser.ExitCode) -> Never {
        fflush(nil)
        Glibc._exit(code.rawValue)
    }

    /// The arguments after the program's name, as main() got them: Swift reads them from /proc.
    private static func mainArguments() -> [String] {
        var count: CInt = 0
        guard let values = darkroom_entry_arguments(&count), count > 1 else { return [] }
        return (1..<Int(count)).compactMap { values[$0].map { String(cString: $0) } }
    }

    /// Reads the command line. For help, the version, an error in the command line and the check of a configuration it
    /// unblocks signals, so that they end the process at once: the check may read a network file system that does not
    /// answer.
    private static func readCommandLine() throws -> any ParsableCommand {
        do {
            let command = try parseAsRoot(mainArguments())
            if (command as? Self)?.checkConfig != false { darkroom_start_unblock() }
            return command
        } catch {
            darkroom_start_unblock()
            throw error
        }
    }

    func run() throws {
        if !checkConfig { try requireProcFolder() }
        if let selfTest {
            let options = SelfTest.Options(
                spool: absolute(selfTest), kills: kills ?? 30, keeps: keep)
            let test = SelfTest(options, program: "/proc/self/exe")
            throw ArgumentParser.ExitCode(test.run())
        }
        let loader = ConfigurationLoader(path: config, overrides: overrides)
        LoggingSystem.bootstrap { _ in JournalLogHandler() }
        let log = EventLog(Logger(label: "darkroomd"))
        // Before anything is opened that could fail because of this limit.
        if !checkConfig { try step(DescriptorLimit.raise(), log) }
        let loaded = try step(loader.loadAll(), log)
        if checkConfig { return try check(loaded) }
        LogLevel.set(loaded.configuration.logLevel)
        let daemon = try step(Daemon(loader: loader, loaded: loaded, log: log), log)
        throw exit(daemon.run())
    }

    /// A step of the start. If it fails, the daemon says why and ends.
    private func step<Value>(
        _ body: @autoclosure () throws -> Value, _ log: EventLog
    ) throws -> Value {
        do {
            return try body()
        } catch {
            let failure = Failure(erasing: error)
            complain(failure.message, code: failure.code, log)
            throw exit(error)
        }
    }

    private func check(_ loaded: ConfigurationLoader.Loaded) throws {
        let unit = ServiceUnit.name(forConfiguration: config).flatMap(ServiceUnit.query)
        let check = ConfigurationCheck(loaded, unit: unit)
        check.warnings.forEach { complain("warning: \($0)") }
        guard check.problems.isEmpty else {
            check.problems.forEach { complain($0) }
            throw exit(DarkroomDaemon.ExitCode.configuration)
        }
        if let unit, let dropIn = check.dropIn {
            complain(
                "the hot folders need this drop-in (systemctl edit \(unit.name)), and a restart:")
            dropIn.split(separator: "\n").forEach { complain("    \($0)") }
        }
        ConfigurationListing(loaded.settings, withDefaults: all).lines.forEach {
            _ = StandardStream.write(Array("\($0)\n".utf8), to: STDOUT_FILENO)
        }
    }

    private func requireProcFolder() throws {
        do {
            try MissingProcFolder.check()
        } catch {
            complain(error.message)
            throw exit(DarkroomDaemon.ExitCode.systemError)
        }
    }

    private var overrides: [(key: String, text: String)] {
        var overrides = settings.map(ConfigurationLoader.override)
        if let spool { overrides.append(("spool", absolute(spool))) }
        if let logLevel { overrides.append(("log.level", logLevel)) }
        return overrides
    }

    /// A path on the command line is relative to the current folder.
    private func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return "\(String(cString: here))/\(path)"
    }

    /// Reports why the daemon does not start: to the journal as an ordinary record, elsewhere as plain lines.
    private func complain(_ message: String, code: String, _ log: EventLog) {
        if !checkConfig, JournalStream.isStandardError {
            log.notStarted(message, code: code)
            JournalLogHandler.waitUntilRecordsAreRead()
        } else {
            complain(message)
        }
    }

    private func complain(_ message: String) {
        for line in message.split(separator: "\n") {
            _ = StandardStream.write(Array("darkroomd: \(line)\n".utf8), to: STDERR_FILENO)
        }
    }

    private func exit(_ code: DarkroomDaemon.ExitCode) -> ArgumentParser.ExitCode {
        ArgumentParser.ExitCode(code.rawValue)
    }

    /// The exit status of a daemon that could not start. The service manager's `status` shows the reason.
    private func exit(_ error: any Error) -> ArgumentParser.ExitCode {
        let message = (error as? any CodedError)?.message ?? "\(error)"
        ServiceManagerNotifier().status(message.split(separator: "\n").joined(separator: "; "))
        return exit(DarkroomDaemon.ExitCode(of: error))
    }
}
