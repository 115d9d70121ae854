import CDarkroomShims
import DarkroomCore
import DarkroomSpool
import Glibc
import SystemPackage

/// A complete file before it has its name in the inbox. What is left of it goes with its last reference.
///
/// The file is written without a name (`O_TMPFILE`) and then linked into the inbox. So there is never a part of it
/// anywhere, and nothing is left if the client is killed. A file system without such files (NFS, FUSE) needs a file in
/// `tmp` and a rename.
///
/// | state   | in `tmp`                        | in `inbox` | after a kill of the client           |
/// |---------|---------------------------------|------------|--------------------------------------|
/// | writing | nothing, or a locked file       | nothing    | `StagedFolders` removes that file    |
/// | dropped | nothing                         | NAME       | the daemon takes it                  |
///
/// The file stays open as long as this object lives. So no other file gets its inode number, also on file systems
/// without times of birth.
package final class StagedFile {
    /// As in the status of its batch (`DroppedFile`).
    package let identity: String
    /// As in the status of the batch that it gives a command to (`ControlRecord.file`).
    package let controlIdentity: String
    private let file: Descriptor
    private let inbox: Directory
    /// Its name in `tmp`; nil for a file without a name there.
    private var stagedName: (name: FileName, folder: Directory)?

    /// The group of the folder may read the file, whatever the umask: the daemon is a member of it.
    private static let mode: mode_t = 0o640
    /// The age that a file gets, in seconds; see `init`.
    private static let age = 86_400

    /// - Parameter mayEndAnywhere: whether a part of the text could be a manifest too. The daemon would wait until a
    ///   linked file of this kind has not changed for a while (`inbox.settle`). This one is complete, so it gets an old
    ///   time of change.
    /// - Parameter needsName: whether the file is renamed into the inbox and not linked, so that the daemon notices it before
    ///   anything that is renamed after it.
    package init(
        _ bytes: [UInt8], mayEndAnywhere: Bool = false, needsName: Bool = false,
        in spool: SpoolFolder
    ) throws(ClientError) {
        inbox = try spool.inbox()
        do throws(FileError) {
            let number = needsName ? nil : try Self.unnamedFile(in: inbox)
            if let number {
                file = Descriptor(owning: number)
            } else {
                let folder = try Directory("tmp", in: spool.root)
                var name = StagedFolders.newName()
                file = try Self.newFile(in: folder, &name)
                stagedName = (name, folder)
            }
            _ = fchmod(file.number, Self.mode)
            try file.write(bytes, path: inbox.path)
            if mayEndAnywhere { Self.makeOld(file.number) }
            identity = try file.droppedIdentity(path: inbox.path)
            controlIdentity = try Self.identity(file.number, inbox.path).text
        } catch {
            throw ClientError(error)
        }
    }

    deinit {
        if let (name, folder) = stagedName { try? folder.remove(name) }
    }

    /// nil if the file system has no such files.
    private static func unnamedFile(in inbox: Directory) throws(FileError) -> CInt? {
        let number = darkroom_unnamed_file(inbox.number, mode)
        if number >= 0 { return number }
        let error = Errno(rawValue: errno)
        if [.notSupported, .isDirectory, .invalidArgument].contains(error) { return nil }
        throw FileError("create a file", inbox.path, error)
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

    private static func makeOld(_ number: CInt) {
        let past = timespec(tv_sec: time(nil) - age, tv_nsec: 0)
        // If this fails, the daemon waits for `inbox.settle`.
        _ = futimens(number, [past, past])
    }

    private static func identity(
        _ number: CInt, _ path: String
    ) throws(FileError) -> FileIdentity {
        var information = stat()
        guard fstat(number, &information) == 0 else {
            throw FileError("examine", path, Errno(rawValue: errno))
        }
        return FileIdentity(information)
    }

    // MARK: The inbox

    /// Takes the file back, if the daemon has not taken it.
    package func withdraw(_ name: FileName) throws(ClientError) {
        if try isWaiting(as: name) { try? inbox.remove(name) }
    }

    /// Drops the file; returns false if the name is taken.
    package func drop(as name: FileName) throws(ClientError) -> Bool {
        do {
            return try place(as: name)
        } catch {
            throw ClientError(error)
        }
    }

    private func place(as name: FileName) throws(FileError) -> Bool {
        do throws(FileError) {
            if let (staged, folder) = stagedName {
                try folder.rename(staged, to: inbox, as: name)
                stagedName = nil
            } else {
                guard name.withCString({ darkroom_name_file(file.number, inbox.number, $0) }) == 0
                else {
                    throw FileError("create", inbox.path(of: name), Errno(rawValue: errno))
                }
            }
            return true
        } catch {
            if error.errno == .fileExists { return false }
            throw error
        }
    }

    /// Whether the file is still in the inbox under this name.
    package func isWaiting(as name: FileName) throws(ClientError) -> Bool {
        try inbox.isWaiting(identity, as: name)
    }
}

extension Directory {
    /// Whether a dropped file or folder is still in this inbox under its name.
    func isWaiting(_ identity: String, as name: FileName) throws(ClientError) -> Bool {
        do {
            return try droppedIdentity(of: name) == identity
        } catch {
            throw ClientError(error)
        }
    }
}
