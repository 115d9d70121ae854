import Glibc
import SystemPackage

/// Folders that are made on the way to files of others.
extension Directory {
    /// Opens a folder in this one, and makes it with the mode of another folder if it is missing.
    ///
    /// It has mode 0700 until it is complete, so that one which a killed process has left is completed later:
    ///
    /// | state     | mode        | its name is on the disk           | content | the next call            |
    /// |-----------|-------------|-----------------------------------|---------|--------------------------|
    /// | made      | 0700        | perhaps                           | –       | syncs it, sets the mode  |
    /// | synced    | 0700        | yes, with `durably`               | –       | the same                 |
    /// | complete  | that of     | yes, with `durably`               | any     | opens it                 |
    /// |           | `model`     |                                   |         |                          |
    ///
    /// - Parameters:
    ///   - model: the folder whose permissions and sticky bit it gets. A file system without modes has its own.
    ///   - durably: whether its name is on the disk when it is complete. Its mode is when it is synced next.
    package func makeFolder(
        _ name: FileName, like model: Directory, durably: Bool
    ) throws(FileError) -> Directory {
        // What exists may be one that is not complete, or no folder.
        if try makeIfMissing(name, mode: 0o700) { FaultPoint.outputFolderMade.pass() }
        let made = try Directory(name, in: self)
        let found = try made.information()
        guard found.st_uid == geteuid(), found.st_mode & 0o777 == 0o700,
            try made.names(atMost: 1).isEmpty
        else { return made }
        if durably { try syncNames() }
        let bits = S_ISVTX | 0o777
        let mode = try model.information().st_mode & bits
        if mode != found.st_mode & bits {
            _ = fchmod(made.number, mode | found.st_mode & (S_ISUID | S_ISGID))
        }
        return made
    }

    /// Waits until the names in the folder are on the disk. A network file system may not be able to; then its server
    /// decides.
    package func syncNames() throws(FileError) {
        do throws(FileError) {
            try sync()
        } catch  where [.invalidArgument, .notSupported].contains(error.errno) {
            return
        }
    }
}
