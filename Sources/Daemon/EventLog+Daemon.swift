import DarkroomConfiguration
import DarkroomCore

/// Records about the daemon itself.
extension EventLog {
    package func started(version: String, spool: String, paused: Bool) {
        say(
            .started,
            "Darkroom \(version) watches \(spool)\(paused ? ", still paused; darkroom resume ends the pause" : "")"
        )
    }

    /// - Parameter message: the errors, each with its place and on its own line.
    package func notStarted(_ message: String, code: String) {
        let lines = message.split(separator: "\n").joined(separator: "; ")
        say(.notStarted, "darkroomd does not start: \(lines)", [.error: code])
    }

    package func configured(_ summary: String) { say(.configured, summary) }

    package func warned(_ warning: ConfigurationWarning) {
        let event: Event =
            switch warning.kind {
            case .rootMissing: .rootMissing
            case .headersExposed: .headersExposed
            }
        say(event, warning.message, [.file: warning.path])
    }

    package func reloadRefused(_ reason: String) {
        say(.reloadRefused, "The new configuration was refused: \(reason)")
    }

    /// - Parameter batches: the IDs of the batches in work and waiting. The record is part of their history, as are those of
    /// a pause and a resumption.
    package func stopping(signal: String, running: Int, batches: [String]) {
        say(
            .stopping,
            "Stopping, because \(Self.asker(of: signal)) asked for it (\(signal)): "
                + "\(Words.count(running, "operation")) finishing",
            batches: batches)
    }

    /// Who sends a signal that stops the daemon.
    private static func asker(of signal: String) -> String {
        signal == "SIGTERM" ? "systemd or a user" : "a user"
    }

    /// A second signal has arrived. The daemon does not wait for running operations any more.
    func stopHurried(signal: String, running: Int) {
        say(
            .stopHurried,
            "\(signal) again: \(Words.count(running, "operation")) aborted, to be repeated after the next start",
            [.count: "\(running)"])
    }

    /// The time for stopping is over. The daemon does not wait for running operations any more.
    func stopTimedOut(after seconds: Double, running: Int) {
        say(
            .stopTimedOut,
            "stop.timeout (\(Quantity.text(seconds: seconds))) is over: \(Words.count(running, "operation")) aborted, "
                + "to be repeated after the next start", [.count: "\(running)"])
    }

    /// Also writes the sums of records that were held back.
    package func stopped(unfinished: Int) {
        flush()
        say(
            .stopped,
            unfinished == 0
                ? "Stopped; there is no unfinished batch"
                : "Stopped; \(Words.count(unfinished, "unfinished batch", "unfinished batches")) "
                    + "will be resumed at the next start")
    }

    package func paused(batches: [String]) {
        say(
            .paused, "Paused: no further work begins until darkroom resume",
            batches: batches)
    }

    package func resumed(batches: [String]) {
        say(.resumed, "Resumed: work continues", batches: batches)
    }

    /// - Parameter remedy: the advice if the service cannot access the folder.
    func metricsFailed(_ error: FileError, remedy: String? = nil) {
        say(
            .metricsFailed,
            "The metrics cannot be written: \(error.message)\(remedy.map { "; \($0)" } ?? "")",
            [.error: error.code])
    }
}
