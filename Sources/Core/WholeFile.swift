import Glibc
import SystemPackage

/// Files of the machine that are read from their beginning to their end: those of the kernel (/proc, /sys), and what an
/// administrator names, which may be a pipe.
///
/// Such a file has no length, and a read may return less than there is: a page of it, or what is in the pipe. Foundation's
/// readers take this for the end. So they are not used in Sources (Tests/run.sh lint).
package enum WholeFile {
    /// - Parameter maximum: a longer file is an error.
    package static func bytes(of path: String, upTo maximum: Int) throws(FileError) -> [UInt8] {
        try Descriptor(opening: path).whole(upTo: maximum, path: path)
    }

    /// The text of a file of the kernel; nil if it cannot be read. Names in it may have bytes that are not UTF-8.
    package static func kernelText(_ path: String) -> String? {
        guard let bytes = try? bytes(of: path, upTo: FileLimit.table) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Descriptor {
    /// Reads from the current position to the end. More than `maximum` bytes are an error, at once if the file has a
    /// length.
    package func whole(
        upTo maximum: Int, path: String, waits: Bool = false
    ) throws(FileError) -> [UInt8] {
        let found = try information(path: path)
        guard found.st_mode & S_IFMT != S_IFREG || found.length <= maximum else {
            throw .tooLong(path, limit: maximum)
        }
        let bytes = try readAll(upTo: maximum, path: path, waits: waits)
        guard bytes.count <= maximum else { throw .tooLong(path, limit: maximum) }
        return bytes
    }
}

extension FileError {
    /// The error of a file that is longer than the program wants to read.
    package static func tooLong(_ path: String, limit: Int) -> FileError {
        FileError(.read, path, .fileTooLarge, detail: "more than \(Units.bytes(limit)) of it")
    }
}
