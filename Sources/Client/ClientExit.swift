import DarkroomAnswer

/// The exit codes of `darkroom`. Those from 64 on are from sysexits.h.
package enum ClientExit: Int32, Error, Sendable, CaseIterable {
    case success = 0
    /// A command was given, and changed nothing: the batch has ended already, or there was nothing to repeat.
    case noEffect = 1
    case completedWithErrors = 3
    case cancelled = 4
    /// Shards of a run are missing or not finished.
    case incomplete = 8
    case usage = 64
    /// A manifest has errors, or was rejected.
    case rejected = 65
    /// There is no such batch, or a file that the command needs does not exist.
    case missing = 66
    case noDaemon = 69
    /// The system lacks what every program may expect.
    case systemError = 71
    /// A folder or file of the results cannot be created.
    case cannotCreate = 73
    case ioError = 74
    /// The time is over before a batch has ended, or something else was in the way. A later attempt may succeed.
    case tryAgain = 75
    case noPermission = 77
    case configuration = 78
    case interrupted = 130

    /// The worse of two codes: the higher one.
    package static func worst(_ a: ClientExit, _ b: ClientExit) -> ClientExit {
        a.rawValue >= b.rawValue ? a : b
    }
}

extension ClientExit {
    package init(of state: BatchState) {
        self =
            switch state {
            case .pending, .processing, .held: .tryAgain
            case .completed: .success
            case .completedWithErrors: .completedWithErrors
            case .cancelled: .cancelled
            case .rejected: .rejected
            }
    }

    package init(ofWorst states: some Sequence<BatchState>) {
        self = states.map { ClientExit(of: $0) }.reduce(.success, ClientExit.worst)
    }
}
