import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import Dispatch
import Foundation
import Synchronization

/// The begin and the end of an operation of either kind.
extension Scheduler {
    func start(_ start: Admission.Start) {
        let ticket = start.ticket
        switch ticket.work {
        case .download:
            guard let reference = start.source else { return }
            queues.add(downloadOperation(ticket, reference), for: start)
        case .filter(let key, let image):
            queues.add(BlockOperation { [self] in filter(ticket, key, image) }, for: start)
        }
    }

    /// An operation's thread has begun (`Admission.begin`). It may not do its work if the queues have been paused since,
    /// or if the spool accepts no writes.
    func begin(_ ticket: Admission.Ticket, key: CacheKey? = nil) -> Admission.Beginning {
        guard gate.mayStart else { return .back }
        var beginning = Admission.Beginning.unwanted
        settle { beginning = $0.begin(ticket, key: key) }
        switch beginning {
        case .unwanted: queues.remove(ticket)
        case .back: break
        case .goes:
            running.enter()
            runningOperations.add(1, ordering: .relaxed)
        }
        return beginning
    }

    func downloadBegan(_ ticket: Admission.Ticket, isTransfer: Bool) -> BegunJob<DownloadJob>? {
        var job: DownloadJob?
        settle { job = $0.downloadBegan(ticket, isTransfer: isTransfer) }
        FaultPoint.downloadBegan.pass()
        return job.map { begun($0, of: ticket.work.batch, id: $0.id) }
    }

    /// Work that began has ended (`Board.left`). The board learns this before the daemon can conclude that nothing runs.
    func ended(
        _ ticket: Admission.Ticket, isShared: Bool = false, _ change: (inout Board) -> Void
    ) {
        queues.remove(ticket)
        if case .download = ticket.work { FaultPoint.downloadEnded.pass() }
        advance { $0.left(ticket, isShared: isShared, change) }
        runningOperations.subtract(1, ordering: .relaxed)
        running.leave()
    }

    /// Returns work that was not allowed to begin to the board.
    func deferred(_ ticket: Admission.Ticket, _ change: (inout Board) -> Void) {
        queues.remove(ticket)
        advance { $0.deferred(ticket, change) }
    }
}
