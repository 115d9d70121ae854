import DarkroomCore
import Glibc
import SystemPackage

/// Files that callers name by their paths.
enum PicturePath {
    /// Opens a regular file.
    static func openForReading(_ path: String) throws(PictureError) -> Descriptor {
        // For a pipe that no process has open at its other end, the system would wait.
        let file = try open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, name: path, .readFailed)
        guard stat(of: file.number)?.isRegularFile == true else {
            throw PictureError(.readFailed, "\(path): opening the file: it is not a regular file")
        }
        return file
    }

    /// Creates a file that does not exist, for writing and reading.
    ///
    /// - Parameter name: the path that the caller knows.
    static func create(_ path: String, name: String) throws(PictureError) -> Descriptor {
        try open(path, O_RDWR | O_CREAT | O_EXCL, name: name, .writeFailed, "creating")
    }

    /// Creates a file without a name in this folder, for writing and reading; nil where that is impossible.
    ///
    /// - Parameter folder: its path up to the last slash; empty for the current one.
    static func createUnnamed(in folder: String) -> Descriptor? {
        // The name is given through this folder.
        guard access("/proc/self/fd", X_OK) == 0 else { return nil }
        let path = folder.isEmpty ? "." : folder
        let temporaryFile: CInt = 0o20000000 | O_DIRECTORY
        return try? open(path, O_RDWR | temporaryFile, name: path, .writeFailed, "creating")
    }

    private static func open(
        _ path: String, _ flags: CInt, name: String, _ code: PictureError.Code,
        _ step: String = "opening"
    ) throws(PictureError) -> Descriptor {
        do throws(Errno) {
            // The system would use only the part before it as the path.
            if name.utf8.contains(0) { throw .invalidArgument }
            return Descriptor(
                owning: try retryingInterrupts { Glibc.open(path, flags | O_CLOEXEC, 0o666) })
        } catch {
            throw PictureError(code, "\(name): \(step) the file", error)
        }
    }
}
