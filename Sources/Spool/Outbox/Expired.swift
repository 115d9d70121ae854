import DarkroomCore
import Glibc
import SystemPackage

/// Batches that are being removed, `active/.expired-ID`. An ID never begins with a dot.
package struct Expired {
    private static let prefix = Array(".expired-".utf8)

    let spool: Spool
    let isStopped: @Sendable () -> Bool

    package init(spool: Spool, isStopped: @escaping @Sendable () -> Bool) {
        self.spool = spool
        self.isStopped = isStopped
    }

    static func name(of entry: FileName) -> FileName { FileName(bytes: prefix + entry.bytes) }

    static func isOne(_ name: FileName) -> Bool { name.bytes.starts(with: prefix) }

    /// Removes those that a previous daemon has left, each by itself, and returns their number.
    package func clear() throws(FileError) -> Int {
        try spool.active.forEach(where: Self.isOne, isStopped: isStopped) {
            name throws(FileError) in try clear(name)
        }
    }

    /// Removes the files in the folder, then the folder. Symbolic links are removed and not followed. With originals, the
    /// whole is moved aside and removed like the pictures of other batches.
    ///
    /// - Throws: EISDIR if it contains another folder than a page and those of outputs: it does not come from Darkroom.
    package func clear(_ name: FileName) throws(FileError) {
        let folder = try Directory(name, in: spool.active)
        if folder.mayBeFolder(BatchFile.originals) { return try spool.ended.moveAside(name) }
        var pace = Pace()
        for file in try folder.names() {
            if isStopped() { return }
            pace.step()
            if file == BatchFile.page, try folder.information(of: file)?.isFolder == true {
                let isGone = try AnswerPage.remove(from: folder) {
                    FaultPoint.expiredFileRemoved.pass()
                    pace.step()
                    return !isStopped()
                }
                guard isGone else { return }
                continue
            }
            do throws(FileError) {
                try folder.remove(file)
            } catch  where error.errno == .isDirectory {
                guard try folder.bytesOfOutputs(in: file) != nil else { throw error }
                try folder.removeTree(file)
            }
            FaultPoint.expiredFileRemoved.pass()
        }
        try spool.active.removeDirectory(name)
    }
}
