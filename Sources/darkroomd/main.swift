import DarkroomCore
import DarkroomSpool

// Every later thread inherits the signal mask of this thread. The control signals have been blocked before
// (CDarkroomStart).
let control = ControlSignal.all.map(\.number)
Inheritance.settle(blocking: control)
SignalSources.block(control)
SignalSources.letQuitEnd()
DarkroomdCommand.start()
