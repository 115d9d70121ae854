import CDarkroomShims
import DarkroomCore
import DarkroomSpool
import Glibc
import SystemPackage

/// A folder with a manifest and its pictures (`FolderJob`) before it has its name in the inbox.
///
/// | state    | in `tmp`                    | in `inbox` | after a kill of the client                     |
/// |----------|-----------------------------|------------|------------------------------------------------|
/// | filling  | `.darkroom-PROCESS-NUMBER`  | nothing    | the next submit or the daemon removes it       |
/// | dropped  | nothing                     | NAME       | the daemon takes it                            |
///
/// The folder stays open, and so locked, as long as this object lives. So nobody removes it, and no other folder gets
/// its inode number. If it is not dropped, it goes with its last reference.
package final class StagedFolder: StagedItem {
    package let isFolder = true
    /// As in the status of its batch (`DroppedFile`).
    package let identity: String
    private let tmp: Directory
    package let inbox: Directory
    /// Who may use what is collected, beside its owner: the daemon's user, by an access control list. If nil, the group
    /// of the spool, of which the daemon is a member.
    private let reader: UInt32?
    let folder: Directory
    /// Its name in `tmp`; nil when it is in the inbox.
    private var stagedName: FileName?

    package init(in spool: SpoolFolder, daemon: UInt32? = nil) throws(ClientError) {
        inbox = try spool.inbox()
        do throws(FileError) {
            tmp = try Directory("tmp", in: spool.root)
            try StagedFolders.removeLeftovers(in: tmp, of: geteuid())
            let (name, folder) = try StagedFolders.make(in: tmp)
            stagedName = name
            self.folder = folder
            reader = Self.share(folder, with: daemon)
            identity = try Self.identity(of: name, in: tmp)
        } catch {
            throw ClientError(error)
        }
    }

    deinit { remove() }

    private static func identity(of name: FileName, in tmp: Directory) throws(FileError) -> String {
        guard let identity = try tmp.droppedIdentity(of: name) else {
            throw FileError(.examine, tmp.path(of: name), .noSuchFileOrDirectory)
        }
        return identity
    }

    private static func share(_ folder: Directory, with daemon: UInt32?) -> UInt32? {
        if let daemon, darkroom_share(folder.number, daemon, 7) == 0 { return daemon }
        share(folder.number, with: nil, isFolder: true)
        return nil
    }

    /// Sets the permissions of a new file or folder, whatever the umask. If this fails, the daemon says why it does not
    /// take the folder.
    private static func share(_ number: CInt, with reader: UInt32?, isFolder: Bool) {
        if let reader {
            _ = darkroom_share(number, reader, isFolder ? 7 : 6)
        } else {
            // New files and folders get the group, too.
            _ = fchmod(number, isFolder ? 0o2770 : 0o640)
        }
    }

    /// Lets the daemon read a new file in the folder.
    func share(_ file: borrowing Descriptor) {
        Self.share(file.number, with: reader, isFolder: false)
    }

    /// Removes what has been collected, unless it is in the inbox.
    package func remove() {
        guard let name = stagedName else { return }
        try? tmp.removeTree(name)
        stagedName = nil
    }

    // MARK: The content

    package func write(_ bytes: [UInt8], to name: FileName) throws(ClientError) {
        let file = try asClientError(folder.create(name))
        share(file)
        try asClientError(file.write(bytes, path: folder.path(of: name)))
    }

    /// The folder at a path in this one; missing ones are created.
    func subfolder(_ names: some Sequence<FileName>) throws(FileError) -> Directory {
        var place = folder
        for name in names {
            do {
                place = try Directory(name, in: place)
            } catch  where error.errno == .noSuchFileOrDirectory {
                try place.makeDirectory(name, mode: 0o700)
                place = try Directory(name, in: place)
                Self.share(place.number, with: reader, isFolder: true)
            }
        }
        return place
    }

    // MARK: The inbox

    package func place(as name: FileName) throws(FileError) {
        guard let staged = stagedName else {
            preconditionFailure("a folder is dropped twice")
        }
        try tmp.rename(staged, to: inbox, as: name, rivals: .some)
        stagedName = nil
    }

    /// It is removed with this object then.
    package func take(_ name: FileName) throws(FileError) {
        let back = StagedFolders.newName()
        try inbox.rename(name, to: tmp, as: back)
        stagedName = back
    }
}
