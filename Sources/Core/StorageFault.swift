import SystemPackage

/// What a failure says of the machine rather than of the work that met it. Such work has not failed: it is
/// done again when the machine is in order.
package enum StorageFault: Sendable, Equatable {
    /// No space on the disk, or none within a quota. Passes when someone makes room.
    case full
    /// Too many open files, or no memory for one more. Passes when something is closed.
    case scarce
    /// The disk takes no writes any more, or has lost some. Only an administrator can tell when it is mended.
    case lasting
}

extension Errno {
    /// nil for what concerns one file alone: a refused permission, or EAGAIN for one that Samba has leased out.
    package var storageFault: StorageFault? {
        switch self {
        case .noSpace, .diskQuotaExceeded: .full
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory: .scarce
        case .readOnlyFileSystem: .lasting
        default: nil
        }
    }
}
