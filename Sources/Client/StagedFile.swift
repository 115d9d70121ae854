import CDarkroomShims
import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Glibc
import SystemPackage

/// A complete file before it has its name in the inbox. What is left of it goes with its last reference.
///
/// The file is written without a name (`O_TMPFILE`), gets one in `tmp`, and is renamed into the inbox. So there is never
/// a part of it anywhere, and the daemon takes it at once: a file that is linked into the inbox is watched for a moment,
/// whether somebody writes to it (`ArrivingFiles`). A file system without such files (NFS, FUSE), or without links,
/// needs the name in `tmp` from the beginning. If `tmp` cannot be used, the file is linked.
///
/// | state   | in `tmp`                         | in `inbox` | after a kill of the client               |
/// |---------|----------------------------------|------------|------------------------------------------|
/// | writing | nothing, or on NFS a locked file | nothing    | the next submit or the daemon removes it |
/// | named   | a locked file                    | nothing    | the next submit or the daemon removes it |
/// | dropped | nothing                          | NAME       | the daemon takes it                      |
///
/// The file stays open as long as this object lives. So no other file gets its inode number, also on file systems
/// without times of birth.
package final class StagedFile: StagedItem {
    package let isFolder = false
    /// As in the status of its batch (`DroppedFile`).
    package let identity: String
    /// As in the status of the batch that it gives a command to (`ControlRecord.file`).
    package let controlIdentity: String
    private let file: Descriptor
    package let inbox: Directory
    /// nil if it cannot be used.
    private let tmp: Directory?
    /// Its name in `tmp`; nil for a file without a name there.
    private var stagedName: FileName?

    /// The group of the folder may read the file, whatever the umask: the daemon is a member of it.
    private static let mode: mode_t = 0o640

    /// Writes the file, without its name in the inbox.
    package init(_ bytes: [UInt8], in spool: SpoolFolder) throws(ClientError) {
        inbox = try spool.inbox()
        do throws(FileError) {
            let staging = try? Directory("tmp", in: spool.root)
            if let staging { _ = try? StagedFolders.removeLeftovers(in: staging, of: geteuid()) }
            if let unnamed = try Self.unnamedFile(in: inbox, named: staging) {
                file = unnamed
                tmp = staging
            } else {
                let folder = try Directory("tmp", in: spool.root)
                var name = StagedFolders.newName()
                file = try Self.newFile(in: folder, &name)
                stagedName = name
                tmp = folder
            }
            _ = fchmod(file.number, Self.mode)
            try file.write(bytes, path: inbox.path)
            identity = try file.droppedIdentity(path: inbox.path)
            controlIdentity = FileIdentity(try file.information(path: inbox.path)).text
        } catch {
            throw ClientError(error)
        }
    }

    deinit {
        if let stagedName { try? tmp?.remove(stagedName) }
    }

    /// nil if the file system has no such files, or if they cannot get a name.
    ///
    /// - Parameter tmp: where it will be named; nil for the inbox.
    private static func unnamedFile(
        in inbox: Directory, named tmp: Directory?
    ) throws(FileError) -> Descriptor? {
        let number = darkroom_unnamed_file(inbox.number, mode)
        if number >= 0 {
            let file = Descriptor(owning: number)
            if let tmp, !canName(filesIn: inbox, in: tmp) { return nil }
            return file
        }
        let error = Errno(rawValue: errno)
        if [.notSupported, .isDirectory, .invalidArgument].contains(error) { return nil }
        throw FileError(.create, inbox.path, error, detail: "a file")
    }

    /// Tries it before anything is written, with another file: whoever has lost its only name gets none any more.
    private static func canName(filesIn inbox: Directory, in tmp: Directory) -> Bool {
        let number = darkroom_unnamed_file(inbox.number, mode)
        guard number >= 0 else { return true }
        let file = Descriptor(owning: number)
        let name = StagedFolders.newName()
        if link(file, to: name, in: tmp) {
            try? tmp.remove(name)
            return true
        }
        return !Directory.mayLackLinks(Errno(rawValue: errno))
    }

    private static func newFile(
        in folder: Directory, _ name: inout FileName
    ) throws(FileError) -> Descriptor {
        while true {
            let file = try folder.create(name)
            // Somebody may take it for a leftover before it is locked.
            if try StagedFolders.lock(file, path: folder.path(of: name)) { return file }
            name = StagedFolders.newName()
        }
    }

    /// Gives the file a name in `tmp`, if that is possible. It is locked before, so that nobody takes it for a leftover.
    private func nameInTmp() {
        guard stagedName == nil, let tmp else { return }
        StagedFolders.lock(unnamed: file)
        let name = StagedFolders.newName()
        if Self.link(file, to: name, in: tmp) { stagedName = name }
    }

    private static func link(
        _ file: borrowing Descriptor, to name: FileName, in folder: Directory
    ) -> Bool {
        name.withCString { darkroom_name_file(file.number, folder.number, $0) } == 0
    }

    // MARK: The inbox

    package func take(_ name: FileName) throws(FileError) { try inbox.remove(name) }

    package func place(as name: FileName) throws(FileError) {
        nameInTmp()
        if let tmp, let stagedName {
            try tmp.rename(stagedName, to: inbox, as: name, rivals: .some)
            self.stagedName = nil
        } else if !Self.link(file, to: name, in: inbox) {
            throw FileError(.create, inbox.path(of: name), Errno(rawValue: errno))
        }
    }
}
