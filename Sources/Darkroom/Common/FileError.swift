import SystemPackage

/// A system call on a file of the spool that failed.
package struct FileError: CodedError, Equatable {
    /// What was being done, as in "cannot rename".
    package var step: String
    /// The file, as its users know it.
    package var path: String
    package var errno: Errno

    package init(_ step: String, _ path: String, _ errno: Errno) {
        self.step = step
        self.path = path
        self.errno = errno
    }

    package var code: String {
        switch errno {
        case .noSpace, .diskQuotaExceeded: Self.diskFull
        case .ioError: "io-error"
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem: "too-many-files"
        case .noMemory: "no-memory"
        case .readOnlyFileSystem: "read-only"
        case .fileTooLarge: "file-too-large"
        case .permissionDenied, .notPermitted: "permission-denied"
        case .noSuchFileOrDirectory, .notDirectory: "file-missing"
        case .fileExists: "file-exists"
        default: "file-error"
        }
    }

    package var message: String { "\(path): cannot \(step): \(errno)" }

    /// Conditions of the machine pass; those of the file itself do not, but for being in someone's use.
    package var isTransient: Bool {
        fault == .full || fault == .scarce || errno == .resourceTemporarilyUnavailable
    }

    /// A failed sync is lasting whatever its cause: the kernel may have dropped what it could not write, and
    /// would report the next one as done.
    package var fault: StorageFault? { step == Self.sync ? .lasting : errno.storageFault }

    static let diskFull = "disk-full"

    /// The step of fsync(2).
    static let sync = "sync"
}
