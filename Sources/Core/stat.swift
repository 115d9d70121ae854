import Glibc

extension stat {
    /// What is at a path; nil if that cannot be known. Then errno says why.
    ///
    /// - Parameter followsLink: whether a symbolic link at the end of the path is followed.
    package init?(path: String, followsLink: Bool = true) {
        self.init()
        let flags = followsLink ? 0 : AT_SYMLINK_NOFOLLOW
        guard fstatat(AT_FDCWD, path, &self, flags) == 0 else { return nil }
    }

    /// The same for an open file.
    package init?(of descriptor: CInt) {
        self.init()
        guard fstat(descriptor, &self) == 0 else { return nil }
    }

    package var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }
    package var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }

    /// The length of a file in bytes, never negative, whatever the file system reports.
    package var length: Int { max(0, Int(st_size)) }

    package func isNewer(than other: stat) -> Bool {
        (st_mtim.tv_sec, st_mtim.tv_nsec) > (other.st_mtim.tv_sec, other.st_mtim.tv_nsec)
    }
}

extension statvfs {
    /// The size of a file system, and the space that is free for users without access to its reserve, in bytes.
    package var room: (all: UInt64, free: UInt64) {
        let block = UInt64(f_frsize)
        return (
            UInt64(f_blocks).saturatingMultiply(block), UInt64(f_bavail).saturatingMultiply(block)
        )
    }
}
