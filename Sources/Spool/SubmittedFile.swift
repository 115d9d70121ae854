import DarkroomCore
import Glibc
import SystemPackage

/// The file that was dropped, once it is out of the inbox: `active/ID/submitted/NAME`, under the name that it had.
///
/// It stays its submitter's own, who may have it open for writing, or have linked it elsewhere. So it is read once, the
/// daemon goes on with the bytes that it has read, in a file of its own, and this one goes when these have their receipt.
/// Not a clone of the file or a copy of its range: only the bytes in memory are certainly those that were judged.
///
/// What cannot be copied is never removed. A file that is too large for an answer goes back to the submitters' folder,
/// `tmp`, where its blocks were its owner's before; what is no regular file goes back into the inbox.
package struct SubmittedFile {
    static let folderName: FileName = "submitted"

    let name: FileName
    let folder: Directory

    /// Looks for it in `active/ID`; nil where there is none.
    package init?(in active: Directory) throws(FileError) {
        do {
            let folder = try Directory(Self.folderName, in: active)
            guard let name = try folder.names().first else { return nil }
            self.init(name: name, folder: folder)
        } catch  where error.errno == .noSuchFileOrDirectory {
            return nil
        }
    }

    init(name: FileName, folder: Directory) {
        self.name = name
        self.folder = folder
    }

    func information() throws(FileError) -> stat? { try folder.information(of: name) }

    /// Removes it with its folder. For one whose content the daemon has a copy of.
    package func remove(from active: Directory) throws(FileError) {
        try folder.remove(name)
        FaultPoint.submittedRemoved.pass()
        try active.removeDirectory(Self.folderName)
    }

    /// Puts it back into the inbox, which fails where its name is taken there.
    func putBack(to inbox: Directory) throws(FileError) {
        try folder.rename(name, to: inbox, as: name)
    }

    /// Puts it into a folder that is people's, the inbox or `tmp`, whatever is there; gives its name there.
    func giveBack(to people: Directory) throws(FileError) -> FileName {
        var newName = name
        while true {
            do {
                try folder.rename(name, to: people, as: newName)
                return newName
            } catch  where error.errno == .fileExists {
                newName = name.another()
            }
        }
    }
}

extension FileName {
    /// A name made of this one that nobody can foresee, and that the intake leaves alone: `a.json.1f3a9c02~`.
    func another() -> FileName {
        let digits = String(UInt32.random(in: .min ... .max), radix: 16)
        let ending = Array(".\(String(repeating: "0", count: 8 - digits.count))\(digits)~".utf8)
        return FileName(bytes: bytes.prefix(Int(NAME_MAX) - ending.count) + ending)
    }
}

extension stat {
    package var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
}
