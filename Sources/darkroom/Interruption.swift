import DarkroomClient
import Dispatch
import Glibc
import Synchronization

/// Ctrl-C: ends the command, leaves the batches alone, and says how to come back.
///
/// It owns SIGINT from the first advice to `end()`; `StopSignals` owns it while a screen must be cleared first.
enum Interruption {
    private static let advice = Mutex<String?>(nil)
    private static let source = Mutex<(any DispatchSourceSignal)?>(nil)

    /// From now on, SIGINT ends the command with this advice.
    static func advise(_ text: String) {
        advice.withLock { $0 = text }
        source.withLock { source in
            guard source == nil else { return }
            signal(SIGINT, SIG_IGN)
            let new = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
            new.setEventHandler {
                if let text = advice.withLock({ $0 }) { Console.complain(text) }
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
