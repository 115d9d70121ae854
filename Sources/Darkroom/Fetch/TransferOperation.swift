import Foundation
import Synchronization

/// One transfer in the queue of downloads: it takes up one of the queue's places from its start to its
/// end, and no thread meanwhile.
package final class TransferOperation: Operation, @unchecked Sendable {
    // Rule: everything that changes is in `state`, behind its lock; neither the engine nor the
    // completion nor Foundation is called with the lock held.

    package enum Outcome: Sendable {
        case fetched(TransferReport)
        case failed(FetchError)
        /// Started just as its queue was being suspended, and `mayStart` said no: to be tried again.
        case deferred
    }

    package typealias Completion = @Sendable (Outcome) -> Void

    private enum Phase {
        case waiting
        /// Without a transfer between the start and the engine's answer.
        case running(TransferID?)
        case finished
    }

    private struct Job {
        let request: TransferRequest
        let completion: Completion
    }

    private struct State {
        var phase = Phase.waiting
        /// Taken out by whoever calls the completion, so that it is called once; and let go of then,
        /// with the file it writes to, for others may hold on to a finished operation.
        var job: Job?
    }

    private let engine: TransferEngine
    private let mayStart: @Sendable () -> Bool
    private let state: Mutex<State>

    /// `completion` is called exactly once: on the engine's thread when the transfer has ended; on the
    /// caller's of `cancel()` if the operation has not started by then, for a suspended queue would
    /// start it only when it goes on; on the queue's thread if `mayStart` forbids the start. It hands
    /// over and returns soon. The operation finishes after it.
    package init(
        engine: TransferEngine, request: TransferRequest,
        mayStart: @escaping @Sendable () -> Bool, completion: @escaping Completion
    ) {
        self.engine = engine
        self.mayStart = mayStart
        state = Mutex(State(job: Job(request: request, completion: completion)))
        super.init()
    }

    package override var isAsynchronous: Bool { true }

    package override var isExecuting: Bool {
        state.withLock { if case .running = $0.phase { true } else { false } }
    }

    package override var isFinished: Bool {
        state.withLock { if case .finished = $0.phase { true } else { false } }
    }

    package override func start() {
        let (isFirst, request) = state.withLock { state -> (Bool, TransferRequest?) in
            guard case .waiting = state.phase else { return (false, nil) }
            state.phase = .running(nil)
            return (true, state.job?.request)
        }
        guard isFirst else { return }
        didChangeValue(forKey: "isExecuting")
        // Without a job, cancel() has completed it already.
        guard let request else { return finish(nil) }
        if isCancelled { return finish(.failed(.cancelled(request))) }
        guard mayStart() else { return finish(.deferred) }
        let id = engine.start(request) { [self] result in
            switch result {
            case .success(let report): finish(.fetched(report))
            case .failure(let error): finish(.failed(error))
            }
        }
        state.withLock { state in
            if case .running = state.phase { state.phase = .running(id) }
        }
        // A cancel() meanwhile has found no transfer to cancel.
        if isCancelled { engine.cancel(id) }
    }

    package override func cancel() {
        super.cancel()
        let (transfer, job) = state.withLock { state -> (TransferID?, Job?) in
            switch state.phase {
            case .waiting: (nil, state.job.take())
            case .running(let transfer): (transfer, nil)
            case .finished: (nil, nil)
            }
        }
        if let transfer { engine.cancel(transfer) }
        // The operation itself finishes when its queue starts it, which it must not do before.
        if let job { job.completion(.failed(.cancelled(job.request))) }
    }

    private func finish(_ outcome: Outcome?) {
        let job = state.withLock { $0.job.take() }
        if let job, let outcome { job.completion(outcome) }
        state.withLock { $0.phase = .finished }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}
