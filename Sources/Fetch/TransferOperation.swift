import Foundation
import Synchronization

/// One transfer in the queue of downloads. It occupies one of the queue's places from its start to its end, but no
/// thread.
package final class TransferOperation: Operation, @unchecked Sendable {
    // Rule: everything that changes is in `state`, behind its lock. The engine, the closures and Foundation are never
    // called with the lock held.

    package enum Outcome: Sendable {
        case fetched(TransferReport)
        case failed(FetchError)
        /// It started while its queue was being suspended; it must be tried again.
        case deferred
        /// It was not needed any more when it started.
        case unwanted
    }

    /// What an operation does when it is its turn.
    package enum Preparation: Sendable {
        case transfer(TransferRequest)
        case failed(FetchError)
        case deferred
        case unwanted
    }

    package typealias Completion = @Sendable (Outcome) -> Void

    private enum Phase {
        case waiting
        /// nil between the start and the engine's answer.
        case running(TransferID?)
        case finished
    }

    private struct State {
        var phase = Phase.waiting
        /// The caller takes them out, so that each is called once. They are released then, because a queue may keep a
        /// finished operation.
        var prepare: (@Sendable () -> Preparation)?
        var completion: Completion?
    }

    private let engine: TransferEngine
    private let url: RemoteURL
    private let state: Mutex<State>

    /// `prepare` is called on the queue's thread when the operation starts, so that a waiting operation has no open
    /// file.
    ///
    /// `completion` is called exactly once: on the engine's thread when the transfer has ended; on the thread of
    /// `cancel()` if the operation has not started, because a suspended queue would start it only later; on the queue's
    /// thread if `prepare` returns no transfer. It must return soon. The operation finishes after it.
    package init(
        engine: TransferEngine, url: RemoteURL, prepare: @escaping @Sendable () -> Preparation,
        completion: @escaping Completion
    ) {
        self.engine = engine
        self.url = url
        state = Mutex(State(prepare: prepare, completion: completion))
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
        let prepare = state.withLock { state -> (@Sendable () -> Preparation)? in
            guard case .waiting = state.phase else { return nil }
            state.phase = .running(nil)
            return state.prepare.take()
        }
        guard let prepare else { return }
        didChangeValue(forKey: "isExecuting")
        if isCancelled { return finish(.failed(.cancelled(url))) }
        switch prepare() {
        case .transfer(let request): begin(request)
        case .failed(let error): finish(.failed(error))
        case .deferred: finish(.deferred)
        case .unwanted: finish(.unwanted)
        }
    }

    private func begin(_ request: TransferRequest) {
        let id = engine.start(request) { [self] result in
            switch result {
            case .success(let report): finish(.fetched(report))
            case .failure(let error): finish(.failed(error))
            }
        }
        state.withLock { state in
            if case .running = state.phase { state.phase = .running(id) }
        }
        // A cancel() in between has found no transfer to cancel.
        if isCancelled { engine.cancel(id) }
    }

    package override func cancel() {
        super.cancel()
        let (transfer, completion) = state.withLock { state -> (TransferID?, Completion?) in
            switch state.phase {
            case .waiting: (nil, state.completion.take())
            case .running(let transfer): (transfer, nil)
            case .finished: (nil, nil)
            }
        }
        if let transfer { engine.cancel(transfer) }
        // The operation itself finishes when its queue starts it; it must not finish before.
        completion?(.failed(.cancelled(url)))
    }

    private func finish(_ outcome: Outcome) {
        let completion = state.withLock { $0.completion.take() }
        completion?(outcome)
        state.withLock { $0.phase = .finished }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}
