import DarkroomCore
import DarkroomFetch
import DarkroomManifest

/// What is known of the sizes of sources, see `SourceSizes`.
extension Board {
    /// The sources that have not begun; nil if it is not worth while to know their sizes.
    package mutating func beginExaminingSizes(
        of key: BatchKey
    ) -> (id: String, isFolder: Bool, sources: [(Int, SourceReference)])? {
        var found: (id: String, isFolder: Bool, sources: [(Int, SourceReference)])?
        change(key) { batch, _ in
            guard batch.sizes.beginExamination(images: batch.manifest.images.count) else { return }
            let sources = batch.sources.enumerated().filter { $1.phase == .idle && $1.users > 0 }
            found = (batch.id, batch.isFolder, sources.map { ($0, $1.reference) })
        }
        return found
    }

    package mutating func learnSizes(of key: BatchKey, _ found: [(source: Int, bytes: Int)]) {
        change(key) { batch, _ in batch.learnSizes(found) }
    }
}
