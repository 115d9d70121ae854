import DarkroomCore
import DarkroomSpool
import Glibc
import SystemPackage

/// Tells the present files of an answer from later ones: each is replaced as a whole.
struct AnswerStamp: Sendable, Equatable {
    let status: File
    let progress: File?

    struct File: Sendable, Equatable {
        let inode: UInt64
        let seconds: Int
        let nanoseconds: Int

        init(_ found: stat) {
            inode = UInt64(found.st_ino)
            seconds = found.st_mtim.tv_sec
            nanoseconds = found.st_mtim.tv_nsec
        }
    }

    /// nil if the folder has no status.
    init?(of id: FileName, in outbox: Directory) throws(FileError) {
        func file(_ name: FileName) throws(FileError) -> File? {
            let path = FileName(bytes: id.bytes + [UInt8(ascii: "/")] + name.bytes)
            do {
                return try outbox.information(of: path).map { File($0) }
            } catch  where [.notDirectory, .tooManySymbolicLinkLevels].contains(error.errno) {
                return nil
            }
        }
        guard let status = try file(BatchFile.status) else { return nil }
        self.status = status
        progress = try file(BatchFile.progress)
    }

    /// The seconds in which the progress file may follow the status.
    static let patience = 2.0

    /// Whether the progress file is behind a status that is so new that it is not read yet.
    var isBehind: Bool {
        guard let progress,
            (progress.seconds, progress.nanoseconds) < (status.seconds, status.nanoseconds)
        else { return false }
        return abs(Clock.wall - Double(status.seconds)) < Self.patience + 1
    }
}
