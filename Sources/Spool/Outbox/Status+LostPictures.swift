import DarkroomAnswer
import DarkroomCore

extension Status {
    /// Whether pictures came with the manifest and were removed when the batch ended, so that a retry does not have them.
    package func lacksPictures(in answer: Directory) -> Bool {
        guard manifest.isFolder == true, state.isFinal else { return false }
        return (try? answer.exists(BatchFile.originals)) == false
    }
}
