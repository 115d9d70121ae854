import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import SystemPackage

/// Tells the present files of an answer from later ones: each is replaced as a whole.
struct AnswerStamp: Sendable, Equatable {
    let status: FileIdentity
    let progress: FileIdentity?

    /// - Parameter id: the name of the answer in `outbox`; by itself, the folder is the answer.
    /// - Returns: nil if the answer has no status.
    init?(of id: FileName = ".", in outbox: Directory) throws(FileError) {
        func file(_ name: FileName) throws(FileError) -> FileIdentity? {
            let path = FileName(bytes: id.bytes + [UInt8(ascii: "/")] + name.bytes)
            do {
                return try outbox.information(of: path).map { FileIdentity($0) }
            } catch  where [.notDirectory, .tooManySymbolicLinkLevels].contains(error.errno) {
                return nil
            }
        }
        guard let status = try file(BatchFile.status) else { return nil }
        self.status = status
        progress = try file(BatchFile.progress)
    }

    /// Whether there is a progress file, and the status is not newer. A newer status decides.
    var hasPresentProgress: Bool {
        guard let progress else { return false }
        return (progress.modifiedSeconds, progress.modifiedNanoseconds)
            >= (status.modifiedSeconds, status.modifiedNanoseconds)
    }

    /// The seconds in which the progress file may follow the status.
    static let patience = 2.0

    /// Whether the progress file is behind a status that is so new that it is not read yet.
    var isBehind: Bool {
        progress != nil && !hasPresentProgress && abs(status.age) < Self.patience + 1
    }
}
