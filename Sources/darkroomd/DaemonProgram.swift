import DarkroomCore
import DarkroomSpool

/// The program darkroomd: its beginning, up to the daemon that runs.
package enum DaemonProgram {
    /// Reads the command line and does what it requests.
    ///
    /// Every later thread inherits the signal mask of the calling thread, which is the first one. The control signals
    /// have been blocked before (CDarkroomEntry).
    package static func start() -> Never {
        let control = ControlSignal.all.map(\.number)
        Inheritance.settle(blocking: control)
        SignalSources.block(control)
        SignalSources.letQuitEnd()
        DarkroomdCommand.start()
    }
}
