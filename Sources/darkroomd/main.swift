import DarkroomDaemon

// Every later thread inherits the signal mask of this thread. The control signals have been blocked before
// (CDarkroomStart).
SignalSources.block()
DarkroomdCommand.start()
