import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Synchronization
import SystemPackage

/// The manifests whose copy in the answer is redacted: `private/ID.EXT`, which only the daemon can read. A retry needs
/// them.
///
/// | step                                  | after a crash at this point                                |
/// |---------------------------------------|------------------------------------------------------------|
/// | `private/ID.EXT` written and synced   | the receipt is built again, and writes it again            |
/// | `outbox/ID` appears, with the copy    | both are there                                             |
/// | removal: `private/ID.EXT` removed     | the answer stays without it until the removal is repeated; |
/// |                                       | a retry is refused                                         |
/// | `outbox/ID` moved away                | nothing to do                                              |
///
/// While a batch is in work, `active/ID` has its manifest too. If a user removes or renames an answer, the daemon removes
/// the manifest at its start or within an hour.
package struct ExactManifests {
    package static let folderName: FileName = "private"

    let spool: Spool

    package init(spool: Spool) { self.spool = spool }

    static func name(_ id: String, _ format: ManifestFormat) -> FileName {
        FileName("\(id).\(format.rawValue)")
    }

    private func folder() throws(FileError) -> Directory? {
        return try ignoringMissing(Directory(Self.folderName, in: spool.root))
    }

    /// Opens the folder, and creates it for the first manifest. Nobody else may have put it there.
    private func ownFolder() throws(FileError) -> Directory {
        do {
            let folder = try spool.root.ownFolder(Self.folderName, mode: 0o700)
            try folder.closeToOthers()
            FaultPoint.exactFolderMade.pass()
            return folder
        } catch {
            switch error {
            case .file(let error): throw error
            case .foreign(let folder):
                throw FileError(
                    .use, folder.path, .permissionDenied,
                    detail: "(it must belong to the daemon's user alone)")
            }
        }
    }

    /// Writes a manifest before its answer appears. Its folder `active/ID` exists, so a sweep leaves it.
    func keep(
        _ bytes: [UInt8], of id: String, _ format: ManifestFormat, durably: Bool
    ) throws(FileError) {
        try spool.exactManifests.withLock { _ throws(FileError) in
            let folder = try ownFolder()
            let name = Self.name(id, format)
            let path = folder.path(of: name)
            let file = try folder.create(name, replacing: true, mode: 0o600)
            try file.write(sparsely: bytes, path: path)
            if durably { file.startWriting(bytes: bytes.count) }
            try file.close(path: path)
            FaultPoint.exactManifestWritten.pass()
        }
        if durably { try sync(id, format) }
    }

    func sync(_ id: String, _ format: ManifestFormat) throws(FileError) {
        guard let folder = try folder() else { return }
        let name = Self.name(id, format)
        try folder.open(name).sync(path: folder.path(of: name))
        try folder.sync()
        try spool.root.sync()
        FaultPoint.exactManifestSynced.pass()
    }

    /// Where the exact manifest of an answer is: in the answer, unless the copy there is redacted. nil if it is gone.
    func place(
        of status: Status, _ format: ManifestFormat,
        in answer: @autoclosure () throws(FileError) -> Directory
    ) throws(FileError) -> (FileName, Directory)? {
        guard status.manifest.redacted != nil else {
            return (BatchFile.manifest(format), try answer())
        }
        let name = Self.name(status.id, format)
        guard let folder = try folder(), try folder.exists(name) else { return nil }
        return (name, folder)
    }

    /// Removes the manifest of an answer that is about to be removed.
    func remove(of outline: StatusOutline) throws(FileError) {
        guard outline.manifest.redacted != nil,
            let format = outline.manifest.file.flatMap({ ManifestFormat(fileName: $0) }),
            let folder = try folder()
        else { return }
        let removed: Void? = try ignoringMissing(folder.remove(Self.name(outline.id, format)))
        if removed != nil { FaultPoint.exactManifestRemoved.pass() }
    }

    /// Removes the manifests that no answer needs any more, each by itself, and returns their number: a user has removed
    /// or renamed the answer, or a crash came before it.
    package func sweep(isStopped: () -> Bool) throws(FileError) -> Int {
        guard let folder = try folder() else { return 0 }
        var count = 0
        var pace = Pace()
        _ = try folder.forEach(where: { _ in true }, isStopped: isStopped) {
            name throws(FileError) in
            pace.step()
            // An ID whose folder `active/ID` is made afterwards writes its manifest after this.
            try spool.exactManifests.withLock { _ throws(FileError) in
                guard try !isNeeded(name) else { return }
                try folder.remove(name)
                count += 1
            }
        }
        return count
    }

    private func isNeeded(_ name: FileName) throws(FileError) -> Bool {
        guard let (stem, ending) = name.text.partsAtLastDot,
            let format = ManifestFormat(rawValue: String(ending))
        else { return true }
        let id = FileName(String(stem))
        if try spool.active.exists(id) { return true }
        guard let answer = try FinishedBatch.open(id, in: spool.outbox) else {
            return try spool.outbox.exists(id)
        }
        // Its status may be damaged; whoever removes the answer settles this too.
        guard let outline = try StatusOutline(in: answer) else { return true }
        return outline.manifest.redacted != nil
            && outline.manifest.file == BatchFile.manifest(format).text
    }
}

extension ExactManifests {
    package static let goneReason =
        "the copy of its manifest has *** for users, passwords and queries of URLs, and the exact one is gone from "
        + "the spool; submit the manifest again [\(Failure.Code.manifestRedacted.rawValue)]"

    /// The name of the exact manifest of an answer; nil if the copy there is the manifest.
    package static func name(for status: Status) -> FileName? {
        guard status.manifest.redacted != nil else { return nil }
        return status.manifest.format.map { name(status.id, $0) }
    }

    /// Whether an exact manifest is gone from a spool; nil for a client that may not look.
    package static func isGone(_ name: FileName, of root: Directory) -> Bool? {
        do {
            return try !root.exists(folderName / name)
        } catch {
            return nil
        }
    }

    /// The exact manifest of an answer in the outbox of a spool, for a client that may read it: the daemon's user or root.
    /// nil for all others.
    package static func read(besideAnswer path: String, _ status: Status) -> [UInt8]? {
        guard let format = status.manifest.format, FileName.isValid(status.id),
            let folder = try? Directory(path: "\(path)/../../\(folderName.text)"),
            let bytes = try? folder.read(name(status.id, format)),
            SHA256Digest.hex(of: bytes) == status.manifest.sha256
        else { return nil }
        return bytes
    }
}
