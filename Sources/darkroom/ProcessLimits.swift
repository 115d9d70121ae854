import DarkroomClient
import DarkroomCore

/// What the system lets a command have that filters pictures.
enum ProcessLimits {
    /// Raises the limit of open files.
    ///
    /// - Throws: if there are too few files or threads.
    static func prepare() throws(ClientError) {
        try converted(ThreadLimit.check)
        try converted(DescriptorLimit.raise)
    }

    private static func converted<Cause: CodedError>(
        _ body: () throws(Cause) -> Void
    ) throws(ClientError) {
        do {
            try body()
        } catch {
            throw ClientError(.ioError, code: error.code, error.message)
        }
    }
}
