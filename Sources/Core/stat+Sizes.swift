import Glibc

extension stat {
    /// The length of a file in bytes. A file system may say anything, but no length is negative.
    package var length: Int { max(0, Int(st_size)) }
}

extension statvfs {
    /// The room of a file system, and what of it is free for whom there is no reserve, in bytes.
    package var room: (all: UInt64, free: UInt64) {
        let block = UInt64(f_frsize)
        return (
            UInt64(f_blocks).saturatingMultiply(block), UInt64(f_bavail).saturatingMultiply(block)
        )
    }
}
