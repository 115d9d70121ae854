import DarkroomCore
import DarkroomSelfTest
import Foundation

/// Signals that come while the program's libraries are being initialized, long before main(): the shim sends each at one
/// and the same moment, with nothing blocked by whoever starts the daemon.
enum EarlySignals {
    static func run(_ fixture: FaultFixture) throws -> [String] {
        try [
            ("SIGUSR1", SIGUSR1), ("SIGUSR2", SIGUSR2), ("SIGHUP", SIGHUP), ("SIGTERM", SIGTERM),
            ("SIGINT", SIGINT),
        ].map { try run($0.0, $0.1, fixture) } + [interrupted(fixture)]
    }

    /// What is no daemon is ended by Ctrl-C like any program, however early.
    private static func interrupted(_ fixture: FaultFixture) throws -> String {
        let environment = ["LD_PRELOAD": fixture.shim, "SHIM_SIGNAL": "\(SIGINT)"]
        let commands = [["--help"], ["--version"], ["--check-config"], ["--what"]]
        for command in commands {
            let program = try unblocked {
                try ChildDaemon(
                    fixture.program, command, environment: environment,
                    log: fixture.folder.path(of: "interrupted.log"))
            }
            let ending = try program.wait(30)
            guard ending == .killed(signal: SIGINT) else {
                return "FAIL SIGINT of \(command[0]): \(ending.map { "\($0)" } ?? "it goes on")"
            }
        }
        return "ok SIGINT of \(commands.map { $0[0] }.joined(separator: ", "))"
    }

    private static func run(_ name: String, _ signal: CInt, _ fixture: FaultFixture) throws
        -> String
    {
        let what = "\(name) before main()"
        let spool = try TestSpool(
            FileName("early-\(name)"), in: fixture.folder, program: fixture.program)
        let daemon = try unblocked {
            try spool.start(environment: ["LD_PRELOAD": fixture.shim, "SHIM_SIGNAL": "\(signal)"])
        }
        let hasActed = try eventually(within: 60) { () throws(SelfTestError) -> Bool? in
            switch signal {
            case SIGTERM, SIGINT: return daemon.poll().map { $0 == .exited(0) }
            case SIGUSR1: if try spool.exists("paused") { return true }
            case SIGHUP:
                if spool.lastWords.contains(where: { $0.contains("Configuration reloaded") }) {
                    return true
                }
            default: if try spool.exists("inbox.json") { return true }
            }
            return daemon.poll() == nil ? nil : false
        }
        daemon.send(SIGTERM)
        let ending = try daemon.wait(30)
        guard hasActed == true, ending == .exited(0) else {
            return "FAIL \(what): \(ending.map { "\($0)" } ?? "the daemon does not stop")\n    "
                + spool.lastWords.joined(separator: "\n    ")
        }
        return "ok \(what)"
    }

    /// Starts a child with no signal blocked or ignored, as the service manager does; this process has blocked some, and
    /// a shell that started it behind its back may have had it ignore SIGINT.
    private static func unblocked<Value>(_ body: () throws -> Value) rethrows -> Value {
        var none = sigset_t()
        var former = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &former)
        let interrupt = signal(SIGINT, SIG_DFL)
        defer {
            signal(SIGINT, interrupt)
            pthread_sigmask(SIG_SETMASK, &former, nil)
        }
        return try body()
    }
}
