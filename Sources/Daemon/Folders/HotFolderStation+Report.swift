import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Synchronization

/// The report of a folder, for folders.json.
extension HotFolderStation {
    /// Reports the present state soon. This may be called often: to describe many files takes a while.
    func publish() {
        guard !publishIsSet else { return }
        publishIsSet = true
        time.call(in: 0.1, on: queue) { [weak self] in
            guard let self else { return }
            publishIsSet = false
            isUp.store(isTaking, ordering: .relaxed)
            let new = describe()
            let isNews = report.withLock { report in
                defer { report = new }
                return report != new
            }
            if isNews { onReport() }
        }
    }

    /// Whether the folder is there, and is the one that it was.
    private var isTaking: Bool {
        switch state {
        case .watching, .polling: !isOther
        case .starting, .missing, .refused, .failed: false
        }
    }

    private func describe() -> FoldersReport.Folder {
        let folder = folder
        var groups: [HotFileReason: [(path: RelativePath, message: String)]] = [:]
        for (path, why) in refused {
            groups[why.reason, default: []].append((path, why.message))
        }
        for path in arrivals.all {
            guard let reason = arrivals.reason(path) else { continue }
            groups[reason, default: []].append((path, Self.words(of: reason)))
        }
        var counts: [String: Int] = [:]
        var files: [FoldersReport.File] = []
        for reason in HotFileReason.allCases {
            let group = groups[reason] ?? []
            counts[reason.rawValue] = group.count
            let room = FoldersReport.capacity - files.count
            guard room > 0 else { continue }
            let sorted = group.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
            files += sorted.prefix(room).map {
                FoldersReport.File(path: $0.path, reason: reason, message: $0.message)
            }
        }
        let (name, message): (FoldersReport.State, String?) =
            switch state {
            case .starting: (.missing, "it was not looked at yet")
            case .watching: (.watching, isOther ? otherFolder : nil)
            case .polling(let error): (.polling, isOther ? otherFolder : error.message)
            case .missing(let error): (.missing, error.message)
            case .refused(let problem): (.refused, problem)
            case .failed(let error): (.failed, error.message)
            }
        return FoldersReport.Folder(
            path: folder.path, recipe: folder.recipe, originals: folder.originals, state: name,
            message: message, since: since, remembered: ledger?.count ?? 0,
            batches: batches.count { !isEnded($0) }, counts: counts, files: files)
    }

    private static func words(of reason: HotFileReason) -> String {
        switch reason {
        case .beingWritten: "its writer has not closed it"
        case .settling: "it may not be complete: it changed too recently"
        default: "it waits for its batch"
        }
    }

    func isEnded(_ batch: HotBatch) -> Bool { ended.contains(ByteString(batch.name)) }
}
