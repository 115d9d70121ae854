import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomPicture
import DarkroomSpool
import Foundation

extension Scheduler: StatusSource {
    func snapshot(of key: BatchKey) -> StatusSnapshot? {
        board.withLock { board -> StatusSnapshot? in
            if let batch = board.batches[key] {
                return StatusSnapshot(
                    folders: folders(of: batch.id), status: batch.shownStatus,
                    startedAt: batch.startedAt,
                    isContinued: batch.isContinued)
            }
            return board.waitingBatches[key]?.continued.map { batch in
                StatusSnapshot(
                    folders: folders(of: batch.id), status: batch.status, startedAt: nil,
                    isContinued: true)
            }
        }.map { snapshot in
            var snapshot = snapshot
            if snapshot.status.state.isFinal {
                snapshot.status.times.workMilliseconds = snapshot.status.workMilliseconds
                snapshot.status.noteCodecs()
                return snapshot
            }
            snapshot.status.waiting = waiting(key, snapshot.status)
            return snapshot
        }
    }

    func progress(of key: BatchKey) -> ProgressSnapshot? {
        guard var sums = board.withLock({ $0.sums(of: key) }) else { return nil }
        if !sums.status.state.isFinal { sums.status.waiting = waiting(key, sums.status) }
        let mayWork = gate.mayStart && storage.mayWork && sums.status.state == .processing
        if mayWork { examineSizes(of: key) }
        return ProgressSnapshot(folders: folders(of: sums.id), sums: sums, mayWork: mayWork)
    }

    /// The reason why a batch does not progress. A reason that applies to all batches comes first. For a held batch,
    /// and one that has not begun and waits for its turn, the state is reason enough.
    private func waiting(_ key: BatchKey, _ status: Status) -> Status.Waiting? {
        let hasBegun = status.state != .held && status.times.started != nil
        let gate = hasBegun ? gate.waiting : nil
        if gate?.code == Status.Waiting.Code.stopped.rawValue { return gate }
        if let report = storage.report { return report.waiting }
        return gate ?? deliveries.waiting(of: key) ?? originals.waiting(of: key) ?? hostsPause(key)
    }

    /// The reason why the batches that have begun wait has changed.
    func suspensionChanged() {
        for key in board.withLock({ Array($0.imagesOfBegun.keys) }) { statusChanged(key) }
    }

    /// Has the statuses of the batches that have begun say that the daemon has stopped, as far as the time permits:
    /// those with the fewest images first, because they take the least time.
    func leaveStatuses() {
        let images = board.withLock { $0.imagesOfBegun }
        let keys = images.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
        let seconds: UInt64 = gate.isAborting ? 1 : 4
        statusKeeper.leave(keys, self, before: time.now + seconds * 1_000_000_000)
    }

    /// The IDs of the batches in work, and then of those that wait for their turn, in the order of their arrival. A
    /// pause does not concern held batches.
    package var batchesToBeDone: [String] {
        board.withLock { board in
            let inWork = board.batches.filter { !$0.value.isHeld }.mapValues(\.id)
            let waiting = board.waitingBatches.filter { $0.value.control != .held }.mapValues(\.id)
            return [inWork, waiting].flatMap { $0.sorted { $0.key < $1.key }.map(\.value) }
        }
    }

    func finished(_ key: BatchKey) {
        advance { $0.batchFinished(key) }
        cancellations.drop(key)
    }

    func parked(_ key: BatchKey) { advance { $0.parked(key) } }
}
