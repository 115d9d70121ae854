import SystemPackage

/// A failed system call on a file of the spool.
package struct FileError: CodedError, Equatable {
    /// What was attempted; the word stands after "cannot".
    package enum Step: String, Sendable {
        case answer
        case changeMode = "change the mode"
        case close
        case `continue`
        case copy
        case create
        case createFolder = "create folder"
        case examine
        case find
        case link
        case list
        case lock
        /// Every use of a folder of the spool that is not in its place any more. It is a failure of the storage, and not
        /// of the work: a restart makes the folder again.
        case lost = "use it: it was removed or renamed while darkroomd runs"
        case makeReadable = "make readable"
        case open
        case read
        case remove
        case removeFolder = "remove folder"
        case rename
        case replace
        case reserve
        case send
        case setMode = "set the mode of"
        case start
        /// fsync(2), and what else waits for the disk.
        case sync
        case take
        case truncate
        case use
        case watch
        case write
    }

    package var step: Step
    /// How the sentence goes on after the step: where to, or what is wrong.
    package var detail: String?
    /// The path of the file, as users know it.
    package var path: String
    package var errno: Errno

    package init(_ step: Step, _ path: String, _ errno: Errno, detail: String? = nil) {
        self.step = step
        self.detail = detail
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
        if step == .lost { return .folderLost }
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

    package var message: String {
        let attempt = detail.map { "\(step.rawValue) \($0)" } ?? step.rawValue
        return "\(path): cannot \(attempt): \(errno)"
    }

    /// Problems of the machine are transient. Problems of the file itself are not, unless another process uses the
    /// file.
    package var isTransient: Bool {
        storageFailure == .full || storageFailure == .scarce
            || errno == .resourceTemporarilyUnavailable
    }

    /// A failed sync is lasting, whatever its cause: the kernel may have dropped the data that it could not write, and
    /// the next sync would succeed.
    package var storageFailure: StorageFailure? {
        [.sync, .lost].contains(step) ? .lasting : errno.storageFailure
    }

    /// Whether the storage has failed, for which an I/O error of a single file counts too.
    package var isOfTheStorage: Bool { storageFailure != nil || errno == .ioError }

    package static let diskFull = Code.diskFull.rawValue
}
