import Glibc
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
        case .noSpace, Errno(rawValue: EDQUOT): "disk-full"
        case .ioError: "io-error"
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem: "too-many-files"
        case .permissionDenied, .notPermitted, .readOnlyFileSystem: "permission-denied"
        case .noSuchFileOrDirectory, .notDirectory: "file-missing"
        case .fileExists: "file-exists"
        default: "file-error"
        }
    }

    package var message: String { "\(path): cannot \(step): \(errno)" }

    /// Conditions of the machine pass; those of the file itself do not.
    package var isTransient: Bool {
        switch errno {
        case .noSpace, Errno(rawValue: EDQUOT), .tooManyOpenFiles, .tooManyOpenFilesInSystem,
            .noMemory, .resourceTemporarilyUnavailable:
            true
        default: false
        }
    }
}
