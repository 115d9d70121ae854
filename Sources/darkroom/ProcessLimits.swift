import DarkroomClient
import DarkroomCore

/// What the system lets a command have.
enum ProcessLimits {
    /// The files that Dispatch opens for the first signal that a command waits for, and a few. Without them it ends the
    /// process.
    private static let leastFiles = 8

    static func requireFiles() throws(ClientError) {
        try asClientError(.ioError, DescriptorLimit.require(leastFiles))
    }

    /// Raises the limit of open files, for a command that filters pictures.
    ///
    /// - Throws: if there are too few files or threads.
    static func prepare() throws(ClientError) {
        try asClientError(.ioError, ThreadLimit.check())
        try asClientError(.ioError, DescriptorLimit.raise())
    }
}
