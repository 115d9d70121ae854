import DarkroomCore

extension EventLog {
    /// Work hangs, and the service manager will end the daemon because of it.
    package func stuck(_ still: StillWork) {
        var fields: Fields = [:]
        if let batch = still.work.batch { fields[.batch] = batch }
        if let image = still.work.image { fields[.image] = image }
        say(
            .workStuck,
            "\(still.work.text) has made no progress for \(Int(clamping: still.seconds)) s; the service manager's"
                + " watchdog will restart darkroomd", fields)
    }
}
