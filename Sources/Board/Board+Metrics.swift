import DarkroomAnswer

/// What only the board knows of what the metrics, the status line and a run say (`Scheduler+Metrics.swift`).
extension Board {
    /// The amount of work, and how much of it is done.
    package struct Summary: Sendable, Equatable {
        package var batchesInWork = 0
        package var batchesWaiting = 0
        /// Batches that wait for a release. They are not counted as in work or waiting.
        package var batchesHeld = 0
        /// Batches that have ended since the start.
        package var batchesEnded = 0
        /// The images of the batches in work.
        package var images = Status.Counts()
        /// The memory that pictures in work have been granted, and the limit, in bytes.
        package var memoryGranted = 0
        package var memoryLimit = 0
        package var imagesWaitingForMemory = 0
        /// Downloads that wait for their next attempt.
        package var retrying = 0

        package init() {}
    }

    package var summary: Summary {
        var summary = Summary()
        summary.batchesInWork = batches.count
        summary.batchesWaiting = waitingBatches.waitingCount
        summary.batchesHeld = waitingBatches.heldCount
        summary.batchesEnded = batchesEnded
        summary.memoryGranted = pool.memory.held
        summary.memoryLimit = pool.memory.limit
        summary.imagesWaitingForMemory = pool.memory.waitingCount
        for batch in batches.values {
            if batch.isHeld {
                summary.batchesInWork -= 1
                summary.batchesHeld += 1
            }
            summary.images.add(batch.status.counts)
            summary.retrying += batch.retrying.count
        }
        return summary
    }
}
