import DarkroomFetch
import DarkroomManifest

/// What is known of the sizes of sources, see `SourceSizes`.
extension Board {
    /// The sources that have not begun; nil if it is not worth while to know their sizes.
    package mutating func beginExaminingSizes(
        of key: BatchKey
    ) -> (id: String, isFolder: Bool, sources: [(Int, SourceReference)])? {
        let found = change(key) { batch, _ -> (String, Bool, [(Int, SourceReference)])? in
            guard batch.sizes.beginExamination(images: batch.manifest.images.count) else {
                return nil
            }
            let sources = batch.sources.enumerated().filter { $1.phase == .idle && $1.users > 0 }
            return (batch.id, batch.isFolder, sources.map { ($0, $1.reference) })
        }
        return found ?? nil
    }

    package mutating func learnSizes(of key: BatchKey, _ found: [(source: Int, bytes: Int)]) {
        change(key) { batch, _ in batch.learnSizes(found) }
    }
}
