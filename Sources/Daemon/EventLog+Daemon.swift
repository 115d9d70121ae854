import DarkroomCore

/// What is said of the daemon itself.
extension EventLog {
    package func started(version: String, spool: String, paused: Bool) {
        say(
            .started,
            "Darkroom \(version) watches \(spool)\(paused ? ", still paused (SIGUSR1)" : "")")
    }

    /// - Parameter message: names what is wrong, with its place; of several things one a line.
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

    /// - Parameter batches: those in work and waiting, whose stories it is part of; so, too, in what follows.
    package func stopping(signal: String, running: Int, batches: [String]) {
        say(
            .stopping, "Stopping (\(signal)): \(Words.count(running, "operation")) finishing",
            batches: batches)
    }

    /// A second signal has come, and what runs is not waited for any more.
    func stopHurried(signal: String, running: Int) {
        say(
            .stopHurried,
            "\(signal) again: \(Words.count(running, "operation")) aborted, to be repeated after the next start",
            [.count: "\(running)"])
    }

    /// The time for stopping is over, and what runs is not waited for any more.
    func stopTimedOut(after seconds: Double, running: Int) {
        say(
            .stopTimedOut,
            "stop.timeout (\(Quantity.text(seconds: seconds))) is over: \(Words.count(running, "operation")) aborted, "
                + "to be repeated after the next start", [.count: "\(running)"])
    }

    /// Also tells what had been collected to be summed up.
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
        say(.paused, "Paused (SIGUSR1): no further work begins until SIGUSR2", batches: batches)
    }

    package func resumed(batches: [String]) {
        say(.resumed, "Resumed (SIGUSR2): work continues", batches: batches)
    }

    /// - Parameter remedy: what helps where the service cannot get at the folder.
    func metricsFailed(_ error: FileError, remedy: String? = nil) {
        say(
            .metricsFailed,
            "The metrics cannot be written: \(error.message)\(remedy.map { "; \($0)" } ?? "")",
            [.error: error.code])
    }
}
