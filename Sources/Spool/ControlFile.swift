import DarkroomCore
import DarkroomManifest
import Glibc
import SystemPackage

/// The name of a control file, taken apart: the ID of a batch and a command, as in `ID.cancel`. What is in the file does
/// not matter.
package struct ControlFile: Sendable {
    package let name: FileName
    package let command: ControlCommand
    /// The IDs it may mean, which is the first that there is: what stands before the ending, and that cut as a
    /// long manifest's name is for its ID.
    package let ids: [String]
    private let stem: [UInt8]

    /// nil for a name that is not a control file's.
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
        // Repaired bytes make a text longer, and what is longer than a file name is nobody's ID.
        ids = whole.utf8.count == cut.utf8.count || whole.utf8.count > 255 ? [cut] : [whole, cut]
    }

    /// The names of the manifests it may have come with.
    package var manifestNames: [FileName] {
        let endings = ManifestFormat.allCases.flatMap(\.fileExtensions)
        return (endings + endings.map { $0.uppercased() }).map {
            FileName(bytes: stem + Array(".\($0)".utf8))
        }
    }
}

/// A control file that was found: its command, and who gives it.
package struct ControlRequest: Sendable {
    package let file: ControlFile
    /// So that another file put under the name since is not removed in its stead.
    package let identity: FileIdentity
    package let record: ControlRecord

    package var form: ControlCommand.Form { file.command.form }

    init(_ file: ControlFile, _ information: stat) {
        self.file = file
        identity = FileIdentity(information)
        record = ControlRecord(file.command, uid: information.st_uid, file: identity.text)
    }
}

extension Spool {
    /// Where a control file lies while it is removed, so that nobody can put another in its place between the last
    /// look at it and its end.
    static let controlFolder: FileName = ".controls"

    /// Removes a control file that was dealt with. One that has replaced it since goes back into the inbox.
    package func removeControlFile(
        _ name: FileName, _ identity: FileIdentity, from inbox: Directory
    ) throws(FileError) {
        do {
            try active.makeDirectory(Self.controlFolder, mode: 0o700)
        } catch  where error.errno == .fileExists {
            // A removal that failed has left it.
        }
        let folder = try Directory(Self.controlFolder, in: active)
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

    /// Puts back the control files that a daemon which was killed had in hand. They act again, which changes
    /// nothing if they had acted.
    package func putBackControlFiles(to inbox: Directory) throws(FileError) {
        guard try active.exists(Self.controlFolder) else { return }
        let folder = try Directory(Self.controlFolder, in: active)
        for name in try folder.names() { try putBack(name, from: folder, to: inbox) }
        FaultPoint.recoveryControlReturned.pass()
        try dropControlFolder()
    }

    /// Removes the folder, unless something is in it that cannot be put back: a later start tries that again.
    private func dropControlFolder() throws(FileError) {
        do {
            try active.removeDirectory(Self.controlFolder)
        } catch  where error.errno == .directoryNotEmpty {
            // None of the names in it is that of a control file.
        }
    }

    /// Whoever has taken the name since has replaced it. Not a folder that was put in the file's place, for what is
    /// in it is not ours to remove: that goes back under another name.
    private func putBack(
        _ name: FileName, from folder: Directory, to inbox: Directory
    ) throws(FileError) {
        do {
            return try folder.rename(name, to: inbox, as: name)
        } catch  where error.errno == .fileExists {
            if try folder.information(of: name)?.isFolder != true { return try folder.remove(name) }
        } catch  where error.errno == .permissionDenied {
            // A folder that its owner does not let be moved.
        }
        do {
            _ = try SubmittedFile(name: name, folder: folder).giveBack(to: inbox)
        } catch  where error.errno == .permissionDenied {
            // Here it must not keep the name from others.
            try folder.rename(name, to: folder, as: name.another())
        }
    }
}
