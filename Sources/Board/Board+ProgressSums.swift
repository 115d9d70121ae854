import DarkroomAnswer

/// The sums of a batch, for its progress file.
package struct BatchSums: Sendable {
    package let id: String
    /// Without its images.
    package var status: Status
    package let outputBytes: Int
    /// What is known about the work that the images are.
    package var sizes = SourceSizes.Sums()
}

extension Board {
    /// The sums of a batch in work, or of a waiting one that has begun under a previous daemon.
    package func sums(of key: BatchKey) -> BatchSums? {
        if let batch = batches[key] {
            var status = batch.status
            status.images = []
            status.counts = batch.shownCounts
            return BatchSums(
                id: batch.id, status: status, outputBytes: batch.outputBytes,
                sizes: batch.sizes.sums)
        }
        guard let waiting = waitingBatches[key], var status = waiting.continued?.status else {
            return nil
        }
        status.images = []
        return BatchSums(id: waiting.id, status: status, outputBytes: waiting.outputBytes)
    }
}
