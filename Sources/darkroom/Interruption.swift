import DarkroomClient
import Dispatch
import Glibc
import Synchronization

/// Ctrl-C: ends the command, leaves the batches alone, and says how to come back.
enum Interruption {
    private struct State {
        var advice: String?
        /// Whether something must be cleared up first, by the code that is running.
        var isPostponed = false
        var isPending = false
    }

    private static let state = Mutex(State())
    private static let source = Mutex<(any DispatchSourceSignal)?>(nil)

    /// From now on, SIGINT ends the command with this advice.
    static func advise(_ text: String) {
        state.withLock { $0.advice = text }
        source.withLock { source in
            guard source == nil else { return }
            signal(SIGINT, SIG_IGN)
            let new = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
            new.setEventHandler { interrupt() }
            new.activate()
            source = new
        }
    }

    private static func interrupt() {
        let advice: String?? = state.withLock { state in
            state.isPending = true
            return state.isPostponed ? nil : .some(state.advice)
        }
        if let advice { end(advice) }
    }

    private static func end(_ advice: String?) -> Never {
        if let advice { Console.complain(advice) }
        Glibc._exit(ClientExit.interrupted.rawValue)
    }

    /// Whether SIGINT has arrived.
    static var isPending: Bool { state.withLock(\.isPending) }

    /// Runs code that asks `isPending` and then ends with an error by itself.
    static func postponed<Value>(
        _ body: () throws(ClientError) -> Value
    ) throws(ClientError) -> Value {
        state.withLock { $0.isPostponed = true }
        defer { state.withLock { $0.isPostponed = false } }
        return try body()
    }
}
