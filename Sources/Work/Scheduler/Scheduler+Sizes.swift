import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool
import Dispatch

/// The sizes of local sources, which make the estimate of the time left better. Those of downloads are known when they
/// have ended.
extension Scheduler {
    /// Finds out the sizes of the sources of a batch, the first time that its progress is written. So a batch that ends
    /// at once costs nothing.
    func examineSizes(of key: BatchKey) {
        guard let (id, isFolder, sources) = board.withLock({ $0.beginExaminingSizes(of: key) })
        else { return }
        // A folder on a network may take long to answer. Nothing waits for this queue.
        sizes.async { [self] in
            let sent = try? folders(of: id).sentPictures(isFolder: isFolder)
            let found = sources.compactMap { source, reference -> (Int, Int)? in
                guard !stopped.isSet, let path = reference.localPath,
                    let file = try? settings.localSources.open(path, sent: sent)
                else { return nil }
                return (source, Int(file.bytes))
            }
            board.withLock { $0.learnSizes(of: key, found) }
        }
    }
}
