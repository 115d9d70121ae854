import DarkroomCore
import Glibc
import SystemPackage

/// The lock of a spool's root folder. The kernel releases it when the process ends, in whatever way.
///
/// It is flock(2), which belongs to the open file description; over NFS, the kernel makes it a lock of the server on the
/// file `lock`. So it excludes processes of other machines too.
package enum SpoolLock {
    /// Locks the folder. The content of the file `lock` names the process, for a second one.
    package static func take(
        _ root: Directory, for program: String
    ) throws(SpoolError) -> Descriptor {
        let path = root.path(of: "lock")
        // The folder itself is locked too, because someone may remove `lock` as a leftover. If the file system cannot
        // lock folders, as some network file systems, only the file is locked.
        if flock(root.number, LOCK_EX | LOCK_NB) != 0, Errno(rawValue: errno) == .wouldBlock {
            throw .locked(spool: root.path, holder: holder(root))
        }
        let number = openat(root.number, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard number >= 0 else { throw .file(FileError("open", path, Errno(rawValue: errno))) }
        let lock = Descriptor(owning: number)
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            let cause = Errno(rawValue: errno)
            guard cause == .wouldBlock else { throw .file(FileError("lock", path, cause)) }
            throw .locked(spool: root.path, holder: holder(root))
        }
        let text = "\(program), process \(getpid()), since \(Clock.timestamp)\n"
        do {
            try lock.truncate(to: 0, path: path)
            try lock.write(Array(text.utf8), path: path)
        } catch  where error.fault == .full {
            // The lock is valid without its content. A full disk must not prevent the start: the daemon waits for
            // space.
        } catch {
            throw .file(error)
        }
        return lock
    }

    /// The content of the lock file, or a general text if it cannot be read.
    private static func holder(_ root: Directory) -> String {
        let text = (try? root.read("lock", upTo: 512)).map { String(decoding: $0, as: UTF8.self) }
        let line = text?.split(separator: "\n").first.map(String.init)
        return line ?? "another process"
    }
}
