import DarkroomAnswer
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
        if problem(locking: root.number, LOCK_EX) == .wouldBlock {
            throw .locked(spool: root.path, holder: holder(root))
        }
        let number = openat(root.number, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard number >= 0 else { throw .file(FileError(.open, path, Errno(rawValue: errno))) }
        let lock = Descriptor(owning: number)
        if let cause = problem(locking: number, LOCK_EX) {
            guard cause == .wouldBlock else { throw .file(FileError(.lock, path, cause)) }
            throw .locked(spool: root.path, holder: holder(root))
        }
        let text = "\(program), process \(getpid()), since \(Clock.timestamp)\n"
        do {
            try lock.truncate(to: 0, path: path)
            try lock.write(Array(text.utf8), path: path)
        } catch  where error.storageFailure == .full {
            // The lock is valid without its content. A full disk must not prevent the start: the daemon waits for
            // space.
        } catch {
            throw .file(error)
        }
        return lock
    }

    /// Locks a folder on a file system that is mounted read-only, against those who may write to it elsewhere. Any number
    /// of processes can have this lock.
    ///
    /// - Returns: nil if the file system permits writing.
    package static func takeToRead(_ root: Directory) throws(SpoolError) -> Descriptor? {
        var information = statvfs()
        guard fstatvfs(root.number, &information) == 0,
            information.f_flag & UInt(ST_RDONLY) != 0
        else { return nil }
        guard let lock = shared(root) else { throw .locked(spool: root.path, holder: holder(root)) }
        return lock
    }

    /// Whether a process works in the folder. The answer may be wrong when it arrives.
    package static func isHeld(_ root: Directory) -> Bool { shared(root) == nil }

    /// nil if somebody else has the lock.
    private static func shared(_ root: Directory) -> Descriptor? {
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW
        // A description of its own, which has a lock of its own.
        let folder = Descriptor(owning: openat(root.number, ".", flags | O_DIRECTORY))
        if problem(locking: folder.number, LOCK_SH) == .wouldBlock { return nil }
        let number = openat(root.number, "lock", flags)
        // Someone may have removed it as a leftover.
        guard number >= 0 else { return folder }
        let file = Descriptor(owning: number)
        if problem(locking: number, LOCK_SH) == .wouldBlock { return nil }
        // Where folders cannot be locked, the file is what others look at. Elsewhere they look at both.
        return file
    }

    /// Why a lock cannot be taken; nil if it was. Whoever only looks (`isHeld`) has the lock for a moment.
    private static func problem(locking number: CInt, _ kind: CInt) -> Errno? {
        for _ in 0..<5 {
            if flock(number, kind | LOCK_NB) == 0 { return nil }
            guard Errno(rawValue: errno) == .wouldBlock else { break }
            usleep(10_000)
        }
        return Errno(rawValue: errno)
    }

    /// The content of the lock file, or a general text if it cannot be read.
    package static func holder(_ root: Directory) -> String {
        let text = (try? root.read("lock", upTo: 512)).map { String(decoding: $0, as: UTF8.self) }
        let line = text?.split(separator: "\n").first.map(String.init)
        return line ?? "another process"
    }
}
