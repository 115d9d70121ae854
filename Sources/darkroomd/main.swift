import DarkroomCore
import DarkroomSpool

// Every later thread inherits the signal mask of this thread. The control signals have been blocked before
// (CDarkroomStart).
SignalSources.block(ControlSignal.all.map(\.number))
SignalSources.letQuitEnd()
DarkroomdCommand.start()
