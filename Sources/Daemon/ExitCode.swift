import DarkroomCore

/// How the process ends, after sysexits.h.
package enum ExitCode: Int32, Sendable {
    case success = 0
    case usage = 64
    case software = 70
    case systemError = 71
    case ioError = 74
    case temporaryFailure = 75
    case noPermission = 77
    case configuration = 78

    /// Of a daemon that cannot begin, or cannot go on, for this error.
    package init(of error: any Error) {
        switch (error as? any CodedError)?.code {
        case "spool-locked": self = .temporaryFailure
        case "configuration": self = .configuration
        case "permission-denied": self = .noPermission
        case "io-error", "disk-full": self = .ioError
        default: self = .systemError
        }
    }
}
