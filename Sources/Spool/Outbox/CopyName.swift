import DarkroomCore

/// The hidden names of files that get another name next, in folders to which others may write. They do not end with `~`:
/// cleaners remove such files.
enum CopyName {
    /// The name that is tried first. It is the same after each restart, and others can compute it.
    ///
    /// - Parameter key: nothing else of any spool has it.
    static func first(_ key: String) -> FileName {
        FileName(".darkroom-\(SHA256Digest.hex(of: Array(key.utf8)).prefix(32))")
    }

    /// The name, when nothing has it any more; or one that nobody can guess, if a file of somebody else has it, which
    /// cannot be removed.
    static func free(_ name: FileName, in folder: Directory) -> FileName {
        do throws(FileError) {
            // It is not opened: somebody could have given the name to another file of the daemon.
            if try folder.exists(name) { try folder.remove(name) }
            return name
        } catch {
            return FileName(".darkroom-\(HidingKey().word)")
        }
    }
}
