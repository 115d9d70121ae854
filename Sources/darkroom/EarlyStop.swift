import DarkroomClient
import DarkroomRun
import Foundation
import Glibc
import Synchronization

/// Ends the command if a signal that stops a run arrives and no run takes it. The signals are blocked, and stay pending
/// until somebody takes them.
///
/// | state  | why                                                        | a pending signal ends the command          |
/// |--------|------------------------------------------------------------|--------------------------------------------|
/// | before | the manifest is read, which takes seconds if it is large,  | at once                                    |
/// |        | or for ever if it comes from a pipe                        |                                            |
/// | begun  | the run prepares its folder, or takes the signal: then the | when it was pending for `patience` looks:  |
/// |        | signal is not pending any more                             | Dispatch has no thread that could take it  |
///
/// A run may be killed at any moment, so this end loses nothing either.
final class EarlyStop: Sendable {
    private static let interval: useconds_t = 20_000
    private static let patience = 150

    private let hasBegun = Mutex(false)

    /// No other thread may exist yet, unless it blocks these signals.
    ///
    /// - Parameter tell: called before the process ends.
    init(tell: @escaping @Sendable (_ signal: CInt, _ hasBegun: Bool) -> Void) {
        FolderRun.blockSignals()
        Thread.detachNewThread { [self] in
            var looks = 0
            while true {
                usleep(Self.interval)
                hasBegun.withLock { hasBegun in
                    guard let signal = FolderRun.pendingSignal else { return looks = 0 }
                    looks += 1
                    guard !hasBegun || looks > Self.patience else { return }
                    tell(signal, hasBegun)
                    Glibc._exit(ClientExit.tryAgain.rawValue)
                }
            }
        }
    }

    /// From now on, the run handles the signals.
    func begin() { hasBegun.withLock { $0 = true } }
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
