import Dispatch
import Glibc

/// Receives signals on a queue. The handler of each sets a state and does not toggle one: of many quick signals only
/// some arrive, and two different ones may arrive in either order.
package final class SignalSources {
    private var sources: [any DispatchSourceSignal] = []

    /// Blocks these signals in every thread that is started later. It must be called before a second thread exists: a
    /// signal that arrives before its source is installed would kill the process. darkroomd blocks them even earlier
    /// (CDarkroomEntry). This function also ignores signals that would end the process.
    package static func block(_ signals: [CInt]) {
        var set = sigset_t(signals)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A write to a closed connection is an error that the code handles. It must not end the process.
        signal(SIGPIPE, SIG_IGN)
        // The same holds for a write beyond the maximum size of a file (setrlimit(2)).
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Those of the signals that the process does not ignore. Who starts a program with nohup(1), or in the background of
    /// a script, wants it to ignore them.
    package static func heeded(among signals: [CInt]) -> [CInt] {
        signals.filter { signal in
            var action = sigaction()
            guard sigaction(signal, nil, &action) == 0 else { return true }
            return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
                != unsafeBitCast(SIG_IGN, to: Int.self)
        }
    }

    /// Lets SIGQUIT end the process at once, as in any program. Swift's runtime takes the signal for a crash: it prints the
    /// stack of each thread, and the process continues. Who wants the process to ignore it (`heeded`) still gets that.
    package static func letQuitEnd() {
        if !heeded(among: [SIGQUIT]).isEmpty { signal(SIGQUIT, SIG_DFL) }
    }

    package init(
        _ signals: [CInt], queue: DispatchQueue, handler: @escaping @Sendable (CInt) -> Void
    ) {
        for signal in signals {
            let source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
            source.setEventHandler { @Sendable in handler(signal) }
            source.activate()
            sources.append(source)
        }
    }

    deinit { for source in sources { source.cancel() } }
}

extension sigset_t {
    package init(_ signals: [CInt]) {
        self.init()
        sigemptyset(&self)
        for signal in signals { sigaddset(&self, signal) }
    }
}
