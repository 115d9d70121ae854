import Foundation

extension Scheduler: StatusSource {
    func snapshot(of key: BatchKey) -> StatusSnapshot? {
        board.withLock { board in
            board.batches[key].map { batch in
                StatusSnapshot(
                    folders: batch.folders, status: batch.shownStatus, startedAt: batch.startedAt,
                    isContinued: batch.isContinued)
            }
        }.map { snapshot in
            guard !snapshot.status.state.isFinal else { return snapshot }
            var snapshot = snapshot
            if let report = storage.report {
                snapshot.status.waiting = Status.Waiting(
                    code: report.code, message: report.message, since: report.since)
            } else {
                snapshot.status.waiting = hostsPause(key)
            }
            return snapshot
        }
    }

    /// The IDs of those in work, and then of those that wait for their turn, in the order in which they came. What is
    /// held concerns nobody's pause.
    var batchesToBeDone: [String] {
        board.withLock { board in
            let inWork = board.batches.filter { !$0.value.isHeld }.mapValues(\.folders.id)
            let waiting = board.waitingBatches.filter { !$0.value.isHeld }.mapValues(\.folders.id)
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

extension Darkroom.Configuration {
    /// Pictures filtered at once.
    var filterWidth: Int {
        filterConcurrency > 0 ? filterConcurrency : ProcessInfo.processInfo.activeProcessorCount
    }

    /// Filters in their queue at once, so that no thread of it finds it empty.
    var filtersQueued: Int { filterWidth * 2 }

    var saturation: Int { downloadConcurrency + filterWidth }
}

extension Failure {
    var isCancellation: Bool { code == PictureError.Code.cancelled.rawValue }
}
