import DarkroomClient
import DarkroomCore
import Glibc

/// What the system lets a command have.
enum ProcessLimits {
    /// The files that Dispatch opens for the first signal that a command waits for, and a few. Without them it ends the
    /// process.
    private static let leastFiles = 8

    /// Makes sure that a command can open its first files.
    static func requireFiles() throws(ClientError) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
            limit.rlim_cur < 1024
        else { return }
        var files: [CInt] = []
        defer { files.forEach { close($0) } }
        while files.count < leastFiles {
            let file = open("/", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else {
                throw ClientError(
                    .ioError, code: FileError.Code.tooManyFiles.rawValue,
                    "the limit of open files (RLIMIT_NOFILE) is \(limit.rlim_cur), and at least \(leastFiles) more are needed",
                    remedy: "Raise it with ulimit -n.")
            }
            files.append(file)
        }
    }

    /// Raises the limit of open files, for a command that filters pictures.
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
