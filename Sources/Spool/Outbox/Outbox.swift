import DarkroomAnswer
import DarkroomCore
import Glibc
import SystemPackage

/// The outbox of a spool as those see it who read the answers: without the lock of the spool and without any right of the
/// daemon.
package struct Outbox: Sendable {
    private let root: Directory

    package init(of root: Directory) { self.root = root }

    package func folder() throws(FileError) -> Directory { try Directory("outbox", in: root) }

    /// The IDs of all batches that have an answer, in alphabetical order.
    package func ids() throws(FileError) -> [String] {
        try folder().names().filter { $0.bytes.first != UInt8(ascii: ".") }.map(\.text).sorted()
    }

    /// The folder of a batch; nil if there is no such batch.
    package func answer(of id: String) throws(FileError) -> Directory? {
        guard !id.isEmpty, !id.hasPrefix("."), !id.contains("/"), !id.contains("\0") else {
            return nil
        }
        let outbox = try folder()
        do throws(FileError) {
            return try Directory(FileName(id), in: outbox)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels,
                .fileNameTooLong:
                return nil
            default: throw error
            }
        }
    }

    /// How far a batch is; nil if there is no such batch.
    ///
    /// `progress.json` is written just after `status.json`. It is missing in the answers of older versions, and at first
    /// if a batch has few images. So the status decides if it is newer. It may have 36 MB, so somebody who looks twice a
    /// second may wait for the progress file instead.
    ///
    /// - Parameter patience: the seconds in which a newer status is not read yet, unless the batch has ended according
    ///   to its progress file.
    package func summary(
        of id: String, patience: Double = 0
    ) throws(ReadingError) -> BatchProgress? {
        let found: Directory?
        do {
            found = try answer(of: id)
        } catch {
            throw .file(error)
        }
        guard let answer = found else { return nil }
        var progress = try? answer.decode(BatchProgress.self, BatchFile.progress)
        // An ID that is too long for the file is the name of the folder alone.
        progress?.id = id
        guard let status = try? answer.information(of: BatchFile.status) else { return nil }
        if let progress, let file = try? answer.information(of: BatchFile.progress) {
            guard status.isNewer(than: file) else { return progress }
            let age = Clock.wall - Double(status.st_mtim.tv_sec)
            if age < patience, !progress.state.isFinal { return progress }
        }
        if progress == nil, status.length <= Self.smallStatus,
            let whole = (try? Status(in: answer)) ?? nil
        {
            var batch = BatchProgress(of: whole)
            batch.written = whole.written ?? batch.written
            return batch
        }
        guard let frame = try Self.frame(in: answer) else { return nil }
        var batch = BatchProgress(toldBy: frame)
        batch.outputBytes = progress?.outputBytes ?? 0
        return batch
    }

    /// A status of at most this many bytes takes little time to read with its images, which have the sizes of the
    /// outputs.
    private static let smallStatus = 64 << 10

    /// The status of a batch without its images, of which there may be 100,000; nil if the folder is not an answer.
    package static func frame(in folder: Directory) throws(ReadingError) -> Status? {
        let found = try readIfExists { () throws(FileError) in try Status(frameIn: folder) }
        guard let found else { return nil }
        guard let status = found else { throw .unreadableStatus(in: folder) }
        return status
    }
}
