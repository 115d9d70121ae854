import DarkroomCore
import Glibc
import Synchronization

// Atomic values may be set in a handler: they need no lock. A handler can refer to nothing but globals.
private let received = Atomic<CInt>(0)
private let number = Atomic<Int>(0)
private let isResized = Atomic<Bool>(false)

/// The signals that end a command which waits, and the one that says that the terminal has another size.
///
/// A signal only sets a flag: the loop that waits ends, clears the screen and says how to come back.
package enum StopSignals {
    /// From now on SIGINT, SIGTERM and SIGHUP set `signal`; SIGHUP does not if the process ignores it.
    package static func begin() {
        // The values are created here, because a handler must not do that.
        received.store(0, ordering: .relaxed)
        number.store(0, ordering: .relaxed)
        isResized.store(false, ordering: .relaxed)
        // nohup(1) lets a command ignore SIGHUP.
        let signals = [SIGINT, SIGTERM] + SignalSources.heeded(among: [SIGHUP])
        for signal in signals { handle(signal) { StopSignals.note($0) } }
        handle(SIGWINCH) { _ in isResized.store(true, ordering: .relaxed) }
        // A mask is inherited, and a program with many threads may have started this one on a thread that blocks them.
        var set = sigset_t(signals)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// A signal has arrived, perhaps at another handler.
    package static func note(_ signal: CInt) {
        received.store(signal, ordering: .relaxed)
        number.add(1, ordering: .relaxed)
    }

    private static func handle(_ signal: CInt, _ handler: @escaping @convention(c) (CInt) -> Void) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        sigemptyset(&action.sa_mask)
        sigaction(signal, &action, nil)
    }

    package static var signal: CInt? {
        let signal = received.load(ordering: .relaxed)
        return signal == 0 ? nil : signal
    }

    static var count: Int { number.load(ordering: .relaxed) }

    static func takeResize() -> Bool { isResized.exchange(false, ordering: .relaxed) }
}
