import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import Dispatch
import Synchronization

/// The sizes of local sources, which make the estimate of the time left better. Those of downloads are known when they
/// have ended.
extension Scheduler {
    /// Finds out the sizes of the sources of a batch, the first time that its progress is written. So a batch that ends
    /// at once costs nothing.
    func examineSizes(of key: BatchKey) {
        let sources = board.withLock { $0.beginExaminingSizes(of: key) }
        guard !sources.isEmpty else { return }
        // A folder on a network may take long to answer. Nothing waits for this queue.
        sizes.async { [self] in
            let found = sources.compactMap { source, text -> (Int, Int)? in
                guard !stopped.isSet, case .local(let path)? = try? SourceReference(text),
                    let file = try? settings.localSources.open(path)
                else { return nil }
                return (source, Int(file.bytes))
            }
            board.withLock { $0.learnSizes(of: key, found) }
        }
    }
}

extension Board {
    /// The sources that have not begun; empty if it is not worth while to know their sizes.
    func beginExaminingSizes(of key: BatchKey) -> [(Int, ByteString)] {
        guard let batch = batches[key],
            batch.sizes.beginExamination(images: batch.manifest.images.count)
        else { return [] }
        return batch.sources.enumerated().filter { $1.phase == .idle && $1.users > 0 }
            .map { ($0, $1.text) }
    }

    func learnSizes(of key: BatchKey, _ found: [(source: Int, bytes: Int)]) {
        guard let batch = batches[key] else { return }
        for (source, bytes) in found {
            batch.sizes.learn(source, bytes: bytes, images: batch.sources[source].users)
        }
    }
}
