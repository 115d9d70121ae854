import CDarkroomShims
import DarkroomCore
import Glibc
import SystemPackage

/// The file that a manifest came in, as whoever submits it can name it beforehand.
enum DroppedFile {
    /// What tells a file from all others of its file system, those included that have been there and those to come:
    /// its inode, whose number is given again after its end, and the moment when it was made, which nobody can set. A
    /// rename changes neither.
    ///
    /// The text is what `LC_ALL=C stat -c '%i-%.9W' FILE` prints. A file system that knows no such moment has zero.
    ///
    /// - Parameter birth: when the file was made, in seconds and nanoseconds since 1970.
    static func identity(inode: UInt64, birth: timespec?) -> String {
        var seconds = birth?.tv_sec ?? 0
        var nanoseconds = birth?.tv_nsec ?? 0
        let isNegative = seconds < 0
        if isNegative {
            // Half a second before 1970 is half a second more than −1.
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
}

extension Directory {
    /// The identity of the file that a manifest came in, which is in this folder now; nil where there is none.
    func droppedIdentity(of name: FileName) throws(FileError) -> String? {
        guard let information = try information(of: name) else { return nil }
        return DroppedFile.identity(
            inode: UInt64(information.st_ino), birth: try birth(of: name))
    }

    /// When a file was made; nil where the file system does not know, or the kernel does not say.
    private func birth(of name: FileName) throws(FileError) -> timespec? {
        var seconds: Int64 = 0
        var nanoseconds: Int64 = 0
        do {
            let isKnown = try retryingInterrupts {
                name.withCString { darkroom_birth(number, $0, &seconds, &nanoseconds) }
            }
            return isKnown == 1 ? timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds)) : nil
        } catch  where [.noFunction, .notPermitted, .invalidArgument].contains(error) {
            // A kernel or a sandbox without statx(2).
            return nil
        } catch {
            throw FileError("examine", path(of: name), error)
        }
    }
}
