import DarkroomCore
import DarkroomPicture
import DarkroomSpool
import Foundation
import Synchronization

extension Scheduler: StatusSource {
    func snapshot(of key: BatchKey) -> StatusSnapshot? {
        board.withLock { board -> StatusSnapshot? in
            if let batch = board.batches[key] {
                return StatusSnapshot(
                    folders: batch.folders, status: batch.shownStatus, startedAt: batch.startedAt,
                    isContinued: batch.isContinued)
            }
            return board.waitingBatches[key]?.continued.map { batch in
                StatusSnapshot(
                    folders: batch.folders, status: batch.status, startedAt: nil, isContinued: true)
            }
        }.map { snapshot in
            guard !snapshot.status.state.isFinal else { return snapshot }
            var snapshot = snapshot
            snapshot.status.waiting = waiting(key, snapshot.status)
            return snapshot
        }
    }

    /// What keeps a batch from moving, first what keeps all of them. What is held, or has not begun and waits for its
    /// turn, says so by its state, and would not begin anyway.
    private func waiting(_ key: BatchKey, _ status: Status) -> Status.Waiting? {
        let hasBegun = status.state != .held && status.times.started != nil
        let gate = hasBegun ? gate.waiting : nil
        if gate?.code == Status.Waiting.Code.stopped.rawValue { return gate }
        if let report = storage.report {
            return Status.Waiting(code: report.code, message: report.message, since: report.since)
        }
        return gate ?? hostsPause(key)
    }

    /// What the batches wait for has changed that have begun.
    func suspensionChanged() {
        for key in board.withLock({ Array($0.imagesOfBegun.keys) }) { statusChanged(key) }
    }

    /// Has the statuses of the batches that have begun say that the daemon has stopped, as far as there is time: those
    /// with the fewest images first, which cost the least.
    func leaveStatuses() {
        let images = board.withLock { $0.imagesOfBegun }
        let keys = images.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
        let seconds: UInt64 = gate.isAborting ? 1 : 4
        statusKeeper.leave(keys, self, before: time.now + seconds * 1_000_000_000)
    }

    /// The IDs of those in work, and then of those that wait for their turn, in the order in which they came. What is
    /// held concerns nobody's pause.
    package var batchesToBeDone: [String] {
        board.withLock { board in
            let inWork = board.batches.filter { !$0.value.isHeld }.mapValues(\.folders.id)
            let waiting = board.waitingBatches.filter { $0.value.control != .held }.mapValues(
                \.folders.id)
            return [inWork, waiting].flatMap { $0.sorted { $0.key < $1.key }.map(\.value) }
        }
    }

    func finished(_ key: BatchKey) {
        advance { board in
            board.batchFinished(key)
            return []
        }
    }

    func parked(_ key: BatchKey) {
        advance { $0.parked(key) }
    }
}

extension Failure {
    var isCancellation: Bool { code == PictureError.Code.cancelled.rawValue }
}
