import DarkroomAnswer
import DarkroomCore
import Glibc
import SystemPackage

extension BatchFolders {
    /// Gives the finished output of an image its name in the folder of the outputs.
    ///
    /// | what has the name          | what is done                                                             |
    /// |----------------------------|--------------------------------------------------------------------------|
    /// | nothing                    | renamed                                                                  |
    /// | a file with the same bytes | that file is the output; the one in `active` is removed                  |
    /// | a former output of a run   | replaced (`FormerOutputs`)                                               |
    /// | anything else              | the image fails, and the message says what to move away                  |
    ///
    /// A folder of a daemon's outbox is new. So what has the name there is the output of another image, whose template
    /// gives the same path (`OutputNaming`), or somebody else's file. The folder of a run may also have outputs of an
    /// earlier run whose status was removed by hand, and those of a shard that lost its folder.
    ///
    /// The path was decided before the journal had the image, also if it has the digest of the output. So a restart
    /// renames to the same path. The folders of a template are made here, and synced before the last status
    /// (`StatusFile.sync`).
    ///
    /// - Parameters:
    ///   - folder: the folder of the outputs; nil to open it.
    ///   - byPath: whether it need not be opened (`Spool.ownsOutbox`).
    /// - Returns: why the image fails; nil if it has its output.
    package func publish(
        _ index: Int, as output: ImageStatus.Output, to folder: Directory? = nil,
        byPath: Bool = false, durably: Bool
    ) throws(FileError) -> Failure? {
        let (active, name) = (spool.active, pathInActive(BatchFile.output(index)))
        // Others may be able to put a link into the answer, so a path with folders is opened.
        if byPath, FileName.isValid(output.file) {
            do {
                if try moveByPath(name, as: FileName(output.file)) { return nil }
            } catch  where error.errno == .fileExists {
                // What is there is looked at below.
            }
        }
        let outputs = if let folder { folder } else { try restoredOutputs() }
        let place: (folder: Directory, name: FileName)
        do {
            place = try outputs.place(ofOutput: output.file, isMade: true)
        } catch  where [.notDirectory, .tooManySymbolicLinkLevels].contains(error.errno) {
            return Self.taken("\(error.path): what is no folder")
        }
        do {
            try active.rename(name, to: place.folder, as: place.name)
            return nil
        } catch  where error.errno == .fileExists {
            guard try place.folder.has(output, as: place.name, durably: durably) else {
                if try spool.run?.former.has(output.file, place) == true {
                    try active.rename(name, to: place.folder, as: place.name, replacing: true)
                    return nil
                }
                return Self.taken("\(place.folder.path(of: place.name)): another file")
            }
            try active.remove(name)
            return nil
        }
    }

    private static func taken(_ beginning: String) -> Failure {
        Failure(
            code: FileError.Code.fileExists.rawValue,
            message: "\(beginning) is in the place of this output; move it away")
    }

    /// Moves a file of `active`, given by its path from there, into the answer by its path.
    ///
    /// - Returns: false if someone has removed one of the two folders. Then that of the answer must be opened, and made
    ///   anew if necessary.
    func moveByPath(
        _ path: FileName, as name: FileName, replacing: Bool = false
    ) throws(FileError) -> Bool {
        return try ifExists { () throws(FileError) in
            try spool.active.rename(
                path, to: spool.outbox, as: FileName(id) / name, replacing: replacing)
            return true
        } ?? false
    }
}

extension Spool {
    /// Whether nobody but the daemon's user can put a link into the outbox. If so, a file can be put into an answer by
    /// its path, which costs less than to open the folder. The mode shows an access control list, too: with one, the
    /// bits of the group are its mask.
    package func ownsOutbox() -> Bool {
        guard run == nil, let outbox = try? outbox.information() else { return false }
        return outbox.st_uid == geteuid() && outbox.st_mode & 0o022 == 0
    }
}

extension Directory {
    /// Whether a file is this output, byte for byte.
    fileprivate func has(
        _ output: ImageStatus.Output, as name: FileName, durably: Bool
    ) throws(FileError) -> Bool {
        guard let found = try information(of: name), found.isRegularFile,
            found.length == output.bytes
        else { return false }
        do {
            let file = try open(name)
            guard try file.sha256(path: path(of: name)) == output.sha256 else { return false }
            if durably { try file.sync(path: path(of: name)) }
            return true
        } catch  where [.permissionDenied, .notPermitted].contains(error.errno) {
            return false
        }
    }
}
