import Synchronization

/// The commands for the engine's thread, in the order in which they were sent.
final class TransferMailbox: Sendable {
    enum Command: Sendable {
        case start(TransferID, TransferRequest, TransferEngine.Completion)
        case cancel(TransferID)
        case cancelUnanswered
        case update(TransferSettings)
    }

    private struct State {
        var commands: [Command] = []
        var lastID: UInt64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    /// How often the thread has read the mailbox.
    let turns = Atomic<UInt64>(0)

    /// Gives the transfer an ID. It is refused after the mailbox is closed.
    func start(
        _ request: TransferRequest, completion: @escaping TransferEngine.Completion
    ) -> (id: TransferID, isAccepted: Bool) {
        state.withLock { state in
            state.lastID += 1
            let id = TransferID(number: state.lastID)
            if !state.isClosed { state.commands.append(.start(id, request, completion)) }
            return (id, !state.isClosed)
        }
    }

    /// Returns whether the command will be read.
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            if !state.isClosed { state.commands.append(command) }
            return !state.isClosed
        }
    }

    /// Later commands are refused; earlier ones are still read.
    func close() { state.withLock { $0.isClosed = true } }

    /// For the engine's thread: the new commands, and whether they are the last.
    func collect() -> (commands: [Command], isClosed: Bool) {
        turns.add(1, ordering: .relaxed)
        return state.withLock { (exchange(&$0.commands, with: []), $0.isClosed) }
    }
}
