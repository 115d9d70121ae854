import DarkroomAnswer
import DarkroomCore
import Glibc
import Synchronization
import SystemPackage

/// The pictures of a submitted folder (`FolderJob`) in its answer: `outbox/ID/originals`, if `retention.originals` is
/// set. Each step is a rename:
///
/// | state    | in `active/ID`   | in `outbox/ID`            | after a crash                              |
/// |----------|------------------|---------------------------|--------------------------------------------|
/// | ended    | `submitted/NAME` | a status that is not the  | the batch ends again, and NAME is moved    |
/// |          |                  | last                      |                                            |
/// | covered  | `submitted/NAME` | the same                  | the same; a manifest that may have secrets |
/// |          |                  |                           | is the copy of the answer from now on      |
/// | kept     | `submitted`      | such a status, and        | the batch ends again; its pictures are in  |
/// |          |                  | `originals`               | `originals`                                |
/// | answered | `submitted`      | the last status,          | the next start removes `active/ID`         |
/// |          |                  | `originals`               |                                            |
/// | finished | –                | the same                  | nothing to do                              |
/// | removed  | `.expired-ID`    | –                         | becomes `.ended-…` (`EndedFolders`)        |
///
/// So the answer is whole when its last status is there. `SubmittedFile.replaceManifest` covers a manifest with secrets.
///
/// The folder stays its submitter's, who may change it at any time and take away permissions. So nothing in it is
/// followed or relied upon, and a batch that is removed takes it along by renaming folders of the daemon only. No
/// output has its name, because the names of outputs end in the extension of a format.
extension Spool {
    enum OriginalsFate {
        case kept
        /// Nobody wants this, or they are copies that the daemon has made of pictures in a hot folder.
        case unwanted
        /// For example, its submitter does not let the daemon move it.
        case refused(FileError)
    }

    /// Moves the submitted folder into the answer.
    func keepOriginals(
        _ submitted: SubmittedFile, of id: String, durably: Bool
    ) throws(FileError) -> OriginalsFate {
        guard keepsOriginals.load(ordering: .relaxed), run == nil,
            try submitted.information()?.isFolder == true,
            try !HotStations(self).hasBatch(named: submitted.name)
        else { return .unwanted }
        do {
            let folders = BatchFolders(spool: self, id: id)
            let answer = try folders.outbox()
            try submitted.replaceManifest(by: answer, folders.active(), durably: durably)
            try submitted.folder.rename(submitted.place, to: answer, as: BatchFile.originals)
            FaultPoint.originalsMoved.pass()
            // Only after this, `active/ID` may be removed.
            if durably { try answer.sync() }
            FaultPoint.originalsSynced.pass()
            return .kept
        } catch  where error.storageFailure == nil {
            return .refused(error)
        }
    }
}

extension BatchFolders {
    /// Moves the submitted folder into the answer, before its last status, if it is to be kept.
    ///
    /// - Returns: why it could not be kept; nil if it is there, or need not be.
    @discardableResult
    package func keepOriginals(mayBeFolder: Bool, durably: Bool) throws(FileError) -> FileError? {
        guard mayBeFolder, spool.keepsOriginals.load(ordering: .relaxed) else { return nil }
        // Somebody may have removed `active/ID`.
        return try ifExists { () throws(FileError) -> FileError? in
            guard let submitted = try SubmittedFile.inFolder(of: active()) else { return nil }
            let fate = try spool.keepOriginals(submitted, of: id, durably: durably)
            return if case .refused(let error) = fate { error } else { nil }
        }
    }

    /// The pictures that were kept in the answer, for a `retry`; nil if there are none, or if they cannot be used.
    func originals() throws(FileError) -> (folder: Directory, owner: UInt32)? {
        do {
            let folder = try Directory(BatchFile.originals, in: outbox())
            return (folder, try folder.information().st_uid)
        } catch  where error.storageFailure == nil {
            return nil
        }
    }
}

extension Directory {
    /// Whether there is a folder of this name, or something that nobody may look at.
    func mayBeFolder(_ name: FileName) -> Bool {
        do {
            return try information(of: name)?.isFolder == true
        } catch {
            return true
        }
    }

    /// Folders deeper than this are not looked into, and not more entries: the submitter may make any number of them.
    private static let deepest = 32
    private static let mostEntries = 100_000

    /// The disk space of a file or, as far as this user may look into them, of a folder and all that it contains.
    func bytesOnDisk(of name: FileName) -> Int {
        var left = Self.mostEntries
        return bytesOnDisk(of: name, Self.deepest, &left)
    }

    private func bytesOnDisk(of name: FileName, _ depth: Int, _ left: inout Int) -> Int {
        guard let information = try? information(of: name) else { return 0 }
        var bytes = information.bytesOnDisk
        guard information.isFolder, depth > 0, let folder = try? Directory(name, in: self),
            let names = try? folder.names(atMost: left)
        else { return bytes }
        for name in names where left > 0 {
            left -= 1
            bytes = bytes.saturatingAdd(folder.bytesOnDisk(of: name, depth - 1, &left))
        }
        return bytes
    }
}
