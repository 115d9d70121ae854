import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomSpool
import Synchronization

extension Scheduler {
    /// A batch of an earlier daemon stays in `active` until the next start. Reports list it.
    package func notResumed(_ id: String, because error: some CodedError) {
        unresumed.withLock { list in
            list.removeAll { ByteString($0.id) == ByteString(id) }
            guard list.count < QueueReport.capacity else { return }
            list.append(
                QueueReport.Unresumed(
                    id: id, code: error.code, message: error.message, since: Clock.timestamp))
        }
        progressed()
    }

    /// Adds the unfinished batches to a report: those in work first, then the others by their arrival.
    package func describeBatches(in report: inout QueueReport) {
        let (counts, images, keys) = board.withLock {
            ($0.batchCounts, $0.imageCounts, $0.unfinishedKeys)
        }
        let unresumed = unresumed.withLock { $0 }
        report.unresumed = unresumed.isEmpty ? nil : unresumed
        report.counts = counts
        report.images = images
        // Sorted without the lock: there may be many.
        let order = (keys.inWork.sorted() + keys.waiting.sorted()).prefix(QueueReport.capacity)
        let listed = board.withLock { board in
            order.compactMap { key in board.listed(key).map { (key, $0) } }
        }
        let outlooks = statusKeeper.progress.outlooks
        let storage = storage.report?.code
        let gate = gate.waiting?.code
        report.batches = listed.map { key, batch in
            var batch = batch
            batch.secondsLeft = outlooks[key]?.secondsLeft
            let common = batch.state == .processing ? storage ?? gate : storage
            batch.waiting = common ?? outlooks[key]?.ownWaiting
            return batch
        }
    }
}

extension ProgressKeeper.Outlook {
    /// The code, if it concerns only the batch. The others are known at once, and this one was known some time ago.
    fileprivate var ownWaiting: String? {
        let own = [Status.Waiting.Code.hostPaused, .delivery, .originals].map(\.rawValue)
        return waiting.flatMap { own.contains($0) ? $0 : nil }
    }
}
