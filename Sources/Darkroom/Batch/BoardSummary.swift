extension Board {
    /// How much there is to do and how far it is.
    package struct Summary: Sendable, Equatable {
        var batchesInWork = 0
        var batchesWaiting = 0
        /// Batches that wait to be released; not among those in work or waiting.
        var batchesHeld = 0
        /// Batches that have ended since the start.
        var batchesEnded = 0
        /// Of the batches in work.
        var images = Status.Counts()
        /// What pictures in work have been granted, and how much there is, in bytes.
        var memoryGranted = 0
        var memoryLimit = 0
        /// Images that wait for memory.
        var imagesWaitingForMemory = 0
        /// Downloads that wait for their next try.
        var retrying = 0
    }

    var summary: Summary {
        var summary = Summary(
            batchesInWork: batches.count, batchesWaiting: waitingBatches.waitingCount,
            batchesHeld: waitingBatches.heldCount, batchesEnded: batchesEnded)
        summary.memoryGranted = memory.held
        summary.memoryLimit = memory.limit
        summary.imagesWaitingForMemory = memory.waitingCount
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

extension Status.Counts {
    mutating func add(_ other: Status.Counts) {
        total += other.total
        for state in ImageState.allCases { self[state] += other[state] }
    }
}
