import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Foundation

extension BatchDetails {
    private static let spoolName = FileName(RunFolders.spoolName)

    /// The run in a folder of `darkroom run` or `darkroom merge`.
    ///
    /// - Throws: if the folder has no status.
    package init(
        ofRunIn path: String, images: Images = .firstFailed, now: Date = Date()
    ) throws(ClientError) {
        let answer: Directory
        let exists: Bool
        do throws(FileError) {
            answer = try Directory(path: path)
            exists = try answer.exists(BatchFile.status)
        } catch {
            throw ClientError(error)
        }
        let root = try? Directory(Self.spoolName, in: answer)
        guard exists else { throw Self.noRun(path, root) }
        let found = try Self.whole(answer)
        let isInWork = root.map { LockHolder(ofRunIn: $0) != .nobody } ?? false
        self.init(
            batch: Self.progress(in: answer) ?? BatchProgress(of: found), status: found,
            daemon: DaemonState(ofRun: isInWork), folder: answer.path, isRun: true, images: images,
            now: now)
    }

    /// What was written after the status.
    private static func progress(in answer: Directory) -> BatchProgress? {
        guard let file = try? answer.information(of: BatchProgress.fileName),
            let status = try? answer.information(of: BatchFile.status),
            !status.isNewer(than: file),
            let bytes = try? answer.read(BatchProgress.fileName, upTo: BatchProgress.capacity)
        else { return nil }
        return try? JSONDecoder().decode(BatchProgress.self, from: Data(bytes))
    }

    private static func noRun(_ path: String, _ root: Directory?) -> ClientError {
        let shards = (try? root?.names())?.filter { $0.text.hasPrefix("shard-") } ?? []
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
    /// - Parameter isInWork: whether a `darkroom run` works in the folder.
    package init(ofRun isInWork: Bool) {
        self.init(name: isInWork ? .running : .stopped)
        isOfRun = true
    }
}
