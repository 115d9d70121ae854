import DarkroomCore

/// The exit codes of the process, from sysexits.h.
package enum ExitCode: Int32, Sendable {
    case success = 0
    case usage = 64
    case software = 70
    case systemError = 71
    case ioError = 74
    case temporaryFailure = 75
    case noPermission = 77
    case configuration = 78

    /// The exit code of a daemon that cannot start or continue because of this error.
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
