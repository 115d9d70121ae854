import DarkroomAnswer
import DarkroomCore
import Glibc
import SystemPackage

/// What the command puts into `tmp` before it has its name in the inbox, `.darkroom-PROCESS-NUMBER`: the folders in
/// which `darkroom submit --copy` collects a manifest and its pictures, and single files if they need a name.
///
/// Each is locked by the process that fills it, with flock(2), which ends with the process in whatever way. So one
/// without a lock is a leftover. If the file system has no locks (some network file systems), nothing is removed.
package enum StagedFolders {
    private static let prefix = ".darkroom-"

    package static func newName() -> FileName {
        FileName("\(prefix)\(getpid())-\(UInt32.random(in: 0 ... .max))")
    }

    /// Makes a folder and locks it, as long as it is open.
    package static func make(in parent: Directory) throws(FileError) -> (FileName, Directory) {
        while true {
            let name = newName()
            let folder: Directory
            do throws(FileError) {
                try parent.makeDirectory(name, mode: 0o700)
                folder = try Directory(name, in: parent)
            } catch  where [.fileExists, .noSuchFileOrDirectory].contains(error.errno) {
                // Somebody has this name, or has taken the folder for a leftover.
                continue
            }
            if try lock(folder) { return (name, folder) }
        }
    }

    /// Locks an open folder as long as it is open.
    ///
    /// - Returns: false if another process has locked it, or has removed it in between.
    package static func lock(_ folder: Directory) throws(FileError) -> Bool {
        guard lock(folder.number) else { return false }
        return try folder.information().st_nlink > 0
    }

    /// The same for an open file, which has this name in messages.
    package static func lock(_ file: borrowing Descriptor, path: String) throws(FileError) -> Bool {
        guard lock(file.number) else { return false }
        return try file.information(path: path).st_nlink > 0
    }

    /// The same for a file that has no name yet.
    package static func lock(unnamed file: borrowing Descriptor) { _ = lock(file.number) }

    private static func lock(_ number: CInt) -> Bool {
        flock(number, LOCK_EX | LOCK_NB) == 0 || Errno(rawValue: errno) != .wouldBlock
    }

    /// Removes the leftovers and returns their number. One that cannot be removed does not affect the others; its owner
    /// or an administrator can.
    ///
    /// - Parameter owner: only the entries of this user; nil for all.
    @discardableResult
    package static func removeLeftovers(
        in tmp: Directory, of owner: UInt32? = nil, isStopped: () -> Bool = { false }
    ) throws(FileError) -> Int {
        var count = 0
        for name in try tmp.names() where isOne(name) && !isStopped() {
            guard let information = try tmp.information(of: name),
                owner == nil || information.st_uid == owner
            else { continue }
            let isRemoved =
                information.isFolder
                ? removeFolder(name, information, in: tmp, isStopped)
                : removeFile(name, information, in: tmp)
            if isRemoved { count += 1 }
        }
        return count
    }

    /// Whether a name is `.darkroom-PROCESS-NUMBER`.
    private static func isOne(_ name: FileName) -> Bool {
        guard name.bytes.starts(with: prefix.utf8) else { return false }
        let numbers = name.bytes.dropFirst(prefix.utf8.count)
            .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return numbers.count == 2
            && numbers.allSatisfy { number in
                !number.isEmpty && number.allSatisfy(\.isDigit)
            }
    }

    /// Removes the empty folders in which folders were given back (`SubmittedFile.giveBackClosed`), which only the daemon
    /// can remove.
    package static func removeEmptyWrappers(in tmp: Directory) throws(FileError) {
        for name in try tmp.names() where name.hasSuffix("~") {
            guard let information = try tmp.information(of: name), information.isFolder,
                information.st_uid == geteuid(),
                information.st_mode & 0o7777 == SubmittedFile.wrapperMode
            else { continue }
            // It fails if there is something in it.
            try? tmp.removeDirectory(name)
        }
    }

    private static func removeFolder(
        _ name: FileName, _ seen: stat, in tmp: Directory, _ isStopped: () -> Bool
    ) -> Bool {
        guard let folder = try? Directory(name, in: tmp),
            flock(folder.number, LOCK_EX | LOCK_NB) == 0,
            // Its process may have renamed it into the inbox and ended since it was opened.
            (try? folder.information().st_ino) == seen.st_ino
        else { return false }
        return (try? tmp.removeTree(name) { !isStopped() }) != nil
    }

    private static func removeFile(_ name: FileName, _ seen: stat, in tmp: Directory) -> Bool {
        guard seen.isRegularFile, let file = try? tmp.open(name),
            flock(file.number, LOCK_EX | LOCK_NB) == 0,
            (try? tmp.information(of: name)?.st_ino) == seen.st_ino
        else { return false }
        return (try? tmp.remove(name)) != nil
    }
}
