import CDarkroomShims
import DarkroomAnswer
import DarkroomCore
import Glibc
import SystemPackage

/// The submitted file of a manifest, with an identity that its submitter can know beforehand.
enum DroppedFile {
    /// Identifies a file among all files of its file system, including removed and future ones: by its inode number,
    /// which may be used again after its removal, and by its time of birth, which nobody can set. A rename changes
    /// neither.
    ///
    /// The text is the output of `LC_ALL=C stat -c '%i-%.9W' FILE`. A file system without times of birth has zero.
    ///
    /// - Parameter birth: the time of birth, in seconds and nanoseconds since 1970.
    static func identity(inode: UInt64, birth: timespec?) -> String {
        var seconds = birth?.tv_sec ?? 0
        var nanoseconds = birth?.tv_nsec ?? 0
        let isNegative = seconds < 0
        if isNegative {
            // Half a second before 1970 is −1 plus half a second.
            if nanoseconds > 0 {
                seconds += 1
                nanoseconds = 1_000_000_000 - nanoseconds
            }
            seconds = 0 - seconds
        }
        return "\(inode)-\(isNegative ? "-" : "")\(seconds)." + nanoseconds.digits(width: 9)
    }

    /// A file in an open folder, or with an empty name an open file itself, and its identity.
    ///
    /// - Parameter path: its name in messages.
    /// - Throws: ENOENT if it is not there.
    fileprivate static func examine(
        _ name: FileName, in number: CInt, _ path: @autoclosure () -> String
    ) throws(FileError) -> (information: stat, identity: String) {
        var information = stat()
        var birth = timespec()
        let isKnown = try retryingInterrupts(.examine, path()) {
            name.withCString { darkroom_examine(number, $0, &information, &birth) }
        }
        let identity = identity(
            inode: UInt64(information.st_ino), birth: isKnown == 1 ? birth : nil)
        return (information, identity)
    }
}

extension Directory {
    /// The identity of the submitted file, which is in this folder now; nil if it is not there.
    package func droppedIdentity(of name: FileName) throws(FileError) -> String? {
        try droppedFile(of: name)?.identity
    }

    /// The identity of the submitted file, and what fstatat(2) tells of it, except its blocks.
    func droppedFile(
        of name: FileName
    ) throws(FileError) -> (information: stat, identity: String)? {
        return try ignoringMissing(DroppedFile.examine(name, in: number, path(of: name)))
    }
}

extension Descriptor {
    /// The identity of this file once it is submitted. `path` is its name in messages.
    package func droppedIdentity(path: String) throws(FileError) -> String {
        try DroppedFile.examine("", in: number, path).identity
    }
}
