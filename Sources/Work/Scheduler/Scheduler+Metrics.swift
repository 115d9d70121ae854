import DarkroomBoard
import DarkroomCore
import Synchronization

/// What the metrics (`MetricsMoment`) and the status line say about the scheduler at this moment.
///
/// A number that only the board knows belongs to `Board.Summary`; what the queues and the other parts know is here.
extension Scheduler {
    /// The operations that run at the moment.
    package var runningCount: Int { runningOperations.load(ordering: .relaxed) }

    /// Images that have ended and are not in the outbox yet.
    package var publishingCount: Int { committer.pendingCount }

    package var pausedHostCount: Int {
        board.withLock { $0.admission.downloads.pausedCount(now: time.now) }
    }

    /// Downloads whose hosts accept no further one at the moment.
    package var waitingForHostCount: Int {
        board.withLock { $0.admission.downloads.waitingForHostCount }
    }

    /// The number of operations in the queues, including running ones, and of images that wait to be published.
    package var queueLengths: [(name: String, length: Int)] {
        let (waiting, filters) = board.withLock {
            ($0.admission.waitingForPlaceCount, $0.admission.filters.count)
        }
        return [
            ("downloads", queues.downloadCount + waiting),
            ("filters", filters),
            ("publisher", committer.pendingCount),
        ]
    }

    package var summary: Board.Summary { board.withLock { $0.summary } }
}
