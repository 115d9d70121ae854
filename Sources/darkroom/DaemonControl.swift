import DarkroomClient
import DarkroomCore
import Foundation
import Glibc

/// `pause` and `resume`: a signal to the daemon, and what became of it.
enum DaemonControl: String {
    case pause, resume

    /// The seconds after which a daemon that has not obeyed is too busy, or stands still.
    private static let patience = 5.0

    private var signal: CInt { self == .pause ? SIGUSR1 : SIGUSR2 }
    private var signalName: String { self == .pause ? "USR1" : "USR2" }

    func run(on spool: SpoolFolder, json: Bool) throws {
        let daemon = try DaemonProcessHandle(of: spool)
        if let error = daemon.send(signal) {
            guard error == .notPermitted else {
                throw ClientError(
                    .ioError, code: "signal",
                    "The daemon (process \(daemon.number)) cannot be told to \(rawValue): \(error)."
                )
            }
            guard let unit = daemon.unit, askServiceManager(unit) else {
                throw refusal(daemon.number, unit: daemon.unit)
            }
        }
        try waitUntilObeyed(on: spool, json: json)
    }

    /// The service manager may send the signal for a user whom its policy trusts.
    private func askServiceManager(_ unit: String) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/systemctl")
        // Without a terminal nobody can answer a question.
        let question = isatty(STDIN_FILENO) == 1 ? [] : ["--no-ask-password"]
        process.arguments = question + ["kill", "--kill-whom=main", "--signal=\(signalName)", unit]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    private func refusal(_ process: pid_t, unit: String?) -> ClientError {
        let name = HumanText.owner(ofProcess: process) ?? "root"
        let owner = name == "root" ? "" : " and \(name)"
        let service = unit.map { " of \($0)" } ?? ""
        return ClientError(
            .noPermission, code: "not-permitted",
            "Only root\(owner) may \(rawValue) the daemon\(service) (process \(process)).",
            remedy: "sudo darkroom \(rawValue)")
    }

    /// Waits for the report of the daemon, so that a script can rely on the result.
    private func waitUntilObeyed(on spool: SpoolFolder, json: Bool) throws {
        let end = Clock.uptime + Self.patience
        while Clock.uptime < end {
            let state = try DaemonState(of: spool)
            guard state.isPresent else {
                throw ClientError(
                    .noDaemon, code: "no-daemon", "The daemon ended before it could \(rawValue).",
                    remedy: "Start it (systemctl start darkroomd).")
            }
            if hasObeyed(state.name) {
                return try json
                    ? Console.json([
                        "type": "daemon", "command": rawValue,
                        // The state after the command.
                        "state": state.name, "exit": ClientExit.success.rawValue,
                    ])
                    : Console.line(state.name.rawValue)
            }
            // Each reading of /proc/locks makes other processes wait that lock a file.
            usleep(200_000)
        }
        throw ClientError(
            .tryAgain, code: "not-obeyed",
            "The daemon was told to \(rawValue), but has not done it within \(Int(Self.patience)) seconds.",
            remedy: "It may do it later. darkroom status shows what it does.")
    }

    private func hasObeyed(_ state: DaemonState.Name) -> Bool {
        switch self {
        case .pause: state == .paused
        case .resume: state != .paused && state != .stopping
        }
    }
}
