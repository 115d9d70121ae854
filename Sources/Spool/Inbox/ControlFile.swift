import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Glibc
import SystemPackage

/// The parsed name of a control file: the ID of a batch and a command, as in `ID.cancel`. The content of the file does
/// not matter.
package struct ControlFile: Sendable {
    package let name: FileName
    package let command: ControlCommand
    /// The possible IDs, of which the first existing one applies: the name without the extension, and the same text cut
    /// like the ID of a manifest with a long name.
    package let ids: [String]
    private let stem: [UInt8]

    package init?(_ name: FileName) {
        guard let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0,
            name.bytes[0] != UInt8(ascii: ".")
        else { return nil }
        let ending = String(decoding: name.bytes[(dot + 1)...], as: UTF8.self).lowercased()
        guard let command = ControlCommand(rawValue: ending) else { return nil }
        self.name = name
        self.command = command
        stem = Array(name.bytes[..<dot])
        let whole = FileName(bytes: stem).text
        let cut = Claim.id(fromFileName: name.text)
        // A text with repaired bytes is longer, and no ID is longer than a file name.
        ids = whole.utf8.count == cut.utf8.count || whole.utf8.count > 255 ? [cut] : [whole, cut]
    }

    /// The name of the folder with its manifest and pictures, if it is in one.
    package var folderName: FileName { FileName(bytes: stem) }

    package var manifestNames: [FileName] {
        let endings = ManifestFormat.allCases.flatMap(\.fileExtensions)
        return (endings + endings.map { $0.uppercased() }).map {
            FileName(bytes: stem + Array(".\($0)".utf8))
        } + [folderName]
    }
}

/// A control file that was found: its command and its owner.
package struct ControlRequest: Sendable {
    package let file: ControlFile
    /// Prevents that another file with the same name is removed instead.
    package let identity: FileIdentity
    package let record: ControlRecord
    /// When the file got its name, by the clock of the file system, in seconds since 1970. Its owner cannot choose this.
    let changed: Double

    package var form: ControlCommand.Form { file.command.form }

    init(_ file: ControlFile, _ information: stat) {
        self.file = file
        identity = FileIdentity(information)
        changed = information.statusChanged
        record = ControlRecord(file.command, uid: information.st_uid, file: identity.text)
    }
}

extension Spool {
    /// The folder for a control file while it is removed, so that nobody can replace it between the last check and the
    /// removal.
    static let controlFolder: FileName = ".controls"

    /// Removes a control file that was handled. If another file has replaced it, that file goes back into the inbox.
    package func removeControlFile(
        _ name: FileName, _ identity: FileIdentity, from inbox: Directory
    ) throws(FileError) {
        let folder = try active.folder(Self.controlFolder, mode: 0o700)
        do throws(FileError) {
            try inbox.rename(name, to: folder, as: name, replacing: true)
            FaultPoint.controlMoved.pass()
            if try folder.information(of: name).map(FileIdentity.init) == identity {
                try folder.remove(name)
            } else {
                try putBack(name, from: folder, to: inbox)
            }
        } catch {
            try? active.removeDirectory(Self.controlFolder)
            throw error
        }
        try dropControlFolder()
    }

    /// Puts back the control files that a killed daemon was removing. They are handled again, which changes nothing if
    /// they had an effect before.
    package func putBackControlFiles(to inbox: Directory) throws(FileError) {
        guard try active.exists(Self.controlFolder) else { return }
        let folder = try Directory(Self.controlFolder, in: active)
        for name in try folder.names() { try putBack(name, from: folder, to: inbox) }
        FaultPoint.recoveryControlReturned.pass()
        try dropControlFolder()
    }

    /// Removes the folder, unless it contains something that cannot be put back. Then a later start tries again.
    private func dropControlFolder() throws(FileError) {
        do {
            try active.removeDirectory(Self.controlFolder)
        } catch  where error.errno == .directoryNotEmpty {
            // It contains a name that is not that of a control file.
        }
    }

    /// Puts the file back; a newer file with this name has replaced it. But a folder that was put in its place is moved
    /// back under another name, because Darkroom must not remove its content.
    private func putBack(
        _ name: FileName, from folder: Directory, to inbox: Directory
    ) throws(FileError) {
        do {
            return try folder.rename(name, to: inbox, as: name, rivals: .some)
        } catch  where error.errno == .fileExists {
            if try folder.information(of: name)?.isFolder != true { return try folder.remove(name) }
        } catch  where error.errno == .permissionDenied {
            // Its owner does not allow this folder to be moved.
        }
        do {
            _ = try SubmittedFile(name: name, folder: folder).giveBack(to: inbox)
        } catch  where error.errno == .permissionDenied {
            // It must not block the name here.
            try folder.rename(name, to: folder, as: name.another())
        }
    }
}
