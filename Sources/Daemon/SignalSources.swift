import DarkroomSpool
import Dispatch
import Glibc

/// Receives the control signals on a queue. Each sets a state and none toggles one, for of many quick
/// signals only some arrive, and two different ones may arrive in either order.
package final class SignalSources {
    private var sources: [any DispatchSourceSignal] = []

    /// Keeps the control signals from every thread that is started later. Must be called before there is a
    /// second thread: a signal that comes before its source is installed would kill the process. In darkroomd they are
    /// blocked before (CDarkroomStart), and here what else would end it is ignored.
    package static func block() {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in ControlSignal.all { sigaddset(&set, signal.number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A write to a closed connection is an error to handle, not an end.
        signal(SIGPIPE, SIG_IGN)
        // And so is one beyond the largest file that is allowed (setrlimit(2)).
        signal(SIGXFSZ, SIG_IGN)
    }

    package init(
        queue: DispatchQueue, handler: @escaping @Sendable (ControlSignal) -> Void
    ) {
        for signal in ControlSignal.all {
            let source = DispatchSource.makeSignalSource(signal: signal.number, queue: queue)
            source.setEventHandler { @Sendable in handler(signal) }
            source.activate()
            sources.append(source)
        }
    }

    deinit { for source in sources { source.cancel() } }
}
