import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Foundation

extension BatchDetails {
    /// The run in a folder of `darkroom run` or `darkroom merge`.
    ///
    /// - Throws: if the folder has no status.
    package init(
        ofRunIn path: String, images: Images = .firstFailed, now: Date = Date()
    ) throws(ClientError) {
        let answer = try asClientError(Directory(path: path))
        let root = try? Directory(FileName(RunFolders.spoolName), in: answer)
        guard let stamp = try asClientError(AnswerStamp(in: answer)) else {
            throw Self.noRun(path, root)
        }
        guard let all = try BatchImages(in: answer) else { throw Self.noRun(path, root) }
        // What was written after the status.
        let progress =
            stamp.hasPresentProgress
            ? try? answer.decode(BatchProgress.self, BatchFile.progress) : nil
        let isInWork = root.map { LockHolder(in: $0) != .nobody } ?? false
        try self.init(
            batch: progress, all, daemon: DaemonState(ofRun: isInWork), folder: answer.path,
            isRun: true, images: images, now: now)
    }

    private static func noRun(_ path: String, _ root: Directory?) -> ClientError {
        // The folders of shards are in that of a revision (`RunRevision`).
        let shards =
            (try? root?.names())?.filter {
                $0.text.hasPrefix("shard-") || $0.text.hasPrefix("revision-")
            } ?? []
        guard shards.isEmpty else {
            return ClientError(
                .missing, code: "not-merged",
                "\(path.visible): the results of its shards are not merged yet",
                remedy: "darkroom merge \(path.shellQuoted) puts them together.")
        }
        return ClientError(
            .missing, code: "no-run",
            "\(path.visible): it is not a folder of results, because it has no status.json")
    }
}

extension DaemonState {
    package init(ofRun isInWork: Bool) {
        self.init(name: isInWork ? .running : .stopped)
        isOfRun = true
    }
}
