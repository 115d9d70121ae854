import DarkroomCore
import Glibc
import SystemPackage

/// Folders in `tmp` in which `darkroom submit --copy` collects a manifest and its pictures: `.darkroom-PROCESS-NUMBER`.
///
/// Each is locked by the process that fills it, with flock(2), which ends with the process in whatever way. So a folder
/// without a lock is a leftover. If the file system cannot lock folders (some network file systems), nothing is removed.
package enum StagedFolders {
    private static let prefix = ".darkroom-"

    /// A new name for this process.
    package static func newName() -> FileName {
        FileName("\(prefix)\(getpid())-\(UInt32.random(in: 0 ... .max))")
    }

    /// Locks an open folder for as long as it is open.
    ///
    /// - Returns: false if another process has locked it, or has removed it in between.
    package static func lock(_ folder: Directory) throws(FileError) -> Bool {
        if flock(folder.number, LOCK_EX | LOCK_NB) != 0 {
            if Errno(rawValue: errno) == .wouldBlock { return false }
        }
        return try folder.information().st_nlink > 0
    }

    /// Removes the leftovers and returns their number. One that cannot be removed does not affect the others; its owner
    /// or an administrator can.
    ///
    /// - Parameter owner: only the folders of this user; nil for all.
    @discardableResult
    package static func removeLeftovers(
        in tmp: Directory, of owner: UInt32? = nil
    ) throws(FileError) -> Int {
        var count = 0
        for name in try tmp.names() where name.bytes.starts(with: prefix.utf8) {
            guard let information = try tmp.information(of: name), information.isFolder,
                owner == nil || information.st_uid == owner,
                let folder = try? Directory(name, in: tmp),
                flock(folder.number, LOCK_EX | LOCK_NB) == 0
            else { continue }
            // Its process may have renamed it into the inbox and ended since it was opened.
            guard let now = try? folder.information(), now.st_ino == information.st_ino,
                (try? tmp.removeTree(name)) != nil
            else { continue }
            count += 1
        }
        return count
    }
}
