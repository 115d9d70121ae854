import CDarkroomShims
import Glibc
import SystemPackage

/// Who else may create a name at the same moment.
package enum Rivals: Sendable {
    /// Nobody: only the holder of a lock creates files there, or the name is unique.
    case none
    /// Other processes, perhaps on other machines: the inbox, a hot folder, the plan of shards.
    case some
}

/// Giving a file a name that no other file has. This is the only place that does it for files with a name.
///
/// | rung | calls                                           | missing on                           | guarantee                               |
/// |------|-------------------------------------------------|--------------------------------------|-----------------------------------------|
/// | 1    | linkat(2), then the first name is removed       | exFAT, FAT, many FUSE file systems   | of several, one gets the name, also on  |
/// |      |                                                 | (rclone, s3fs), folders everywhere   | a network: the server decides           |
/// | 2    | renameat2(2) with RENAME_NOREPLACE              | NFS, older FUSE file systems         | the same, where the kernel decides      |
/// | 3    | a look, then rename(2)                          | –                                    | right without rivals                    |
/// | 4    | open(2) with O_EXCL, then rename(2) over the    | –                                    | of several, one gets the name, as far   |
/// |      | empty file                                      |                                      | as the file system has O_EXCL           |
///
/// | rung | others see           | a kill between the calls leaves                                         |
/// |------|----------------------|-------------------------------------------------------------------------|
/// | 1    | the complete file    | both names; the repetition removes the first one                        |
/// | 2, 3 | the complete file    | nothing                                                                 |
/// | 4    | for a moment an      | an empty file with the new name, and the first name: the new name is    |
/// |      | empty file           | taken until somebody removes it                                         |
///
/// `rename` begins with rung 2, because no kill leaves two names; `publish` begins with rung 1, because on a network only
/// a link is decided by the server. A file without rivals goes on to rung 3, one with rivals to rung 4. A folder goes to
/// rung 3 in both cases: rename(2) replaces an empty folder at most.
extension Directory {
    /// Renames a file, within this folder or into another folder of the same file system. Without `replacing`, it
    /// throws EEXIST if the new name exists.
    package func rename(
        _ name: FileName, to folder: Directory, as newName: FileName, replacing: Bool = false,
        rivals: Rivals = .none
    ) throws(FileError) {
        do {
            _ = try retryingInterrupts(
                .rename, path(of: name), detail: "to \(folder.path(of: newName))"
            ) {
                name.withCString { old in
                    newName.withCString { new in
                        replacing
                            ? renameat(number, old, folder.number, new)
                            : darkroom_rename_noreplace(number, old, folder.number, new)
                    }
                }
            }
        } catch
            where !replacing
            && [.invalidArgument, .noFunction, .notSupported].contains(error.errno)
        {
            try renameByLink(name, to: folder, as: newName, rivals: rivals)
        }
    }

    /// Gives a complete file its final name; throws EEXIST if the name exists.
    package func publish(
        _ name: FileName, to folder: Directory, as newName: FileName, rivals: Rivals
    ) throws(FileError) {
        do {
            try link(name, to: folder, as: newName)
        } catch  where Self.mayLackLinks(error.errno) {
            return try rename(name, to: folder, as: newName, rivals: rivals)
        }
        try remove(name)
    }

    /// The errors of a file system without hard links; that of rclone is EIO. Some have other causes too; the next rung
    /// then has the same error, or succeeds.
    package static func mayLackLinks(_ error: Errno) -> Bool {
        [.notPermitted, .notSupported, .noFunction, .tooManyLinks, .ioError].contains(error)
    }

    /// Rungs 1, 3 and 4. The file has two names for a moment. A crash between the two steps leaves both names; the
    /// repetition removes the first one.
    func renameByLink(
        _ name: FileName, to folder: Directory, as newName: FileName, rivals: Rivals = .none
    ) throws(FileError) {
        do {
            try link(name, to: folder, as: newName)
        } catch  where error.errno == .fileExists {
            guard let old = try information(of: name),
                let new = try folder.information(of: newName),
                (old.st_dev, old.st_ino) == (new.st_dev, new.st_ino)
            else { throw error }
        } catch  where Self.mayLackLinks(error.errno) {
            return try renameWithoutLinks(name, to: folder, as: newName, rivals: rivals)
        }
        try remove(name)
    }

    /// Rungs 3 and 4.
    func renameWithoutLinks(
        _ name: FileName, to folder: Directory, as newName: FileName, rivals: Rivals
    ) throws(FileError) {
        let target = "to \(folder.path(of: newName))"
        guard let old = try information(of: name) else {
            throw FileError(.rename, path(of: name), .noSuchFileOrDirectory, detail: target)
        }
        guard rivals == .some, old.st_mode & S_IFMT != S_IFDIR else {
            if try folder.exists(newName) {
                throw FileError(.rename, path(of: name), .fileExists, detail: target)
            }
            return try rename(name, to: folder, as: newName, replacing: true)
        }
        // Closed before the rename: some file systems write a file when it is closed, under its name.
        let reserved = try folder.create(newName)
        try reserved.close(path: folder.path(of: newName))
        do {
            try rename(name, to: folder, as: newName, replacing: true)
        } catch {
            try? folder.remove(newName)
            throw error
        }
    }

    /// Gives a file a second name in this or another folder of the same file system; throws EEXIST if the name exists.
    package func link(
        _ name: FileName, to folder: Directory, as newName: FileName
    ) throws(FileError) {
        _ = try retryingInterrupts(.link, path(of: name), detail: "to \(folder.path(of: newName))")
        {
            name.withCString { old in
                newName.withCString { new in linkat(number, old, folder.number, new, 0) }
            }
        }
    }
}
