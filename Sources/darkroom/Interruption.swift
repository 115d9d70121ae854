import DarkroomClient
import Dispatch
import Glibc
import Synchronization

/// Ctrl-C: ends the command, leaves the batches alone, and says how to come back.
///
/// It owns SIGINT from the first advice to `end()`; `StopSignals` owns it while a screen must be cleared first.
enum Interruption {
    private struct Advice {
        let text: String
        let erasesLine: Bool
    }

    private struct State {
        var advice: Advice?
        /// Whether the code that is running clears something up first.
        var isPostponed = false
        var isPending = false
    }

    private static let state = Mutex(State())
    private static let source = Mutex<(any DispatchSourceSignal)?>(nil)

    /// From now on, SIGINT ends the command with this advice.
    ///
    /// - Parameter erasesLine: whether there may be progress in the line of the cursor.
    static func advise(_ text: String, erasesLine: Bool = false) {
        let erasesLine = erasesLine && Terminal(STDERR_FILENO).canRedraw
        state.withLock { $0.advice = Advice(text: text, erasesLine: erasesLine) }
        source.withLock { source in
            guard source == nil else { return }
            signal(SIGINT, SIG_IGN)
            let new = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
            new.setEventHandler { interrupt() }
            // Dispatch sets its own handler when it registers the source, which must not be after StopSignals has.
            let isRegistered = DispatchSemaphore(value: 0)
            new.setRegistrationHandler { isRegistered.signal() }
            new.activate()
            isRegistered.wait()
            source = new
        }
    }

    private static func interrupt() {
        let (isPostponed, advice) = state.withLock { state in
            state.isPending = true
            return (state.isPostponed, state.advice)
        }
        if isPostponed { return }
        if let advice {
            if advice.erasesLine { try? Console.write("\r\u{1B}[K", to: STDERR_FILENO) }
            Console.complain(advice.text)
        }
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

    /// Gives SIGINT up, to a handler that is set already.
    static func end() {
        source.withLock { source in
            source?.cancel()
            source = nil
        }
    }
}
