import DarkroomAnswer
import DarkroomCore
import Foundation
import Glibc
import Synchronization
import SystemPackage

/// A finished batch in the outbox that may be removed: nothing in its folder speaks against it.
package struct FinishedBatch: Sendable {
    let name: FileName
    /// When it has finished, as the status has it.
    let time: String
    let finished: Date
    /// The disk space of its files.
    let bytes: Int
    /// The owner of its manifest, if the status has one.
    let owner: UInt32?
    /// When the last status was written, by the clock of the file system, in seconds since 1970.
    let written: Double

    package enum Reading: Sendable {
        case finished(FinishedBatch)
        case unfinished
        /// There is no folder with a `status.json`.
        case none
        /// It is not removed, for this reason: it contains what Darkroom has not created.
        case foreign(String)
    }

    /// Reads the status without its images, and looks at each file.
    package static func read(_ name: FileName, in outbox: Directory) throws(FileError) -> Reading {
        guard let folder = try open(name, in: outbox),
            let status = try folder.information(of: BatchFile.status)
        else { return .none }
        guard let outline = try StatusOutline(in: folder) else {
            return .foreign("its status.json was not written by Darkroom")
        }
        guard FileName(outline.id) == name else {
            return .foreign("its status.json belongs to \(outline.id)")
        }
        guard outline.state.isFinal else { return .unfinished }
        guard let time = outline.times.finished, let finished = Clock.date(time) else {
            return .foreign("its status.json does not show when it was finished")
        }
        var bytes = 0
        // Without it, no output has a template.
        let hasSizes = try folder.exists(ResultSizes.fileName)
        for file in try folder.names() {
            // It may be a file system of its submitter's, which lets nobody look.
            if file == BatchFile.originals, outline.manifest.folder == true {
                bytes = bytes.saturatingAdd(folder.bytesOnDisk(of: file))
                continue
            }
            guard let information = try folder.information(of: file) else { continue }
            guard information.isFolder else {
                bytes = bytes.saturatingAdd(information.bytesOnDisk)
                continue
            }
            if file == BatchFile.page, try AnswerPage.isOwn(in: folder) {
                bytes = bytes.saturatingAdd(folder.bytesOnDisk(of: file))
            } else if hasSizes, let outputs = try folder.bytesOfOutputs(in: file) {
                bytes = bytes.saturatingAdd(outputs)
            } else {
                return .foreign("it contains a folder, \(file.text)")
            }
        }
        return .finished(
            FinishedBatch(
                name: name, time: time, finished: finished, bytes: bytes,
                owner: outline.manifest.uid, written: status.st_mtim.seconds))
    }

    /// nil if it is not a folder, or if it has just disappeared.
    static func open(_ name: FileName, in outbox: Directory) throws(FileError) -> Directory? {
        do {
            return try Directory(name, in: outbox)
        } catch
            where [
                .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels,
                .permissionDenied, .fileNameTooLong,
            ].contains(error.errno)
        {
            return nil
        }
    }

    /// Renames the batch out of the outbox, unless it was replaced or is in work again. Code that creates a folder
    /// `active/ID` for a batch in the outbox holds the same lock.
    ///
    /// - Returns: its name in `active`; nil if it was not moved.
    func takeOut(of spool: Spool) throws(FileError) -> FileName? {
        // The removal of a previous batch with this ID may not be complete.
        let known = Expired.name(of: name)
        let expired = try spool.active.exists(known) ? known.another() : known
        return try spool.finishedBatches.withLock { _ throws(FileError) in
            guard try !spool.active.exists(name),
                let folder = try Self.open(name, in: spool.outbox),
                let outline = try StatusOutline(in: folder), outline.state.isFinal,
                outline.times.finished == time
            else { return nil }
            // First, because afterwards another manifest may get this ID.
            try ExactManifests(spool: spool).remove(of: outline)
            try spool.outbox.rename(name, to: spool.active, as: expired)
            FaultPoint.expiredMoved.pass()
            return expired
        }
    }
}

extension stat {
    /// The disk space of the file: a file with holes takes less than its length, a small one a whole block.
    var bytesOnDisk: Int { max(0, Int(st_blocks)).saturatingMultiply(512) }
}
