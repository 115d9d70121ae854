import Logging

extension EventLog {
    /// Something hangs, and the service manager will end the daemon for it.
    func stuck(_ still: StillWork) {
        var fields: Logger.Metadata = [:]
        if let batch = still.work.batch { fields[Field.batch] = .string(batch) }
        if let image = still.work.image { fields[Field.image] = .string(image) }
        say(
            .error, .workStuck,
            "\(still.work.text) has not moved for \(Int(still.seconds)) s; the service manager's watchdog is fed no"
                + " more, and will end darkroomd", fields)
    }
}
