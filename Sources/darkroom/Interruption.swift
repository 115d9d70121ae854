import DarkroomClient
import DarkroomCore
import Dispatch
import Glibc
import Synchronization

/// Ctrl-C: ends the command, leaves the batches alone, and says how to come back.
///
/// With `--json`, the last object on standard output is an `error`. `run` and `verify --again` are not here: they handle
/// signals themselves, and end with their own object.
///
/// It owns SIGINT from the first advice to `end()`; `StopSignals` owns it while a screen must be cleared first.
enum Interruption {
    private struct State {
        var advice: (text: String, erasesLine: Bool)?
        /// Whether an object tells programs.
        var isJSON = false
        /// Whether the code that is running clears something up first.
        var isPostponed = false
        var isPending = false
        var isHandedOver = false
    }

    private static let state = Mutex(State())
    private static let source = Mutex<(any DispatchSourceSignal)?>(nil)

    /// From now on, SIGINT ends the command with an object for programs. It does not if the process ignores SIGINT.
    static func tellPrograms() {
        state.withLock { $0.isJSON = true }
        if SignalSources.heeded(among: [SIGINT]) == [SIGINT] { listen() }
    }

    /// From now on, SIGINT ends the command with this advice.
    ///
    /// - Parameter erasesLine: whether there may be progress in the line of the cursor.
    static func advise(_ text: String, erasesLine: Bool = false) {
        let erasesLine = erasesLine && Terminal(STDERR_FILENO).canRedraw
        state.withLock { $0.advice = (text, erasesLine) }
        listen()
    }

    private static func listen() {
        source.withLock { source in
            guard source == nil else { return }
            // A signal that arrives before the source is there waits for it.
            var blocked = sigset_t([SIGINT])
            var before = sigset_t()
            pthread_sigmask(SIG_BLOCK, &blocked, &before)
            defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
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
        let (isPostponed, isHandedOver, advice, isJSON) = state.withLock { state in
            state.isPending = true
            return (state.isPostponed, state.isHandedOver, state.advice, state.isJSON)
        }
        if isHandedOver { return StopSignals.note(SIGINT) }
        if isPostponed { return }
        let error = ClientError(
            .interrupted, code: "interrupted", "The command was interrupted.",
            remedy: advice?.text)
        if advice?.erasesLine ?? Terminal(STDERR_FILENO).canRedraw {
            try? Console.write("\r\u{1B}[K", to: STDERR_FILENO)
        }
        Console.complain(advice?.text ?? error.message)
        Console.end(error.exit.rawValue, writing: isJSON ? JSONText.line(error.json) + "\n" : "")
    }

    static var isPending: Bool { state.withLock(\.isPending) }

    /// Runs code that asks `isPending` and then ends with an error by itself.
    static func postponed<Value>(
        _ body: () throws(ClientError) -> Value
    ) throws(ClientError) -> Value {
        state.withLock { $0.isPostponed = true }
        defer { state.withLock { $0.isPostponed = false } }
        return try body()
    }

    /// Gives SIGINT up, to `StopSignals`, whose handler is set already. The source stays: Dispatch may have taken a signal
    /// before, and would lose it with the source.
    static func end() { state.withLock { $0.isHandedOver = true } }
}
