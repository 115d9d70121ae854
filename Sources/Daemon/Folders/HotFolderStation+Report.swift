import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Synchronization

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
            let isNews = report.withLock { exchange(&$0, with: new) != new }
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
        for (path, why) in refused.all {
            groups[why.reason, default: []].append((path, why.message))
        }
        for (path, stage) in files.stages {
            let (reason, message) = Self.words(of: stage)
            groups[reason, default: []].append((path, message))
        }
        var counts: [String: Int] = [:]
        var listed: [FoldersReport.File] = []
        for reason in HotFileReason.allCases {
            let group = groups[reason] ?? []
            counts[reason.rawValue] = group.count
            let room = FoldersReport.capacity - listed.count
            guard room > 0 else { continue }
            let sorted = group.sorted { $0.path < $1.path }
            listed += sorted.prefix(room).map {
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
            path: folder.path, recipe: folder.recipe, originals: folder.originals.word,
            originalsTo: folder.place?.folder, state: name, message: message, since: since,
            remembered: records?.ledger.count ?? 0,
            batches: records?.unfinished ?? 0, counts: counts, files: listed)
    }

    private static func words(
        of stage: ArrivingFiles<RelativePath>.Stage
    ) -> (HotFileReason, String) {
        switch stage {
        case .written: (.beingWritten, "its writer has not closed it")
        case .appeared, .settling: (.settling, "it may not be complete: it changed too recently")
        case .ready: (.queued, "it waits for its batch")
        }
    }
}
