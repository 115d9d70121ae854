import SystemPackage

/// A failure that is a problem of the machine and not of the work. The work has not failed: it is repeated when the
/// machine works again.
package enum StorageFailure: Sendable, Equatable {
    /// No space on the disk or within a quota. It passes when someone frees space.
    case full
    /// Too many open files, or no memory for another one. It passes when something is closed.
    case scarce
    /// The disk cannot be written to any more, or has lost data. Only an administrator can tell when it is repaired.
    case lasting
}

extension Errno {
    /// nil if the error concerns one file only: a missing permission, or EAGAIN for a file that Samba has leased.
    package var storageFailure: StorageFailure? {
        switch self {
        case .noSpace, .diskQuotaExceeded: .full
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory: .scarce
        case .readOnlyFileSystem: .lasting
        default: nil
        }
    }
}
