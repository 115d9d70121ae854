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

    /// What the system's answers are called; several of them may mean one thing.
    package enum Code: String, Sendable, CaseIterable {
        /// No space on the disk, or none within a quota.
        case diskFull = "disk-full"
        case ioError = "io-error"
        case tooManyFiles = "too-many-files"
        case noMemory = "no-memory"
        case readOnly = "read-only"
        /// Larger than the process, or the file system, may have files.
        case fileTooLarge = "file-too-large"
        case permissionDenied = "permission-denied"
        case fileMissing = "file-missing"
        case fileExists = "file-exists"
        /// Anything else; the message has the system's words.
        case fileError = "file-error"
    }

    private var kind: Code {
        switch errno {
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

    /// Conditions of the machine pass; those of the file itself do not, but for being in someone's use.
    package var isTransient: Bool {
        fault == .full || fault == .scarce || errno == .resourceTemporarilyUnavailable
    }

    /// A failed sync is lasting whatever its cause: the kernel may have dropped what it could not write, and
    /// would report the next one as done.
    package var fault: StorageFault? { step == Self.sync ? .lasting : errno.storageFault }

    package static let diskFull = Code.diskFull.rawValue

    /// The step of fsync(2).
    package static let sync = "sync"
}
