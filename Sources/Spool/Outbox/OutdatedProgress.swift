import DarkroomAnswer
import DarkroomCore
import Glibc
import Synchronization

/// Removes progress files of ended batches that a crash of the machine has damaged, or has put back to an older version.
///
/// Progress files are never synced, so a status that is on the disk may have a progress that is not. The start corrects
/// the files of unfinished batches (`Recovery`). For an ended batch, a missing file is right too: readers then read its
/// status.
package enum OutdatedProgress {
    /// - Parameter isStopped: checked between steps; true ends the search.
    /// - Returns: the number of removed files.
    @discardableResult
    package static func remove(
        from spool: Spool, isStopped: @Sendable () -> Bool
    ) throws(FileError) -> Int {
        var count = 0
        var pace = Pace()
        for name in try spool.outbox.names() where !isStopped() {
            pace.step()
            // A batch in work replaces its file, and code that reopens one holds this lock.
            let isRemoved = spool.finishedBatches.withLock { _ in
                try? removeIfOutdated(name, in: spool)
            }
            if isRemoved == true { count += 1 }
        }
        return count
    }

    /// The last progress is written after the last status.
    private static func removeIfOutdated(
        _ name: FileName, in spool: Spool
    ) throws(FileError) -> Bool {
        guard try !spool.active.exists(name) else { return false }
        let folder = try Directory(name, in: spool.outbox)
        guard let status = try folder.information(of: BatchFile.status),
            let progress = try folder.information(of: BatchFile.progress)
        else { return false }
        guard status.isNewer(than: progress) || progress.length == 0 else { return false }
        try folder.remove(BatchFile.progress)
        return true
    }
}
