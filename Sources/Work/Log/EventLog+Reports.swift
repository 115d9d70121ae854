import DarkroomCore

extension EventLog {
    /// - Parameter file: the name of a report in the spool.
    func reportFailed(_ error: FileError, of file: FileName) {
        say(
            .reportFailed, "\(file.text) is not up to date: \(error.message)",
            [.error: error.code])
    }
}
