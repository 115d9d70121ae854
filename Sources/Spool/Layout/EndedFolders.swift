import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Synchronization
import SystemPackage

/// The folders `active/ID` of ended batches whose pictures came with the manifest, on their way out of the spool:
/// `active/.ended-ID.NUMBER`.
///
/// | state | in `active`         | after a crash                            |
/// |-------|---------------------|------------------------------------------|
/// | ended | `ID`                | `Recovery` sees the last status          |
/// | aside | `.ended-ID.NUMBER`  | the next start removes the rest of it    |
///
/// Such a folder may be large, and it belongs to its submitter, who may have it open, take away the permission to remove
/// its content or fill it again and again. So the batch ends with one rename, and nothing waits for the removal. On NFS,
/// any folder may have files that a process still has open (`.nfs…`); it is moved aside as well.
package final class EndedFolders: Sendable {
    private static let prefix = Array(".ended-".utf8)

    private let active: Directory
    private let told = Mutex<@Sendable (FileName) -> Void>({ _ in })

    init(in active: Directory) { self.active = active }

    static func isOne(_ name: FileName) -> Bool { name.bytes.starts(with: prefix) }

    /// Calls `body` with the name of each folder that is moved aside from now on.
    package func onMove(_ body: @escaping @Sendable (FileName) -> Void) {
        told.withLock { $0 = body }
    }

    /// Moves a folder of `active` aside: that of an ended batch, or an expired answer with originals.
    func moveAside(_ folder: FileName) throws(FileError) {
        let number = String(UInt32.random(in: .min ... .max), radix: 16)
        let name = FileName(bytes: Self.prefix + folder.bytes + Array(".\(number)".utf8))
        try active.rename(folder, to: active, as: name)
        told.withLock { $0 }(name)
    }

    /// Removes a folder of `active`. If a process has files of it open, on NFS, it is moved aside.
    package func remove(_ folder: FileName) throws(FileError) {
        do {
            try active.removeTree(folder)
        } catch  where error.errno == .resourceBusy {
            try moveAside(folder)
        }
    }

    /// Removes all of them, each by itself, and returns their number.
    package func clear(isStopped: () -> Bool) throws(FileError) -> Int {
        var left = 0
        let count = try active.forEach(where: Self.isOne, isStopped: isStopped) {
            name throws(FileError) in
            if try !clear(name, isStopped: isStopped) { left += 1 }
        }
        return count - left
    }

    /// Removes one of them. Returns whether it is gone.
    @discardableResult
    package func clear(_ name: FileName, isStopped: () -> Bool) throws(FileError) -> Bool {
        do {
            try active.removeTree(name) { !isStopped() }
            return true
        } catch  where error.errno == .canceled {
            // The next start continues.
        } catch  where error.errno == .resourceBusy {
            // A process has files of it open, on NFS. This is no error of the spool, and the next hour tries it again.
        }
        return false
    }
}

extension Spool {
    /// Removes `active/ID` of an ended batch, which usually has a journal and the manifest only. If the pictures that came
    /// with it are to be kept, they are in its answer before.
    ///
    /// - Parameter mayBeFolder: whether such pictures may have come.
    func removeEnded(
        _ id: String, _ format: ManifestFormat, mayBeFolder: Bool, durably: Bool
    ) throws(FileError) {
        let name = FileName(id)
        if mayBeFolder, try active.exists(name / SubmittedFile.folderName),
            let submitted = try SubmittedFile(in: Directory(name, in: active))
        {
            switch try keepOriginals(submitted, of: id, durably: durably) {
            case .kept: break
            case .unwanted, .refused: return try ended.moveAside(name)
            }
        }
        for file in [ItemJournal.fileName, BatchFile.manifest(format)] {
            do {
                try active.remove(name / file)
                FaultPoint.treeEntryRemoved.pass()
            } catch  where [.noSuchFileOrDirectory, .isDirectory].contains(error.errno) {
                // It had none, or it is removed below.
            }
        }
        do {
            try active.removeDirectory(name)
        } catch  where error.errno == .directoryNotEmpty {
            try ended.remove(name)
        }
    }
}

extension Directory {
    /// Calls `body` for the names that `isWanted` accepts, and returns how many times it succeeded. An error does not
    /// affect the others; the last one is thrown at the end.
    func forEach(
        where isWanted: (FileName) -> Bool, isStopped: () -> Bool,
        _ body: (FileName) throws(FileError) -> Void
    ) throws(FileError) -> Int {
        var count = 0
        var failure: FileError?
        for name in try names() where isWanted(name) && !isStopped() {
            do {
                try body(name)
                count += 1
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return count
    }
}
