import DarkroomCore
import DarkroomFetch
import DarkroomSpool
import Dispatch
import Foundation
import Synchronization

/// How an operation begins and ends, whatever it is for.
extension Scheduler {
    /// Makes an operation, and puts it into its queue.
    func start(_ start: Admission.Start) {
        let ticket = start.ticket
        switch ticket.work {
        case .download(let key, let source):
            guard let text = start.text else { return }
            queues.add(downloadOperation(ticket, key, source, text), for: start)
        case .filter(let key, let image):
            queues.add(
                BlockOperation { [self] in filter(ticket, key, image) }, for: start)
        }
    }

    /// An operation's thread has come: whether it may do its work. Not where the queues were suspended in between or the
    /// spool takes no writes.
    ///
    /// - Parameter key: of a download, what it is kept by; nil where nothing is.
    func begin(_ ticket: Admission.Ticket, key: CacheKey? = nil) -> Admission.Beginning {
        guard gate.mayStart else { return .back }
        var beginning = Admission.Beginning.unwanted
        settle { board in
            let effects: [Effect]
            (beginning, effects) = board.begin(ticket, key: key)
            return effects
        }
        switch beginning {
        case .unwanted: queues.remove(ticket)
        case .back: break
        case .goes:
            running.enter()
            runningOperations.add(1, ordering: .relaxed)
        }
        return beginning
    }

    /// Begins a download; nil where it is not wanted any more.
    func downloadBegan(_ key: BatchKey, _ source: Int, isTransfer: Bool) -> DownloadJob? {
        let job = board.withLock { $0.downloadBegan(key, source, isTransfer: isTransfer) }
        if job != nil { statusKeeper.changed(key, self) }
        FaultPoint.downloadBegan.pass()
        return job
    }

    /// What began has ended; the board hears of it before the daemon may think that nothing runs.
    ///
    /// - Parameter isShared: of a download, whether others can copy from the cache what it has fetched.
    func ended(
        _ ticket: Admission.Ticket, isShared: Bool = false, _ change: (inout Board) -> [Effect]
    ) {
        queues.remove(ticket)
        if case .download = ticket.work { FaultPoint.downloadEnded.pass() }
        advance { $0.left(ticket, isShared: isShared, change) }
        runningOperations.subtract(1, ordering: .relaxed)
        running.leave()
    }

    /// What was not allowed to begin goes back to the board.
    func deferred(_ ticket: Admission.Ticket, _ change: (inout Board) -> [Effect]) {
        queues.remove(ticket)
        advance { $0.left(ticket, isShared: false, change) }
    }
}
