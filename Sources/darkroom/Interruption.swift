import DarkroomClient
import Dispatch
import Glibc
import Synchronization

/// Ctrl-C: ends the command, leaves the batches alone, and says how to come back.
///
/// It owns SIGINT from the first advice to `end()`; `StopSignals` owns it while a screen must be cleared first.
enum Interruption {
    private static let advice = Mutex<(text: String, erasesLine: Bool)?>(nil)
    private static let source = Mutex<(any DispatchSourceSignal)?>(nil)

    /// From now on, SIGINT ends the command with this advice.
    ///
    /// - Parameter erasesLine: whether there may be progress in the line of the cursor.
    static func advise(_ text: String, erasesLine: Bool = false) {
        let erasesLine = erasesLine && Terminal(STDERR_FILENO).canRedraw
        advice.withLock { $0 = (text, erasesLine) }
        source.withLock { source in
            guard source == nil else { return }
            signal(SIGINT, SIG_IGN)
            let new = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
            new.setEventHandler {
                if let (text, erasesLine) = advice.withLock({ $0 }) {
                    if erasesLine { try? Console.write("\r\u{1B}[K", to: STDERR_FILENO) }
                    Console.complain(text)
                }
                Glibc._exit(ClientExit.interrupted.rawValue)
            }
            // Dispatch sets its own handler when it registers the source, which must not be after StopSignals has.
            let isRegistered = DispatchSemaphore(value: 0)
            new.setRegistrationHandler { isRegistered.signal() }
            new.activate()
            isRegistered.wait()
            source = new
        }
    }

    /// Gives SIGINT up, to a handler that is set already.
    static func end() {
        source.withLock { source in
            source?.cancel()
            source = nil
        }
    }
}
