import DarkroomClient
import DarkroomRun
import Foundation
import Glibc
import Synchronization

/// Ends the command if a signal that stops a run arrives before there is a run: while the manifest is read, which takes
/// seconds if it is large, or for ever if it comes from a pipe.
///
/// The signals are blocked and stay pending, so the run finds one that arrives just after the end of this.
final class EarlyStop: Sendable {
    private static let interval: useconds_t = 20_000

    private let hasEnded = Mutex(false)

    /// No other thread may exist yet, unless it blocks these signals.
    ///
    /// - Parameter tell: called before the process ends.
    init(tell: @escaping @Sendable (CInt) -> Void) {
        FolderRun.blockSignals()
        Thread.detachNewThread { [self] in
            while true {
                usleep(Self.interval)
                let isOver = hasEnded.withLock { hasEnded in
                    if !hasEnded, let signal = FolderRun.pendingSignal {
                        tell(signal)
                        Glibc._exit(ClientExit.tryAgain.rawValue)
                    }
                    return hasEnded
                }
                if isOver { return }
            }
        }
    }

    /// From now on, the run handles the signals.
    func end() { hasEnded.withLock { $0 = true } }
}

extension CInt {
    /// The name of a signal that stops a run.
    var signalName: String {
        switch self {
        case SIGINT: "SIGINT"
        case SIGTERM: "SIGTERM"
        case SIGHUP: "SIGHUP"
        case SIGUSR1: "SIGUSR1"
        default: "signal \(self)"
        }
    }
}
