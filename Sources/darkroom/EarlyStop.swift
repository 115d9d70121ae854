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
/// |        | or for ever if it comes from a pipe; a page is made        |                                            |
/// | begun  | the run prepares its folder, or takes the signal: then the | when it was pending for `patience` looks:  |
/// |        | signal is not pending any more                             | Dispatch has no thread that could take it  |
/// | ended  | nothing takes time any more                                | never                                      |
///
/// A run may be killed at any moment, so this end loses nothing either.
final class EarlyStop: Sendable {
    private static let interval: useconds_t = 20_000
    /// Beside a run, which may take hours, it looks less often.
    private static let longInterval: useconds_t = 200_000
    private static let patience = 15

    private enum State { case before, begun, ended }

    private let state = Mutex(State.before)

    /// No other thread may exist yet, unless it blocks these signals.
    ///
    /// - Parameter tell: called before the process ends.
    init(tell: @escaping @Sendable (_ signal: CInt, _ hasBegun: Bool) -> Void) {
        FolderRun.blockSignals()
        Thread.detachNewThread { [self] in
            var looks = 0
            while true {
                usleep(state.withLock { $0 } == .begun ? Self.longInterval : Self.interval)
                let isOver = state.withLock { state in
                    guard state != .ended, let signal = FolderRun.pendingSignal else {
                        looks = 0
                        return state == .ended
                    }
                    looks += 1
                    guard state == .before || looks > Self.patience else { return false }
                    tell(signal, state == .begun)
                    Glibc._exit(ClientExit.tryAgain.rawValue)
                }
                if isOver { return }
            }
        }
    }

    /// From now on, the run handles the signals.
    func begin() { state.withLock { $0 = .begun } }

    func end() { state.withLock { $0 = .ended } }
}

extension CInt {
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
