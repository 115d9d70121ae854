import CDarkroomShims
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
        let digits = String(nanoseconds)
        return "\(inode)-\(isNegative ? "-" : "")\(seconds)."
            + String(repeating: "0", count: max(0, 9 - digits.count)) + digits
    }

    /// The time of birth of a file in an open folder, or with an empty name that of an open file itself; nil if the file
    /// system or the kernel does not know it. `path` is its name in messages.
    fileprivate static func birth(
        of name: FileName, in number: CInt, _ path: @autoclosure () -> String
    ) throws(FileError) -> timespec? {
        var seconds: Int64 = 0
        var nanoseconds: Int64 = 0
        do {
            let isKnown = try retryingInterrupts {
                name.withCString { darkroom_birth(number, $0, &seconds, &nanoseconds) }
            }
            return isKnown == 1 ? timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds)) : nil
        } catch  where [.noFunction, .notPermitted, .invalidArgument].contains(error) {
            // The kernel or the sandbox has no statx(2).
            return nil
        } catch {
            throw FileError("examine", path(), error)
        }
    }
}

extension Directory {
    /// The identity of the submitted file, which is in this folder now; nil if it is not there.
    package func droppedIdentity(of name: FileName) throws(FileError) -> String? {
        guard let information = try information(of: name) else { return nil }
        return try droppedIdentity(of: name, information)
    }

    /// The same for a file that has just been examined.
    func droppedIdentity(
        of name: FileName, _ information: stat
    ) throws(FileError) -> String {
        DroppedFile.identity(
            inode: UInt64(information.st_ino),
            birth: try DroppedFile.birth(of: name, in: number, path(of: name)))
    }
}

extension Descriptor {
    /// The identity of this file once it is submitted. `path` is its name in messages.
    package func droppedIdentity(path: String) throws(FileError) -> String {
        var information = stat()
        guard fstat(number, &information) == 0 else {
            throw FileError("examine", path, Errno(rawValue: errno))
        }
        return DroppedFile.identity(
            inode: UInt64(information.st_ino),
            birth: try DroppedFile.birth(of: "", in: number, path))
    }
}
