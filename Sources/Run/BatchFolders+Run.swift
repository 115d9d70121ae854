import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

extension BatchFolders {
    /// Writes the last status of a run, and the progress that belongs to it.
    func writeEnd(_ status: Status, durably: Bool) throws(FileError) {
        try writeLastStatus(status, durably: durably) { writeProgress(BatchProgress(of: status)) }
    }

    /// Whether images of the run have ended since its last status.
    func hasJournal() throws(FileError) -> Bool {
        guard try spool.active.exists(FileName(id)) else { return false }
        return try active().exists(ItemJournal.fileName)
    }
}
