import Glibc
import SystemPackage

/// A folder that somebody else could exchange or fill while this process works in it.
package struct ForeignFolder: CodedError, Equatable {
    package enum Reason: Sendable, Equatable {
        case owner(UInt32)
        /// Users other than the owner may write, and that cannot be changed.
        case writable(mode_t)
    }

    package let path: String
    package let reason: Reason

    package var code: String { "foreign-folder" }
    package var isTransient: Bool { false }

    package var message: String {
        switch reason {
        case .owner(let user):
            "\(path): this folder belongs to the user with the number \(user), and not to \(geteuid()), who runs the command"
        case .writable(let mode):
            "\(path): other users may write to this folder (mode \(String(mode & 0o7777, radix: 8)))"
        }
    }
}

/// What prevents the use of a folder of one's own.
package enum OwnFolderError: Error {
    case file(FileError)
    case foreign(ForeignFolder)
}

/// Folders that nobody else can change, in a folder that others may be able to write to.
///
/// Whoever may write to the parent can exchange the name for a link or another folder at any moment. So the folder is
/// opened once, without following a link, and looked at through its descriptor; what is done later through the
/// descriptor stays in this folder. What is in it can be exchanged only by its owner and by those who may write to it.
extension Directory {
    /// Opens the folder `name` within this one, and creates it if it is missing. Takes away the right of others to write
    /// to it: a umask of 002 or a volume of Kubernetes (`fsGroup`) gives it to the group.
    ///
    /// - Parameter mode: the permissions of a new folder, less the umask. Those of an existing folder are only reduced.
    package func ownFolder(
        _ name: FileName, mode: mode_t = 0o755
    ) throws(OwnFolderError) -> Directory {
        do {
            return try ownFolder(existing: name)
        } catch .file(let error) where error.errno == .noSuchFileOrDirectory {
            // It is created below.
        }
        do {
            // Another process of the same user may be faster, or somebody else: this is looked at.
            try makeIfMissing(name, mode: mode & ~0o022)
        } catch {
            throw .file(error)
        }
        return try ownFolder(existing: name)
    }

    package func ownFolder(existing name: FileName) throws(OwnFolderError) -> Directory {
        let folder: Directory
        do {
            folder = try Directory(name, in: self)
        } catch {
            // For a link too, the system says that it is no folder.
            var error = error
            if error.errno == .notDirectory, let found = try? information(of: name),
                found.st_mode & S_IFMT == S_IFLNK
            {
                error.errno = .tooManySymbolicLinkLevels
            }
            throw .file(error)
        }
        try folder.requireOwnership()
        return folder
    }

    /// Makes sure that others cannot change this folder.
    private func requireOwnership() throws(OwnFolderError) {
        var found = try attributes()
        if found.st_uid == geteuid(), found.isWritableByOthers {
            // Not on a file system that is mounted read-only; then nobody writes.
            if fchmod(number, found.st_mode & 0o7755) != 0, errno == EROFS { return }
            found = try attributes()
        }
        if found.st_uid == geteuid(), !found.isWritableByOthers { return }
        // Some file systems have one owner and one mode for everything, or show other ones than those of the caller: FAT,
        // rclone, sshfs, NFS for root. What this process creates shows that.
        guard let own = try ownFile() else { return }
        if found.st_uid != own.st_uid, found.st_uid != geteuid() {
            throw .foreign(ForeignFolder(path: path, reason: .owner(found.st_uid)))
        }
        if found.isWritableByOthers, !own.isWritableByOthers {
            throw .foreign(ForeignFolder(path: path, reason: .writable(found.st_mode)))
        }
    }

    /// Takes all rights to this folder from all but its owner, except on a file system that has no such modes.
    package func closeToOthers() throws(OwnFolderError) {
        let mode = try attributes().st_mode
        guard mode & 0o077 != 0, fchmod(number, mode & 0o7700) != 0 else { return }
        guard ![EROFS, EPERM, EOPNOTSUPP].contains(errno) else { return }
        throw .file(FileError(.setMode, path, Errno(rawValue: errno)))
    }

    private func attributes() throws(OwnFolderError) -> stat {
        do {
            return try information()
        } catch {
            throw .file(error)
        }
    }

    /// The attributes of a file that this process creates in the folder, and removes again: owner and permissions that
    /// nobody else can have chosen. nil if nothing can be written there.
    private func ownFile() throws(OwnFolderError) -> stat? {
        let name = FileName(".own-\(getpid())-\(UInt64.random(in: 0 ... .max))")
        do {
            let file = try create(name, mode: 0o600)
            defer { try? remove(name) }
            return try file.information(path: path(of: name))
        } catch {
            switch error.errno {
            case .readOnlyFileSystem: return nil
            case .permissionDenied, .notPermitted:
                // Who may not write to it has to be told whose it is.
                let found = try attributes()
                throw .foreign(
                    ForeignFolder(
                        path: path,
                        reason: found.st_uid == geteuid()
                            ? .writable(found.st_mode) : .owner(found.st_uid)))
            default: throw .file(error)
            }
        }
    }
}

extension stat {
    fileprivate var isWritableByOthers: Bool { st_mode & 0o022 != 0 }
}
