import SystemPackage

/// A failed system call on a file of the spool.
package struct FileError: CodedError, Equatable {
    /// What was attempted, as the end of "cannot …": "rename".
    package var step: String
    /// The path of the file, as users know it.
    package var path: String
    package var errno: Errno

    package init(_ step: String, _ path: String, _ errno: Errno) {
        self.step = step
        self.path = path
        self.errno = errno
    }

    /// The names of the system's errors; several errors may have the same name.
    package enum Code: String, Sendable, CaseIterable {
        /// No space on the disk, or none within a quota.
        case diskFull = "disk-full"
        case ioError = "io-error"
        case tooManyFiles = "too-many-files"
        case noMemory = "no-memory"
        case readOnly = "read-only"
        /// Larger than the process or the file system allows.
        case fileTooLarge = "file-too-large"
        case permissionDenied = "permission-denied"
        case fileMissing = "file-missing"
        case fileExists = "file-exists"
        /// A folder that the daemon has opened at its start was removed, renamed or exchanged.
        case folderLost = "folder-lost"
        /// Any other error; the message has the system's text.
        case fileError = "file-error"
    }

    private var kind: Code {
        if step == Self.lost { return .folderLost }
        return switch errno {
        case .noSpace, .diskQuotaExceeded: .diskFull
        case .ioError: .ioError
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem: .tooManyFiles
        case .noMemory: .noMemory
        case .readOnlyFileSystem: .readOnly
        case .fileTooLarge: .fileTooLarge
        case .permissionDenied, .notPermitted: .permissionDenied
        case .noSuchFileOrDirectory, .notDirectory: .fileMissing
        case .fileExists: .fileExists
        default: .fileError
        }
    }

    package var code: String { kind.rawValue }

    package var message: String { "\(path): cannot \(step): \(errno)" }

    /// Problems of the machine are transient. Problems of the file itself are not, unless another process uses the
    /// file.
    package var isTransient: Bool {
        fault == .full || fault == .scarce || errno == .resourceTemporarilyUnavailable
    }

    /// A failed sync is lasting, whatever its cause: the kernel may have dropped the data that it could not write, and
    /// the next sync would succeed.
    package var fault: StorageFault? {
        [Self.sync, Self.lost].contains(step) ? .lasting : errno.storageFault
    }

    package static let diskFull = Code.diskFull.rawValue

    /// The step of every use of a folder of the spool that is not in its place any more. It is a fault of the storage, and
    /// not of the work: a restart makes the folder again.
    package static let lost = "use it: it was removed or renamed while darkroomd runs"

    /// The step of fsync(2).
    package static let sync = "sync"
}
