import Glibc

/// The stream that systemd connects to the journal.
package enum JournalStream {
    /// Whether standard error is this stream. JOURNAL_STREAM has its device number and its inode number.
    package static var isStandardError: Bool {
        guard let stream = getenv("JOURNAL_STREAM"), let information = stat(of: STDERR_FILENO)
        else { return false }
        return String(cString: stream) == "\(information.st_dev):\(information.st_ino)"
    }
}
