import CDarkroomShims
import Glibc

extension Directory {
    /// Which folder this is, for a comparison after a restart. The inode alone says little: the roots of file systems have
    /// the numbers 1, 2, 64 or 128. The device does not stay the same when a file system is mounted again.
    ///
    /// | part               | ext4, Btrfs    | XFS            | tmpfs                 | FAT, exFAT     | NFS            |
    /// |--------------------|----------------|----------------|-----------------------|----------------|----------------|
    /// | ID (statfs)        | of the UUID    | of the device  | of the mount, or 0    | of the device  | 0              |
    /// | inode              | stable         | stable         | stable                | 1              | stable         |
    /// | time of birth      | stable         | stable         | of the mount, or none | none           | stable or none |
    ///
    /// So a file system that is mounted again can have another mark. Two marks that are the same mean the same folder,
    /// except for two FAT disks that are put into the same slot, and a server that restores another folder.
    package func mark() throws(FileError) -> String {
        var (information, birth) = (stat(), timespec())
        _ = try retryingInterrupts(.examine, path) {
            darkroom_examine(number, ".", &information, &birth)
        }
        let system = String(darkroom_filesystem_id(number), radix: 16)
        return "\(system)-\(information.st_ino)-\(birth.tv_sec).\(birth.tv_nsec)"
    }
}
