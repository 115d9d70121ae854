import DarkroomAnswer
import DarkroomManifest

/// The numbers of the unfinished batches, for reports. Each call takes a moment, however many images the batches have.
extension Board {
    package var batchCounts: QueueReport.Counts {
        var counts = QueueReport.Counts()
        counts.pending = waitingBatches.waitingCount
        counts.held = waitingBatches.heldCount
        for batch in batches.values {
            switch batch.listedState {
            case .pending: counts.pending += 1
            case .held: counts.held += 1
            default: counts.processing += 1
            }
        }
        return counts
    }

    package var imageCounts: Status.Counts {
        batches.values.reduce(into: waitingBatches.images) { $0.add($1.shownCounts) }
    }

    /// The keys of the batches in work, which are few, and of the waiting ones, in no particular order.
    package var unfinishedKeys: (inWork: [BatchKey], waiting: [BatchKey]) {
        (Array(batches.keys), waitingBatches.keys)
    }

    /// An unfinished batch as it is listed; nil after it has finished.
    package func listed(_ key: BatchKey) -> QueueReport.Batch? {
        if let batch = batches[key] {
            return QueueReport.Batch(
                id: batch.id, state: batch.listedState, priority: batch.manifest.priority,
                uid: batch.owner, received: batch.status.times.received, counts: batch.shownCounts)
        }
        return waitingBatches[key].map { batch in
            QueueReport.Batch(
                id: batch.id, state: batch.control == .held ? .held : .pending,
                priority: batch.priority, uid: batch.owner, received: batch.received,
                counts: batch.counts)
        }
    }
}

extension Batch {
    /// The batch is unfinished until its final status is in the outbox.
    fileprivate var listedState: BatchState { status.state.isFinal ? .processing : status.state }
}
