import Glibc

extension stat {
    /// The length of a file in bytes, never negative, whatever the file system reports.
    package var length: Int { max(0, Int(st_size)) }
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
